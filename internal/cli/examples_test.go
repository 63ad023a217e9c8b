package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// examples are the folders of examples by name.
func examples(t *testing.T) map[string]string {
	t.Helper()
	top, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(top)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			out[e.Name()] = filepath.Join(top, e.Name())
		}
	}
	return out
}

// TestExamples_CommandsRun runs every command that the first lines of an example's files
// name, in a copy of its folder, in a work tree that has the component for kustomize, too.
func TestExamples_CommandsRun(t *testing.T) {
	for name, dir := range examples(t) {
		if name == "shop" {
			continue // make demo runs it, and other tests
		}
		t.Run(name, func(t *testing.T) {
			commands := commandsIn(t, dir)
			if len(commands) == 0 {
				t.Fatal("no file says which command to run")
			}
			for _, args := range commands {
				top := t.TempDir()
				work, component := filepath.Join(top, "examples", name), "plugins/kustomize/component"
				for to, from := range map[string]string{work: dir, filepath.Join(top, component): filepath.Join("../..", component)} {
					if err := os.CopyFS(to, os.DirFS(from)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Mkdir(filepath.Join(top, ".git"), 0o755); err != nil {
					t.Fatal(err)
				}
				t.Chdir(work)
				if code, _, errOut := call(t.Context(), t, "", args...); code != 0 {
					t.Errorf("kubectl kruise %s: exit %d\n%s", strings.Join(args, " "), code, errOut)
				}
			}
		})
	}
}

// commandsIn returns the arguments of the commands that comments hold, indented
// by three spaces.
func commandsIn(t *testing.T, dir string) [][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var out [][]string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			command, ok := strings.CutPrefix(line, "#   kubectl kruise ")
			if command, _, _ = strings.Cut(command, " > "); ok && !seen[command] {
				seen[command] = true
				out = append(out, strings.Fields(command))
			}
		}
	}
	return out
}

// TestExamples_AreListed keeps the index whole.
func TestExamples_AreListed(t *testing.T) {
	index, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range examples(t) {
		if !strings.Contains(string(index), "["+name+"]("+name+")") {
			t.Errorf("examples/README.md does not list %s", name)
		}
	}
}
