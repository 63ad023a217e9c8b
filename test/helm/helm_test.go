// Package helm runs the post-renderers with Helm itself, of both majors.
package helm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// majors are Helm's, each with the arguments for the post-renderer.
var majors = map[string]func(flags ...string) []string{
	"3": func(flags ...string) []string {
		args := []string{"--post-renderer", "kubectl-kruise"}
		for _, a := range append([]string{"render", "-f", "-"}, flags...) {
			args = append(args, "--post-renderer-args", a)
		}
		return args
	},
	"4": func(flags ...string) []string {
		args := []string{"--post-renderer", "kruise"}
		for _, a := range flags {
			args = append(args, "--post-renderer-args="+a)
		}
		return args
	},
}

// TestPostRenderer_EqualsRenderOfTheChart: what Helm would install is what render makes of the chart, and nothing
// of Kruise or of Helm's own bookkeeping is left in it.
func TestPostRenderer_EqualsRenderOfTheChart(t *testing.T) {
	for major, through := range majors {
		t.Run("helm "+major, func(t *testing.T) {
			h := newHelm(t, major)
			plain := h.must(t, nil, h.program, "template", "shop", h.chart, "--namespace", "shop")
			if !strings.Contains(plain, "apps.kruise.io") {
				t.Fatalf("the chart has nothing of Kruise:\n%s", plain)
			}
			want := objects(t, h.must(t, []byte(plain), h.product, "render", "--quiet", "-f", "-"))
			got := objects(t, h.must(t, nil, h.program, append([]string{"template", "shop", h.chart, "--namespace", "shop"}, through()...)...))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-render +helm\n%s", diff)
			}
			ids := []string{"Deployment pay-east", "Deployment pay-west", "Deployment web", "Job migrate", "Service web"}
			if diff := cmp.Diff(ids, names(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestStrict_FailsOnALoss: a loss fails Helm's run, and flags reach the post-renderer.
func TestStrict_FailsOnALoss(t *testing.T) {
	for major, through := range majors {
		t.Run("helm "+major, func(t *testing.T) {
			h := newHelm(t, major)
			args := []string{"template", "shop", h.chart, "--namespace", "shop", "--set", "lossy=true"}
			h.must(t, nil, h.program, append(args, through()...)...)
			out, said, err := h.run(nil, h.program, append(args, through("--strict")...)...)
			if err == nil || strings.Contains(out, "kind:") {
				t.Errorf("%v\n%s", err, out)
			}
			// Helm 4 keeps what the plugin said to itself, as the page tells.
			if shown := strings.Contains(said, "absent"); shown != (major == "3") {
				t.Errorf("the reason is shown: %v\n%s", shown, said)
			}
		})
	}
}

// TestChartAsManifests_HoldsHooks: what a job renders for Flux is the chart's objects, hooks among
// them, in a folder with a kustomization.
func TestChartAsManifests_HoldsHooks(t *testing.T) {
	h := newHelm(t, "4")
	chart := h.must(t, nil, h.program, "template", "shop", h.chart, "--namespace", "shop")
	want := objects(t, h.must(t, []byte(chart), h.product, "render", "--quiet", "-f", "-"))
	h.must(t, []byte(chart), h.product, "render", "-f", "-", "--strict", "--out", "manifests", "--output-kustomization")
	got := objects(t, h.must(t, nil, h.product, "render", "--quiet", "-k", "manifests"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-render +folder\n%s", diff)
	}
}

// TestPlugin_IsKnownToHelm4: Helm 4 knows the plugin for what it is, of this release.
func TestPlugin_IsKnownToHelm4(t *testing.T) {
	h := newHelm(t, "4")
	listed := strings.Fields(h.must(t, nil, h.program, "plugin", "list"))
	for _, want := range []string{"kruise", "postrenderer/v1", strings.TrimPrefix(release(t), "v")} {
		if !slices.Contains(listed, want) {
			t.Errorf("no %s in %q", want, listed)
		}
	}
}

// helm is Helm of one major in a home of its own.
type helm struct{ program, product, chart, home string }

func newHelm(t *testing.T, major string) helm {
	t.Helper()
	bin, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	program, err := built[major]()
	if err != nil {
		t.Fatal(err)
	}
	h := helm{program: program, product: bin, home: t.TempDir(), chart: checkout.Path("test", "helm", "testdata", "chart")}
	if err := os.MkdirAll(filepath.Join(h.home, "bin"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(h.home, "bin", "kubectl-kruise")); err != nil {
		t.Fatal(err)
	}
	plugins := filepath.Join(h.home, "plugins")
	if major == "4" {
		err = os.CopyFS(plugins, os.DirFS(checkout.Path("plugins", "helm")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// built are the programs: what make built or, without it, what is built once now.
var built = map[string]func() (string, error){"3": building("3"), "4": building("4")}

func building(major string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		made := checkout.Path("bin", "helm"+major)
		if _, err := os.Stat(made); err == nil {
			return made, nil
		}
		dir, err := os.MkdirTemp("", "helm")
		if err != nil {
			return "", err
		}
		bin := filepath.Join(dir, "helm")
		cmd := exec.Command("go", "build", "-C", checkout.Path("tools", "helm"), "-o", bin, "helm.sh/helm/v"+major+"/cmd/helm")
		if said, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building Helm %s: %w\n%s", major, err, said)
		}
		return bin, nil
	})
}

func (h helm) run(stdin []byte, program string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(program, args...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = bytes.NewReader(stdin), &out, &said, h.home
	cmd.Env = []string{
		"HOME=" + h.home, "HELM_PLUGINS=" + filepath.Join(h.home, "plugins"), "KUBECONFIG=" + filepath.Join(h.home, "none"),
		"PATH=" + filepath.Join(h.home, "bin"),
	}
	err = cmd.Run()
	return out.String(), said.String(), err
}

func (h helm) must(t *testing.T, stdin []byte, program string, args ...string) string {
	t.Helper()
	out, said, err := h.run(stdin, program, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", filepath.Base(program), args, err, said)
	}
	return out
}

// objects are the objects of a stream of documents by kind and name.
func objects(t *testing.T, stream string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for doc := range strings.SplitSeq("\n"+stream, "\n---") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if len(o) == 0 {
			continue
		}
		meta, _ := o["metadata"].(map[string]any)
		id := fmt.Sprint(o["kind"], " ", meta["name"])
		if out[id] != nil {
			t.Errorf("%s is there twice", id)
		}
		out[id] = o
	}
	return out
}

func names(objects map[string]any) []string {
	var out []string
	for id := range objects {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// release is the one that krew's manifest names.
func release(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(checkout.Path("krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Spec struct {
			Version string `json:"version"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m.Spec.Version
}
