package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The folders of a directory that is split by subset. No subset can be called like one of
// them: subsets have a folder below SubsetsFolder.
const (
	SharedFolder  = "shared"
	subsetsFolder = "subsets"
)

// SubsetFolders returns for each name of a subset the folder of its objects, with slashes,
// and SharedFolder for "". A name that cannot be a folder everywhere, or that another one
// would be confused with where case does not count, is made one, with a hash of the name.
func SubsetFolders(subsets []string) []string {
	out := make([]string, len(subsets))
	for i, name := range subsets {
		out[i] = SharedFolder
		if name != "" {
			out[i] = path.Join(subsetsFolder, folderName(name))
		}
	}
	return out
}

// device are names that Windows keeps for devices, whatever follows a dot.
var device = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)

// plain are names that begin and end with a letter or digit.
var plain = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`)

func folderName(subset string) string {
	name := safe(subset)
	altered := name != subset || !plain.MatchString(name) || device.MatchString(name)
	if len(name) > maxName {
		name, altered = name[:maxName], true
	}
	if altered {
		sum := sha256.Sum256([]byte(subset))
		// A device keeps its meaning before a dot, and a leading dot hides a folder.
		name = "subset-" + name + "-" + hex.EncodeToString(sum[:4])
	}
	return name
}

// folders are the resources of each folder, in the order of rs.
func (o DirOptions) folders(rs []*resource.Resource) map[string][]int {
	in := map[string][]int{}
	for i := range rs {
		folder := ""
		if o.Folders != nil {
			folder = o.Folders[i]
		}
		in[folder] = append(in[folder], i)
	}
	if len(in) == 0 {
		in[""] = nil // an empty directory has a kustomization, too
	}
	return in
}

// filesOf are the files of all folders, each with a kustomization where that is asked for;
// the one of the directory itself then lists the folders.
func filesOf(rs []*resource.Resource, opt DirOptions) ([]outFile, error) {
	docs, ending, err := encode(slices.Clone(rs), opt.Format)
	if err != nil {
		return nil, err
	}
	files := make([]outFile, 0, len(rs)+1)
	in := opt.folders(rs)
	var below []string
	for _, folder := range slices.Sorted(maps.Keys(in)) {
		indexes := in[folder]
		part := make([]*resource.Resource, len(indexes))
		for i, index := range indexes {
			part[i] = rs[index]
		}
		names := fileNames(part, ending)
		for i, r := range part {
			files = append(files, outFile{path.Join(folder, names[i]), docs[indexes[i]], mode(r)})
		}
		if opt.Kustomization {
			files = append(files, outFile{path.Join(folder, "kustomization.yaml"), kustomization(names), 0o644})
		}
		if folder != "" {
			below = append(below, folder)
		}
	}
	if opt.Kustomization && len(below) > 0 {
		files = append(files, outFile{"kustomization.yaml", kustomization(below), 0o644})
	}
	return files, nil
}
