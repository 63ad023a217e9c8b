// Command archive packs each folder of a directory into a zip file of its own.
// Names are sorted and times left out, so equal input gives equal bytes.
package main

import (
	"archive/zip"
	"compress/flate"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: archive FROM-DIRECTORY TO-DIRECTORY")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(from, to string) error {
	areas, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // a folder of the project, as readable as the rest
		return err
	}
	out, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	for _, a := range areas {
		if !a.IsDir() {
			continue
		}
		if err := pack(os.DirFS(filepath.Join(from, a.Name())), out, a.Name()+".zip"); err != nil {
			return err
		}
	}
	return nil
}

func pack(from fs.FS, out *os.Root, name string) error {
	f, err := out.Create(name)
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	err = fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(w, from, path)
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

func add(w *zip.Writer, from fs.FS, path string) error {
	b, err := fs.ReadFile(from, path)
	if err != nil {
		return err
	}
	out, err := w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}
