package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVersion_IsOfTheLine(t *testing.T) {
	for _, line := range []string{"v1.37", "v1.36"} {
		got, err := Version(line)
		if err != nil || !strings.HasPrefix(got, line+".") {
			t.Errorf("%s is pinned to %q: %v", line, got, err)
		}
	}
	if _, err := Version("v1.0"); err == nil {
		t.Error("v1.0 is no line")
	}
}

func TestFolder_FollowsLineAndVariable(t *testing.T) {
	root := t.TempDir()
	t.Setenv(cacheEnv, root)
	newest, err := folder("v1.37")
	if err != nil {
		t.Fatal(err)
	}
	older, err := folder("v1.36")
	if err != nil {
		t.Fatal(err)
	}
	if newest == older || filepath.Dir(newest) != root {
		t.Errorf("%s and %s", newest, older)
	}
	t.Setenv(lineEnv, "v1.36")
	if Line() != "v1.36" {
		t.Error("the variable does not choose the line")
	}
}

// TestBuild_SkipsWhatIsThere: what is there is not built again, and no lock is taken.
func TestBuild_SkipsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	u := units(Control, "v1.37")[0]
	for _, b := range u.binaries {
		if err := os.WriteFile(filepath.Join(dir, b.name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	if err := u.ensure(t.Context(), dir, &said); err != nil || said.Len() > 0 {
		t.Errorf("%v %s", err, &said)
	}
}

func TestLock_IsForOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var said bytes.Buffer
	unlock, err := lock(t.Context(), path, &said)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	waiting := &signal{said: make(chan struct{})}
	go func() {
		second, err := lock(t.Context(), path, waiting)
		if err == nil {
			second()
		}
		got <- err
	}()
	<-waiting.said
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// signal is a writer that tells of the first word.
type signal struct{ said chan struct{} }

func (s *signal) Write(p []byte) (int, error) {
	close(s.said)
	return len(p), nil
}

func TestOutputNames_AreUnique(t *testing.T) {
	for _, set := range []Set{Control, Node} {
		for _, u := range units(set, "v1.37") {
			for _, b := range u.binaries {
				if b.name == "etcd" && b.output() != "server" || b.name != "etcd" && b.output() != b.name {
					t.Errorf("%s is built as %s", b.name, b.output())
				}
			}
		}
	}
}

func TestProgress_ShowsWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		packages, todo int
		after          time.Duration
		want           string
	}{
		{0, 2478, 10 * time.Second, "     10s  0 of 2478 packages compiled"},
		{1000, 2500, 2 * time.Minute, "    2m0s  1000 of 2500 packages compiled, about 3m0s left"},
		{2478, 2478, 7*time.Minute + 400*time.Millisecond, "    7m0s  all 2478 packages compiled, linking"},
		{3, 0, time.Second, "      1s  3 packages compiled"},
	} {
		if got := far(c.packages, c.todo, c.after); got != c.want {
			t.Errorf("far(%d, %d, %s) is %q, want %q", c.packages, c.todo, c.after, got, c.want)
		}
	}
}
