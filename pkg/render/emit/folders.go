package emit

import "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"

// Document is a file to be written below a directory; Name has slashes.
type Document struct {
	Name string
	Body []byte
}

// Folders writes files into the directory path and folders below it, as [Dir] does:
// what an earlier run wrote there and this one does not is removed, unless it was
// edited since; kept, when set, is told then. Folders that become empty go too.
func Folders(path string, docs []Document, kept func(path string)) error {
	files := make([]outFile, len(docs))
	for i, d := range docs {
		files[i] = outFile{d.Name, d.Body, 0o644}
	}
	return writeDir(path, files, DirOptions{Kept: kept})
}

// Names returns a file name for each resource, without an ending: unique among
// them, and the same whatever stands beside it where that leaves it unique.
func Names(rs []*resource.Resource) []string { return fileNames(rs, "") }
