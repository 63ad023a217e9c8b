package ci

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

// action is the metadata of a composite action, with the keys that its host reads.
// Source: https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax
type action struct {
	Name        string `json:"name"`
	Author      string `json:"author"`
	Description string `json:"description"`
	Inputs      map[string]struct {
		Description        string `json:"description"`
		Required           bool   `json:"required"`
		Default            string `json:"default"`
		DeprecationMessage string `json:"deprecationMessage"`
	} `json:"inputs"`
	Outputs map[string]struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"outputs"`
	Runs struct {
		Using string       `json:"using"`
		Steps []actionStep `json:"steps"`
	} `json:"runs"`
	Branding struct {
		Icon  string `json:"icon"`
		Color string `json:"color"`
	} `json:"branding"`
}

type actionStep struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	If               string            `json:"if"`
	Uses             string            `json:"uses"`
	With             map[string]string `json:"with"`
	Run              string            `json:"run"`
	Shell            string            `json:"shell"`
	Env              map[string]string `json:"env"`
	WorkingDirectory string            `json:"working-directory"`
	ContinueOnError  bool              `json:"continue-on-error"`
}

// expression is what GitHub puts into the text of a step.
var expression = regexp.MustCompile(`\$\{\{\s*(inputs|steps)\.([a-z]+)`)

// TestAction_StepsAreSafe: action.yml has the host's keys alone; each step runs a script in a named shell
// or another action; what it reads is there, and no input becomes part of a script.
func TestAction_StepsAreSafe(t *testing.T) {
	var a action
	if err := yaml.UnmarshalStrict(read(t, "action.yml"), &a); err != nil {
		t.Fatal(err)
	}
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Runs.Steps) < 3 {
		t.Errorf("%+v", a)
	}
	if !slices.Contains([]string{"white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"}, a.Branding.Color) {
		t.Errorf("branding.color %q", a.Branding.Color)
	}
	ids := map[string]bool{}
	for i, step := range a.Runs.Steps {
		if (step.Run == "") == (step.Uses == "") || (step.Run != "") != (step.Shell != "") {
			t.Errorf("step %d has to have uses, or run and shell", i)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %d: an expression is part of the script, which the one who sets it can write", i)
		}
		text, err := yaml.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range expression.FindAllStringSubmatch(string(text), -1) {
			if _, input := a.Inputs[m[2]]; m[1] == "inputs" && !input || m[1] == "steps" && !ids[m[2]] {
				t.Errorf("step %d reads %s.%s, which is not there", i, m[1], m[2])
			}
		}
		ids[step.ID] = true
	}
	last := a.Runs.Steps[len(a.Runs.Steps)-1].Run
	if _, err := os.Stat(checkout.Path("plugins", "ci", "install.sh")); err != nil || !strings.Contains(last, `"$ACTION/plugins/ci/install.sh" "$VERSION" "$FOLDER" "$DOWNLOADS"`) {
		t.Errorf("%v: the last step does not run plugins/ci/install.sh:\n%s", err, last)
	}
}

// component is the header of a GitLab component, and job what is read of its jobs.
// Sources: https://docs.gitlab.com/ci/inputs/ and https://docs.gitlab.com/ci/yaml/
type component struct {
	Spec struct {
		Inputs map[string]struct {
			Default     *string  `json:"default"`
			Description string   `json:"description"`
			Options     []string `json:"options"`
			Regex       string   `json:"regex"`
			Type        string   `json:"type"`
		} `json:"inputs"`
	} `json:"spec"`
}

type gitlabJob struct {
	Image     string         `json:"image"`
	Stage     string         `json:"stage"`
	Extends   string         `json:"extends"`
	Variables map[string]any `json:"variables"`
	Rules     []struct {
		If string `json:"if"`
	} `json:"rules"`
	BeforeScript []string          `json:"before_script"`
	Script       []string          `json:"script"`
	Artifacts    map[string]any    `json:"artifacts"`
	Needs        []string          `json:"needs"`
	Tags         []string          `json:"tags"`
	Services     []string          `json:"services"`
	Secrets      map[string]string `json:"secrets"`
}

var interpolated = regexp.MustCompile(`\$\[\[\s*inputs\.([a-z_]+)\s*\]\]`)

// TestComponent_InputsAreUsed: the component has a header with inputs and jobs with the host's keys; every
// input is used, every one that is used is declared and has a default.
func TestComponent_InputsAreUsed(t *testing.T) {
	text := read(t, "plugins", "ci", "gitlab.yaml")
	head, body, ok := bytes.Cut(text, []byte("\n---\n"))
	var c component
	if err := yaml.UnmarshalStrict(head, &c); err != nil || !ok || len(c.Spec.Inputs) < 3 {
		t.Fatalf("%v %+v", err, c)
	}
	var jobs map[string]gitlabJob
	if err := yaml.UnmarshalStrict(body, &jobs); err != nil {
		t.Fatal(err)
	}
	for name, job := range jobs {
		if job.Script == nil != strings.HasPrefix(name, ".") {
			t.Errorf("%s: a job has a script, a template of jobs has none", name)
		}
		if _, there := jobs[job.Extends]; job.Extends != "" && !there {
			t.Errorf("%s extends %s, which is not there", name, job.Extends)
		}
		for _, line := range job.Script {
			if interpolated.MatchString(line) {
				t.Errorf("%s: an input is part of the script: %s", name, line)
			}
		}
	}
	used := map[string]bool{}
	for _, m := range interpolated.FindAllSubmatch(body, -1) {
		used[string(m[1])] = true
	}
	for name, input := range c.Spec.Inputs {
		if !used[name] || input.Default == nil || input.Description == "" {
			t.Errorf("input %s: used %v, %+v", name, used[name], input)
		}
		delete(used, name)
	}
	if len(used) > 0 {
		t.Errorf("inputs that are not declared: %v", used)
	}
}

// hook is one of .pre-commit-hooks.yaml. Source: https://pre-commit.com/#creating-new-hooks
type hook struct {
	ID                      string   `json:"id"`
	Name                    string   `json:"name"`
	Description             string   `json:"description"`
	Entry                   string   `json:"entry"`
	Language                string   `json:"language"`
	Args                    []string `json:"args"`
	Types                   []string `json:"types"`
	PassFilenames           *bool    `json:"pass_filenames"`
	MinimumPreCommitVersion string   `json:"minimum_pre_commit_version"`
}

// TestHooks_BuildTheProgram: pre-commit builds the program with "go install ./..." in the top folder, whose
// module has it, and runs it by its name.
func TestHooks_BuildTheProgram(t *testing.T) {
	var hooks []hook
	if err := yaml.UnmarshalStrict(read(t, ".pre-commit-hooks.yaml"), &hooks); err != nil || len(hooks) < 2 {
		t.Fatal(err, hooks)
	}
	for _, h := range hooks {
		if h.ID == "" || h.Name == "" || h.Language != "golang" || !strings.HasPrefix(h.Entry, "kubectl-kruise ") || h.PassFilenames == nil || *h.PassFilenames {
			t.Errorf("%+v", h)
		}
	}
	if !bytes.Contains(read(t, "cmd", "kubectl-kruise", "main.go"), []byte("\npackage main\n")) || !bytes.Contains(read(t, "go.mod"), []byte("module github.com/kubectl-kruise/kubectl-kruise\n")) {
		t.Error("go install ./... makes no kubectl-kruise")
	}
}

var (
	uses   = regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(\S+)(.*)$`)
	pinned = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}$`)
	from   = regexp.MustCompile(`(?m)^FROM (?:--\S+ )*(\S+)`)
	byHash = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
)

// TestActions_ArePinned: actions are named by their commit, with the version beside it; images by
// their digest. Only our own action, of which the commit is not known before its release, is
// named by its version.
func TestActions_ArePinned(t *testing.T) {
	files, count := []string{checkout.Path("action.yml")}, 0
	for _, pattern := range []string{checkout.Path(".github", "workflows", "*.yaml"), checkout.Path("plugins", "ci", "github-*.yaml")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			count++
			own := m[1] == "kubectl-kruise/kubectl-kruise@v1.2.0"
			if !own && (!pinned.MatchString(m[1]) || !strings.HasPrefix(m[2], " # v")) {
				t.Errorf("%s: %s%s: want the commit, and its version as a comment", file, m[1], m[2])
			}
		}
	}
	if count < 15 {
		t.Errorf("only %d uses in %v", count, files)
	}
	images, err := filepath.Glob(checkout.Path("plugins", "*", "Dockerfile"))
	if err != nil || len(images) < 3 {
		t.Fatalf("%v %v", err, images)
	}
	for _, file := range images {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range from.FindAllStringSubmatch(string(text), -1) {
			if m[1] != "scratch" && !byHash.MatchString(m[1]) {
				t.Errorf("%s: the image %s has no digest", file, m[1])
			}
		}
	}
}

// TestWorkflows_HaveMinimalPermissions: workflows may read, and a job may write what it has to; a checkout leaves
// no token behind for what runs after it.
func TestWorkflows_HaveMinimalPermissions(t *testing.T) {
	want := map[string]map[string]string{
		"release.yaml release": {"contents": "write", "packages": "write", "id-token": "write", "attestations": "write"},
	}
	for _, name := range []string{"check.yaml", "release.yaml"} {
		var w struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Steps       []struct {
					Uses string
					With map[string]any
				}
			}
		}
		if err := yaml.Unmarshal(read(t, ".github", "workflows", name), &w); err != nil {
			t.Fatal(err)
		}
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions %v", name, w.Permissions)
		}
		for id, job := range w.Jobs {
			for scope, access := range job.Permissions {
				if want[name+" "+id][scope] != access {
					t.Errorf("%s: job %s has %s: %s", name, id, scope, access)
				}
			}
			for _, step := range job.Steps {
				if keeps, set := step.With["persist-credentials"]; strings.HasPrefix(step.Uses, "actions/checkout@") && (!set || keeps != false) {
					t.Errorf("%s: job %s checks out and leaves its token in .git", name, id)
				}
			}
		}
	}
}

// TestArchives_HoldLicences: archives and images hold the licence and the notices of what is linked.
func TestArchives_HoldLicences(t *testing.T) {
	var release struct {
		Archives []struct{ Files []struct{ Src string } }
		Images   []struct {
			Dockerfile string
			ExtraFiles []string `json:"extra_files"`
		} `json:"dockers_v2"`
	}
	if err := yaml.Unmarshal(read(t, ".goreleaser.yaml"), &release); err != nil || len(release.Archives) == 0 || len(release.Images) != 2 {
		t.Fatalf("%v %+v", err, release)
	}
	for _, archive := range release.Archives {
		var files []string
		for _, f := range archive.Files {
			files = append(files, f.Src)
		}
		for _, want := range []string{"LICENSE", "THIRD-PARTY-LICENSES", "plugins/completion/kubectl_complete-kruise", "plugins/completion/kubectl_complete-kruise.cmd"} {
			if !slices.Contains(files, want) {
				t.Errorf("archives have no %s: %v", want, files)
			}
		}
	}
	for _, image := range release.Images {
		if !slices.Contains(image.ExtraFiles, "LICENSE") || !slices.Contains(image.ExtraFiles, "THIRD-PARTY-LICENSES") ||
			!bytes.Contains(read(t, image.Dockerfile), []byte("COPY LICENSE THIRD-PARTY-LICENSES /licenses/")) {
			t.Errorf("%s: no licences in the image", image.Dockerfile)
		}
	}
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(checkout.Path(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
