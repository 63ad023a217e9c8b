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

// indexFile records in an output directory what the last render wrote there.
const indexFile = ".kubectl-kruise.json"

// index maps the name of each file that we wrote, with slashes, to the digest of what we
// wrote: what differs has been edited since.
type index struct {
	Files map[string]string `json:"files"`
}

var errIndex = errors.New("is no record of a previous render")

func readIndex(root *os.Root) (index, error) {
	var x index
	b, err := root.ReadFile(indexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
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
