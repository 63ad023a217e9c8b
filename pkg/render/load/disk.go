package load

import (
	"errors"
	"fmt"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
)

// disk is the file system of kustomize: it reads below a root, and writes nothing.
type disk struct {
	root *rooted.Root
	// weighed has it refuse what takes much memory once it is parsed.
	weighed bool
	weight  int
	// texts are the first of the files that were read, for the places of faults.
	texts []opened
	bytes int
}

// opened is a file that was read; name is its real path.
type opened struct {
	name string
	body []byte
}

// mostTexts bounds what is kept for the places of faults.
const mostTexts = 16 << 20

// mostWeight is how many values are parsed in this process for one build: about 1 GiB.
const mostWeight = 4_000_000

var errHeavy = fmt.Errorf("%w: it holds more than %d values", errUnfit, mostWeight)

// ReadFile reads a file below the root.
func (d *disk) ReadFile(path string) ([]byte, error) {
	b, err := d.root.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if d.weight += weight(b); d.weighed && d.weight > mostWeight {
		return nil, errHeavy
	}
	if d.bytes += len(b); d.bytes <= mostTexts {
		d.texts = append(d.texts, opened{path, b})
	}
	return b, nil
}

// weight bounds the number of values in a YAML text: each begins or ends with one of
// these characters.
func weight(text []byte) (n int) {
	for _, c := range text {
		switch c {
		case ',', '\n', '\r', ':', '-', '[', '{', '?':
			n++
		}
	}
	return n
}

// CleanedAbs resolves a path, links and all.
func (d *disk) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	at, err := d.root.Locate(path)
	if err != nil {
		return "", "", err
	}
	info, err := d.root.Stat(at)
	if err != nil {
		return "", "", err
	}
	whole := filepath.Join(d.root.Dir(), at)
	if info.IsDir() {
		return filesys.ConfirmedDir(whole), "", nil
	}
	return filesys.ConfirmedDir(filepath.Dir(whole)), filepath.Base(whole), nil
}

// Exists reports whether a path leads to something below the root.
func (d *disk) Exists(path string) bool {
	_, err := d.root.Stat(path)
	return err == nil
}

// IsDir reports whether a path leads to a folder below the root.
func (d *disk) IsDir(path string) bool {
	info, err := d.root.Stat(path)
	return err == nil && info.IsDir()
}

// ReadDir lists a folder below the root.
func (d *disk) ReadDir(path string) ([]string, error) {
	list, err := d.root.ReadDir(path)
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names, err
}

// The rest of the interface is not for builds.

// Create fails.
func (*disk) Create(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// Mkdir fails.
func (*disk) Mkdir(string) error { return errors.ErrUnsupported }

// MkdirAll fails.
func (*disk) MkdirAll(string) error { return errors.ErrUnsupported }

// RemoveAll fails.
func (*disk) RemoveAll(string) error { return errors.ErrUnsupported }

// Open fails.
func (*disk) Open(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// Glob fails.
func (*disk) Glob(string) ([]string, error) { return nil, errors.ErrUnsupported }

// WriteFile fails.
func (*disk) WriteFile(string, []byte) error { return errors.ErrUnsupported }

// Walk fails.
func (*disk) Walk(string, filepath.WalkFunc) error { return errors.ErrUnsupported }

var _ filesys.FileSystem = &disk{}
