package checkout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// workflow is what of a workflow can be wrong unnoticed.
type workflow struct {
	On          any               `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []struct {
			Uses string `yaml:"uses"`
			Run  string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

var (
	makes  = regexp.MustCompile(`\bmake ([a-z -]+)`)
	pinned = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}$`)
)

// TestWorkflows_AreSafeAndCallWhatExists: the project's own workflows call targets and scripts that there are,
// pin actions by commit, and may write nothing unless a job says so.
func TestWorkflows_AreSafeAndCallWhatExists(t *testing.T) {
	makefile, err := os.ReadFile(Path("Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(Path(".github", "workflows", "*.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	targets := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if w.On == nil || len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: runs on %v with %v, want permissions: contents: read", file, w.On, w.Permissions)
		}
		for name, job := range w.Jobs {
			for _, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") || job.RunsOn == "" {
					t.Errorf("%s: %s: a step neither runs nor uses: %+v", file, name, step)
				}
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s: %s is not pinned by commit", file, name, step.Uses)
				}
				targets += called(t, string(makefile), file+": "+name, step.Run)
			}
		}
	}
	if targets < 5 {
		t.Errorf("only %d targets were looked for", targets)
	}
}

// called looks for the targets and scripts of a step, and counts them.
func called(t *testing.T, makefile, where, run string) (n int) {
	t.Helper()
	for _, m := range makes.FindAllStringSubmatch(run, -1) {
		for target := range strings.FieldsSeq(m[1]) {
			n++
			if !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("%s: make has no target %s", where, target)
			}
		}
	}
	if strings.HasPrefix(run, ".") {
		n++
		script, _, _ := strings.Cut(run, " ")
		if info, err := os.Stat(Path(script)); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s: %s cannot be run: %v", where, script, err)
		}
	}
	return n
}
