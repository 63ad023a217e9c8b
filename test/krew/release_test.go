package krew

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// tool is a program of krew that make has built.
func tool(t *testing.T, name string) string {
	t.Helper()
	path := checkout.Path("bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: make builds it (make test-ecosystem)", err)
	}
	return path
}

var packed = sync.OnceValues(func() ([]byte, error) {
	binary, err := product.Binary()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, file := range []string{
		binary, checkout.Path("LICENSE"), checkout.Path("THIRD-PARTY-LICENSES"), checkout.Path("plugins", "completion", "kubectl_complete-kruise"),
	} {
		if err := add(w, file); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
})

// pack is an archive with what releases hold: the program and its licence.
func pack(t *testing.T) []byte {
	t.Helper()
	b, err := packed()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func add(w *tar.Writer, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: filepath.Base(file), Mode: 0o755, Size: int64(len(b))}); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func write(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
