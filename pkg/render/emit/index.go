package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// indexFile records in an output directory what the last render wrote there. Its ending is
// none of those by which kubectl apply -f DIRECTORY and Argo CD take a file for a manifest;
// that of olderIndex is, which earlier versions wrote.
const (
	indexFile  = ".kubectl-kruise.index"
	olderIndex = ".kubectl-kruise.json"
)

// index maps the name of each file that we wrote, with slashes, to the digest of what we
// wrote: what differs has been edited since.
type index struct {
	Files map[string]string `json:"files"`
}

var errIndex = errors.New("is no record of a previous render")

// readIndex returns what was written last, nothing where there is no record. Errors name
// the file.
func readIndex(root *os.Root, dir string) (index, error) {
	var x index
	for _, name := range []string{indexFile, olderIndex} {
		b, err := root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			x, err = parseIndex(b)
		}
		if err != nil {
			return x, place(filepath.Join(dir, name), err)
		}
		break
	}
	return x, nil
}

func parseIndex(b []byte) (index, error) {
	var x index
	if json.Unmarshal(b, &x) != nil {
		return x, errIndex
	}
	for name := range x.Files {
		if name == "." || name != path.Clean(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			return x, errIndex
		}
	}
	return x, nil
}

func (x index) bytes() []byte {
	// Maps of strings always marshal, in the order of their keys.
	b, _ := json.MarshalIndent(x, "", "  ")
	return append(b, '\n')
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
