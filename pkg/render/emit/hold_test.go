//go:build unix || windows

package emit

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// sameObjects are a hundred objects with one value, so that a mixture shows.
func sameObjects(value string) []*resource.Resource {
	var rs []*resource.Resource
	for i := range 100 {
		n := tree.Map("apiVersion", "v1", "kind", "ConfigMap", "metadata", tree.Map("name", fmt.Sprintf("c%d", i)), "data", tree.Map("v", value))
		rs = append(rs, resource.Parsed(n, nil, resource.Origin{Seq: i}))
	}
	return rs
}

// Writers into one directory at a time: each is refused or leaves all its files.
func TestDir_IsHeldByOneWriterAtATime(t *testing.T) {
	dir := t.TempDir()
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = Dir(t.Context(), dir, sameObjects(fmt.Sprintf("v%d", i)), DirOptions{}) })
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		switch {
		case err == nil:
			done++
		case !errors.Is(err, errHeld):
			t.Error(err)
		}
	}
	if done == 0 {
		t.Fatal("every writer was refused")
	}
	if values := valuesIn(t, dir); len(values) != 1 {
		t.Errorf("a mixture of %v", values)
	}
}

func TestDir_IsRefusedWhileHeld(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	release, err := lockDirectory(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Dir(t.Context(), dir, sameObjects("a"), DirOptions{}); !errors.Is(err, errHeld) {
		t.Errorf("%v, want %v", err, errHeld)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d files were written", len(left))
	}
	release()
	_ = f.Close()
	if _, err := Dir(t.Context(), dir, sameObjects("a"), DirOptions{}); err != nil {
		t.Error(err)
	}
}

// valuesIn are the different lines with data in the files of a directory.
func valuesIn(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			continue
		}
		b, err := os.ReadFile(dir + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		_, data, _ := strings.Cut(string(b), " v: ")
		out[data]++
	}
	return out
}
