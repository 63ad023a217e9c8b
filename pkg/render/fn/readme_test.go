package fn

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
)

const readme = "../../../plugins/kustomize/README.md"

// blocks returns the fenced blocks of a page by their language.
func blocks(page string) (files map[string]string, commands []string) {
	files = map[string]string{}
	for i, part := range strings.Split(page, "\n```") {
		language, text, _ := strings.Cut(part, "\n")
		switch {
		case i%2 == 0:
		case language == "sh":
			commands = append(commands, text)
		case language != "":
			name, body, _ := strings.Cut(text, "\n")
			files[strings.TrimPrefix(name, "# ")] = body + "\n"
		}
	}
	return files, commands
}

// TestReadme_CommandsRun runs the commands of plugins/kustomize/README.md; the component is written
// by what the command calls.
func TestReadme_CommandsRun(t *testing.T) {
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	files, commands := blocks(string(page))
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	tests := map[string]struct{ has, lacks []string }{
		"inject":     {[]string{"name: shop-web\n", "image: fluent-bit:4.1", "name: shop-log-agent-"}, []string{"kind: SidecarSet", "name: log-agent\n        configMap"}},
		"render":     {[]string{"kind: Deployment\n", "name: shop-settings-", "    name: shop-web\n"}, []string{"CloneSet\n", "apps.kruise.io/v1"}},
		"zones":      {[]string{"name: shop-web-a\n", "name: shop-web-b\n", "replicas: 1\n", "replicas: 3\n", "- zone-b"}, []string{"UnitedDeployment\n", "kind: Role"}},
		"distribute": {[]string{"namespace: team-a\n", "namespace: team-b\n", "BEGIN CERTIFICATE"}, []string{"namespace: monitoring", "kind: ResourceDistribution"}},
		"known": {
			[]string{"name: shop-web\n", "image: nginx:1.30", "image: fluent-bit:4.1", "value: debug", "replicas: 5", "    name: shop-web\n", "      app: web\n      team: shop\n"},
			[]string{"replicas: 3"},
		},
		"check": {[]string{"kind: CloneSet"}, []string{"Deployment"}},
	}
	env := installed(t)
	for _, command := range commands {
		if folder, ok := strings.CutPrefix(command, "kubectl kruise schema kustomize --out "); ok {
			component, err := kustomize.Component()
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range component {
				write(t, filepath.Join(dir, strings.TrimSpace(folder), name), string(text))
			}
			continue
		}
		name := strings.Fields(command)[len(strings.Fields(command))-1]
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
			var said strings.Builder
			cmd.Stderr = &said
			b, err := cmd.Output()
			out := string(b)
			if err != nil {
				t.Fatalf("%s: %v\n%s", command, err, said.String())
			}
			tc, ok := tests[name]
			if !ok || len(tc.has) == 0 {
				t.Fatalf("nothing is expected of %q", command)
			}
			for _, s := range tc.has {
				if !strings.Contains(out, s) {
					t.Errorf("lacks %q", s)
				}
			}
			for _, s := range append(tc.lacks, "internal.config.kubernetes.io", "kustomize.config.k8s.io/", "config.kubernetes.io/local-config") {
				if strings.Contains(out, s) {
					t.Errorf("has %q", s)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
	if len(commands) != len(tests)+1 {
		t.Errorf("%d commands, want %d and the one that writes the component", len(commands), len(tests))
	}
}

// TestReadme_NamesAllOptions keeps the table of options complete.
func TestReadme_NamesAllOptions(t *testing.T) {
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range render.OptionNames() {
		if !strings.Contains(string(page), "| `"+option+"` |") {
			t.Errorf("option %s is missing", option)
		}
	}
}
