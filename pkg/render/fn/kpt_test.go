package fn

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/yaml"
)

// kptfile is what kpt reads of a pipeline: of a function exactly one of image and exec.
type kptfile struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Info       map[string]any `json:"info"`
	Pipeline   struct {
		Mutators []struct {
			Image      string `json:"image"`
			Exec       string `json:"exec"`
			ConfigPath string `json:"configPath"`
		} `json:"mutators"`
	} `json:"pipeline"`
}

// TestKpt_RendersPackages runs the function on the packages of plugins/kpt as kpt does: all files of the
// package on standard input, and what comes out in their place.
func TestKpt_RendersPackages(t *testing.T) {
	for _, name := range []string{"exec", "image"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("../../../plugins/kpt", name)
			text, err := os.ReadFile(filepath.Join(dir, "Kptfile"))
			if err != nil {
				t.Fatal(err)
			}
			var file kptfile
			if err := yaml.UnmarshalStrict(text, &file); err != nil || file.APIVersion != "kpt.dev/v1" || len(file.Pipeline.Mutators) != 1 {
				t.Fatalf("%v: %+v", err, file)
			}
			m := file.Pipeline.Mutators[0]
			line := m.Exec
			if name == "image" {
				line = "kubectl-kruise fn" // the entry point of the image
			}
			if (m.Image == "") == (m.Exec == "") {
				t.Errorf("%+v: exactly one of image and exec", m)
			}
			once := kpt(t, line, list(t, dir, m.ConfigPath))
			for _, want := range []string{"kind: Deployment", "kind: Kptfile", "kind: RenderConfig", "registry.example.com/web:1 # the image", "# Comments survive"} {
				if !strings.Contains(once, want) {
					t.Errorf("%q is not in\n%s", want, once)
				}
			}
			if twice := kpt(t, line, once); twice != once {
				t.Errorf("another run makes of it\n%s", twice)
			}
		})
	}
}

// list is the ResourceList that kpt makes of a package.
func list(t *testing.T, dir, config string) string {
	t.Helper()
	items, err := kio.LocalPackageReader{PackagePath: dir, MatchFilesGlob: []string{"*.yaml", "Kptfile"}, PreserveSeqIndent: true}.Read()
	if err != nil || len(items) != 3 {
		t.Fatalf("%d items, %v", len(items), err)
	}
	var out strings.Builder
	w := kio.ByteWriter{Writer: &out, KeepReaderAnnotations: true, WrappingKind: kio.ResourceListKind, WrappingAPIVersion: kio.ResourceListAPIVersion}
	for _, item := range items {
		if path := item.GetAnnotations()["config.kubernetes.io/path"]; path == config {
			w.FunctionConfig = item
		}
	}
	if w.FunctionConfig == nil {
		t.Fatalf("no %s", config)
	}
	if err := w.Write(items); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// kpt runs a line of program and arguments on a list.
func kpt(t *testing.T, line, list string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env, cmd.Stdin = append(os.Environ(), installed(t)...), strings.NewReader(list)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, said.String())
	}
	return string(out)
}
