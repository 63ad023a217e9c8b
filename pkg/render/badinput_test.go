package render_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

var updateBadInput = flag.Bool("update-badinput", false, "write the answers to bad input again")

// TestBadInput_IsReportedWithItsPlace loads and renders each file of testdata/badinput. Every fault
// is one line with file, line, field and hint, exactly as recorded beside the
// file; nothing panics.
func TestBadInput_IsReportedWithItsPlace(t *testing.T) {
	const least = 40
	paths, err := filepath.Glob(filepath.Join("testdata", "badinput", "*.yaml"))
	if err != nil || len(paths) < least {
		t.Fatalf("%d files of bad input, want %d at least (%v)", len(paths), least, err)
	}
	for i := range paths {
		if paths[i], err = filepath.Abs(paths[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range paths {
		dir, name := filepath.Split(path)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			t.Chdir(dir)
			got := complaint(t, name)
			record := strings.TrimSuffix(name, ".yaml") + ".txt"
			if *updateBadInput {
				if err := os.WriteFile(record, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// complaint returns the faults of a file, each on a line of its own, with the
// hint on the next.
func complaint(t *testing.T, file string) []byte {
	t.Helper()
	in, err := load.Load(t.Context(), load.Options{Files: []string{file}, Namespace: resource.DefaultNamespace})
	if err == nil {
		_, err = render.Render(t.Context(), in, render.Options{})
	}
	if err == nil {
		t.Fatal("bad input is accepted")
	}
	var faults resource.Errors
	faults.Add(err)
	var b bytes.Buffer
	for _, f := range faults {
		var e *resource.Error
		if !errors.As(f, &e) || e.File != file {
			t.Errorf("the fault does not name the file: %v", f)
			continue
		}
		if strings.ContainsAny(f.Error()+e.Hint, "\n\r") {
			t.Errorf("the fault is longer than a line: %q", f)
		}
		b.WriteString(f.Error() + "\n")
		if e.Hint != "" {
			b.WriteString("hint: " + e.Hint + "\n")
		}
	}
	return b.Bytes()
}
