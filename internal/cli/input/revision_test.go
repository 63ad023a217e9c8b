package input

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

// testRepository makes a repository with one commit of the files, and returns its top.
func testRepository(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no program git here")
	}
	top := t.TempDir()
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("HOME", top)
	runGit(t, top, "init", "-q", "-b", "main")
	runGit(t, top, "config", "user.name", "A Tester")
	runGit(t, top, "config", "user.email", "tester@example.com")
	for name, content := range files {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		target, link := strings.CutPrefix(content, "-> ")
		var err error
		if link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	runGit(t, top, "add", "-A", "-f")
	runGit(t, top, "commit", "-q", "-m", "one")
	return top
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := execGit(t.Context(), dir, nil, args...)
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func openRepo(t *testing.T, path string) (*Repo, string) {
	t.Helper()
	repo, within, err := OpenRepo(t.Context(), execGit, path)
	if err != nil {
		t.Fatal(err)
	}
	return repo, within
}

// exportCommit returns all that a commit gives, by path.
func exportCommit(t *testing.T, repo *Repo, commit, within string) map[string]string {
	t.Helper()
	into := t.TempDir()
	if err := repo.Export(t.Context(), commit, within, into); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	err := filepath.WalkDir(into, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(into, path)
		if target, err := os.Readlink(path); err == nil {
			out[name] = "-> " + target
			return nil
		}
		data, err := os.ReadFile(path)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExport: files come as they were committed, whatever a repository configures
// for a checkout; links stay inside.
func TestExport(t *testing.T) {
	top := testRepository(t, map[string]string{
		"a/x.yaml": "x: 1\n", "a/b/with space.yaml": "\x00binary\n", "a/ü.yaml": "", "z.yaml": "z",
		".gitattributes": "*.yaml export-ignore text eol=crlf\n",
		"a/inside.yaml":  "-> x.yaml", "a/outside.yaml": "-> ../../etc/passwd", "a/absolute.yaml": "-> /etc/passwd",
	})
	runGit(t, top, "config", "core.quotePath", "true")
	repo, within := openRepo(t, filepath.Join(top, "a"))
	if within != "a" {
		t.Errorf("within %q", within)
	}
	got := exportCommit(t, repo, "HEAD", within)
	want := map[string]string{"a/x.yaml": "x: 1\n", "a/b/with space.yaml": "\x00binary\n", "a/ü.yaml": "", "a/inside.yaml": "-> x.yaml"}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s is %q, want %q", name, got[name], content)
		}
	}
	if len(got) != len(want) {
		t.Errorf("exported %q", got)
	}
	if all := exportCommit(t, repo, "HEAD", "."); all["z.yaml"] != "z" || len(all) != len(want)+2 {
		t.Errorf("exported %q", all)
	}
	for path, want := range map[string]bool{"a": true, "a/x.yaml": true, "a/*.yaml": false, "b": false, ".": true} {
		if has, err := repo.Has(t.Context(), "HEAD", path); err != nil || has != want {
			t.Errorf("%s: %v, %v", path, has, err)
		}
	}
}

func TestResolve(t *testing.T) {
	top := testRepository(t, map[string]string{"a": "1"})
	one := runGit(t, top, "rev-parse", "HEAD")
	runGit(t, top, "commit", "-q", "--allow-empty", "-m", "two")
	two := runGit(t, top, "rev-parse", "HEAD")
	runGit(t, top, "checkout", "-q", "-b", "side", one)
	runGit(t, top, "commit", "-q", "--allow-empty", "-m", "three")
	three := runGit(t, top, "rev-parse", "HEAD")
	repo, _ := openRepo(t, top)
	for text, want := range map[string]CommitRange{
		"main~1..main": {From: one, To: two, Old: "main~1", New: "main"},
		"main..":       {From: two, To: three, Old: "main", New: "HEAD"},
		"..main":       {From: three, To: two, Old: "HEAD", New: "main"},
		"main...side":  {From: one, To: three, Old: one[:12], New: "side"},
		"main":         {From: two, Old: "main", New: "working tree"},
		one:            {From: one, Old: one, New: "working tree"},
	} {
		if got, err := repo.Resolve(t.Context(), text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	runGit(t, top, "checkout", "-q", "--orphan", "alone")
	runGit(t, top, "commit", "-q", "--allow-empty", "-m", "four")
	for _, text := range []string{"", "a..b..c", "nowhere", "main..nowhere", "--help", "main....side", "main...alone", "main:a"} {
		var bad *command.UsageError
		if got, err := repo.Resolve(t.Context(), text); !errors.As(err, &bad) || bad.Hint == "" {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestOpen_FindsTheRepositoryOfAnyPath: also a path that is gone belongs to its repository, and one through a
// link does.
func TestOpen_FindsTheRepositoryOfAnyPath(t *testing.T) {
	top := testRepository(t, map[string]string{"a/b.yaml": "1"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(top, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(top, "a", "b.yaml"): "a/b.yaml", filepath.Join(top, "gone", "c.yaml"): "gone/c.yaml", top: ".",
		filepath.Join(link, "a"): "a",
	} {
		if _, within := openRepo(t, path); within != want {
			t.Errorf("%s is %q, want %q", path, within, want)
		}
	}
	if _, _, err := OpenRepo(t.Context(), execGit, t.TempDir()); err == nil {
		t.Error("a folder outside of any repository was opened")
	}
}

// TestGit_UnexpectedAnswersAreErrors: what git does not say as expected is an error, never a panic.
func TestGit_UnexpectedAnswersAreErrors(t *testing.T) {
	tree := "100644 blob abc       3\ta/x.yaml\x00160000 commit def       -\ta/sub\x00"
	for name, c := range map[string]struct{ tree, batch string }{
		"no such object":      {tree, "abc missing\n"},
		"cut short":           {tree, "abc blob 300\nxyz"},
		"no size":             {tree, "abc blob x\nxyz\n"},
		"nothing":             {tree, ""},
		"a tree of nonsense":  {"nonsense\x00", ""},
		"a path that escapes": {"100644 blob abc       3\t../x.yaml\x00", "abc blob 3\nxyz\n"},
		"an absolute path":    {"100644 blob abc       3\t/x.yaml\x00", "abc blob 3\nxyz\n"},
	} {
		repo := &Repo{git: func(_ context.Context, _ string, _ io.Reader, args ...string) ([]byte, error) {
			if slices.Contains(args, "ls-tree") {
				return []byte(c.tree), nil
			}
			return []byte(c.batch), nil
		}}
		if err := repo.Export(t.Context(), "HEAD", "a", t.TempDir()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := execGit(done, t.TempDir(), nil, "version"); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	t.Setenv("PATH", "")
	if _, err := execGit(t.Context(), t.TempDir(), nil, "version"); err == nil || err.Error() != "there is no program git" {
		t.Errorf("without git: %v", err)
	}
}
