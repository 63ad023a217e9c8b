package emit

import (
	"bytes"
	"errors"
	"os"
	"regexp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// DirOptions say how Dir writes.
type DirOptions struct {
	// Format is YAML when empty.
	Format Format
	// Kustomization adds a kustomization.yaml that lists the files in order.
	Kustomization bool
	// Folders, when set, are the folders below the directory for each resource, with
	// slashes, "" for the directory itself.
	Folders []string
	// Kept, when set, is called with the path of every stale file of a previous
	// render that stays because it was edited since.
	Kept func(path string)
	// Stop, when set, is asked before the first file appears; with its error none does.
	Stop func() error
}

// Dir writes one file per resource into the directory path, which is made when
// missing, and removes the files that a previous Dir wrote there and this one
// does not, unless they were edited since. Files that Dir did not write are
// never replaced nor removed. Symlinks are not followed out of the directory
// and not written through. Every file is complete at any time; on a fault that
// can be foreseen nothing at all is written.
func Dir(path string, rs []*resource.Resource, opt DirOptions) error {
	files, err := filesOf(rs, opt)
	if err != nil {
		return err
	}
	return writeDir(path, files, opt)
}

func writeDir(path string, files []outFile, opt DirOptions) error {
	if opt.Stop != nil {
		if err := opt.Stop(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // manifests are for others to read
		return place(path, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return place(path, err)
	}
	defer root.Close() //nolint:errcheck // nothing is pending in it
	dir, err := root.Open(".")
	if err != nil {
		return place(path, err)
	}
	defer dir.Close() //nolint:errcheck // it is only held
	release, err := hold(dir)
	if err != nil {
		return &resource.Error{File: path, Err: err, Hint: "wait until it is done, or write into another directory"}
	}
	defer release()
	old, err := readIndex(root, path)
	if err != nil {
		return err
	}
	return (&update{path: path, root: root, old: old, files: files, kept: opt.Kept, stop: opt.Stop}).run()
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
func encode(rs []*resource.Resource, format Format) (docs [][]byte, ending string, err error) {
	if format == JSON {
		docs, err = encodeJSON(rs, 0)
		for i := range docs {
			docs[i] = append(docs[i], '\n')
		}
		return docs, ".json", err
	}
	docs, err = encodeYAML(rs)
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
