package emit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// DirOptions define how Dir writes.
type DirOptions struct {
	// Format is YAML when empty.
	Format Format
	// Kustomization adds a kustomization.yaml that lists the files in order.
	Kustomization bool
	// Folders, when set, are the folders below the directory for each resource, with
	// slashes, "" for the directory itself.
	Folders []string
	// Limits bound how much all files hold together.
	Limits stage.Limits
}

// Dir writes one file per resource into the directory path, which is made when
// missing, and removes the files that a previous Dir wrote there and this one
// does not, unless they were edited since. Files that Dir did not write are
// never replaced nor removed. Symlinks are not followed out of the directory
// and not written through. Every file is complete at any time; on a fault that
// can be foreseen, or when ctx ends before the first file appears, nothing at all is
// written. It returns the paths of stale files that stay because they were edited.
func Dir(ctx context.Context, path string, rs []*resource.Resource, opt DirOptions) (kept []string, err error) {
	files, err := filesOf(rs, opt)
	if err != nil {
		return nil, err
	}
	return writeDir(ctx, path, files, opt.Limits)
}

func writeDir(ctx context.Context, path string, files []outFile, limits stage.Limits) (kept []string, err error) {
	left := newRoom(limits)
	for _, f := range files {
		left.Take(tree.Weight{Bytes: int64(len(f.body))})
	}
	if err := left.fault(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // manifests are for others to read
		return nil, place(path, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, place(path, err)
	}
	defer root.Close() //nolint:errcheck // nothing is pending in it
	dir, err := root.Open(".")
	if err != nil {
		return nil, place(path, err)
	}
	defer dir.Close() //nolint:errcheck // it is only held
	release, err := lockDirectory(dir)
	if err != nil {
		return nil, &resource.Error{File: path, Err: err, Hint: "wait until it is done, or write into another directory"}
	}
	defer release()
	old, err := readIndex(root, path)
	if err != nil {
		return nil, err
	}
	u := &update{path: path, root: root, old: old, files: files}
	err = u.run(ctx)
	return u.kept, err
}

// errHeld is why two writers do not write into one directory at a time: what they leave
// would be a mixture.
var errHeld = errors.New("another process is writing into this directory")

// outFile is one file to be in the directory.
type outFile struct {
	name string
	body []byte
	mode os.FileMode
}

// mode keeps Secrets from other accounts of the machine.
func mode(r *resource.Resource) os.FileMode {
	if r.Is("", "Secret") {
		return 0o600
	}
	return 0o644
}

// encode returns the body of the file for each resource, and empties rs.
func encode(rs []*resource.Resource, format Format, limits stage.Limits) (docs [][]byte, ending string, err error) {
	if format == JSON {
		docs, err = encodeJSON(rs, limits, 0)
		for i := range docs {
			docs[i] = append(docs[i], '\n')
		}
		return docs, ".json", err
	}
	docs, err = encodeYAML(rs, limits)
	for i := range docs {
		docs[i] = bytes.TrimPrefix(docs[i], marker.Find(docs[i]))
	}
	return docs, ".yaml", err
}

// marker is a bare separator in front of a document, of no use in a file of
// its own.
var marker = regexp.MustCompile(`^---[ \t]*\r?\n`)

// kustomization lists the files and asks to keep their order.
func kustomization(names []string) []byte {
	var b bytes.Buffer
	b.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nsortOptions:\n  order: fifo\nresources:")
	if len(names) == 0 {
		b.WriteString(" []")
	}
	b.WriteByte('\n')
	for _, n := range names {
		b.WriteString("- " + n + "\n")
	}
	return b.Bytes()
}

// Document is a file to be written below a directory; Name has slashes.
type Document struct {
	Name string
	Body []byte
}

// Folders writes files into the directory path and folders below it, as [Dir] does:
// what an earlier run wrote there and this one does not is removed, unless it was
// edited since. Folders that become empty are removed, too.
func Folders(ctx context.Context, path string, docs []Document, limits stage.Limits) (kept []string, err error) {
	files := make([]outFile, len(docs))
	for i, d := range docs {
		files[i] = outFile{d.Name, d.Body, 0o644}
	}
	return writeDir(ctx, path, files, limits)
}

// Names returns a file name for each resource, without an ending: unique among
// them, and independent of the others where that leaves it unique.
func Names(rs []*resource.Resource) []string { return fileNames(rs, "") }

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
	docs, ending, err := encode(slices.Clone(rs), opt.Format, opt.Limits)
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

// maxName leaves room for a hash, an ending and the addition to the name of a
// temporary file below the 255 bytes that file systems allow.
const maxName = 180

// fileNames returns one file name per resource,
// <namespace>_<kind>_<name><ending>, unique even where case does not count.
// A name does not depend on other resources unless two would be the same:
// then all of those have a hash of the whole ID, so their order is of no
// matter.
func fileNames(rs []*resource.Resource, ending string) []string {
	names := make([]string, len(rs))
	count := map[string]int{}
	for i, r := range rs {
		names[i] = fileName(r)
		count[names[i]]++
	}
	seen := map[string]int{}
	for i, r := range rs {
		if count[names[i]] > 1 {
			names[i] += "-" + hash(r)
		}
		seen[names[i]]++
		if n := seen[names[i]]; n > 1 {
			names[i] += "-" + strconv.Itoa(n)
		}
		names[i] += ending
	}
	return names
}

func fileName(r *resource.Resource) string {
	name := safe(strings.ToLower(r.Kind())) + "_"
	altered := false
	if ns := r.Namespace(); ns != "" {
		name, altered = safe(ns)+"_"+name, safe(ns) != ns
	}
	last := r.Name()
	if last == "" {
		last = "generated"
	}
	name += safe(last)
	altered = altered || safe(last) != last
	if len(name) > maxName {
		name, altered = name[:maxName], true
	}
	if altered {
		name += "-" + hash(r)
	}
	return name
}

// safe keeps what DNS names are made of. The underscore is not in it: it
// separates the parts.
func safe(part string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, part)
}

func hash(r *resource.Resource) string {
	id := r.ID()
	sum := sha256.Sum256([]byte(strings.Join([]string{id.Group, id.Kind, id.Namespace, id.Name}, "\x00")))
	return hex.EncodeToString(sum[:4])
}
