package render_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

const cloneSet = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
`

const renderConfig = `apiVersion: kubectl-kruise.dev/v1alpha1
kind: RenderConfig
metadata: {name: web}
spec: {with: [../facts.yaml]}
`

const facts = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
`

// app lays a repository out and goes into its folder apps/web.
func app(t *testing.T, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "apps/web"))
}

func run(t *testing.T, env map[string]string, args ...string) (out, complaint string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(t.Context(), append([]string{"kubectl-kruise"}, args...), factory.Streams{
		In: strings.NewReader(""), InTTY: true, Out: &o, Err: &e, Environ: environ(env),
	})
	return o.String(), e.String(), code
}

var argo = map[string]string{
	"ARGOCD_APP_NAME": "web", "ARGOCD_APP_NAMESPACE": "shop", "ARGOCD_APP_SOURCE_PATH": "apps/web",
	"KUBE_VERSION": "1.35", "KUBE_API_VERSIONS": "v1,apps/v1", "ARGOCD_APP_PARAMETERS": "null",
}

func environ(env map[string]string) (list []string) {
	for key, value := range env {
		list = append(list, key+"="+value)
	}
	return list
}

func with(key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range argo {
		if k != key {
			out[k] = v
		}
	}
	return out
}

func TestGenerate(t *testing.T) {
	directory := map[string]string{"apps/web/kruise-render.yaml": renderConfig, "apps/facts.yaml": facts, "apps/web/web.yaml": cloneSet}
	for name, c := range map[string]struct {
		files map[string]string
		env   map[string]string
		want  []string
	}{
		"a directory": {directory, argo, []string{"kind: Deployment"}},
		"Kruise is served": {
			directory, with("KUBE_API_VERSIONS", "v1,apps/v1,apps.kruise.io/v1beta1"), []string{"kind: Deployment"},
		},
		"auto goes by what is served": {
			directory,
			map[string]string{"ARGOCD_APP_NAME": "web", "ARGOCD_APP_SOURCE_PATH": "apps/web", "KUBE_API_VERSIONS": "apps.kruise.io/v1beta1", "ARGOCD_ENV_KRUISE_TARGET": "auto"},
			[]string{"kind: CloneSet"},
		},
		"a kustomization": {
			map[string]string{"apps/web/kustomization.yaml": "namePrefix: a-\nresources: [web.yaml]\n", "apps/web/web.yaml": cloneSet}, argo, []string{"kind: Deployment", "name: a-web"},
		},
		"folders": {
			map[string]string{"apps/web/kruise-render.yaml": "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nmetadata: {name: web}\nspec: {recurse: true}\n", "apps/web/deep/web.yaml": cloneSet},
			argo,
			[]string{"kind: Deployment"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app(t, c.files)
			for _, args := range [][]string{{"argocd", "generate"}, {"render"}} {
				out, complaint, code := run(t, c.env, args...)
				for _, want := range c.want {
					if code != 0 || !strings.Contains(out, want) || strings.Contains(out, "RenderConfig") {
						t.Errorf("%v: exit code %d, %q is not in\n%s\n%s", args, code, want, out, complaint)
					}
				}
			}
		})
	}
}

func TestGenerate_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		env   map[string]string
		want  string
	}{
		"nothing but the config": {map[string]string{"apps/web/kruise-render.yaml": renderConfig, "apps/facts.yaml": facts}, argo, "nothing is left to emit"},
		"no manifest at all":     {map[string]string{"apps/web/README": "x"}, argo, "no "},
		"a loss, strictly": {
			map[string]string{"apps/web/web.yaml": strings.Replace(cloneSet, "  replicas: 2\n", "  replicas: 2\n  updateStrategy: {rollingUpdate: {partition: 1}}\n", 1)},
			with("ARGOCD_APP_PARAMETERS", `[{"name":"strict","string":"true"}]`), "something is lost",
		},
		"facts from outside the repository": {
			map[string]string{"apps/web/web.yaml": cloneSet}, with("ARGOCD_APP_PARAMETERS", `[{"name":"with","array":["../../../x.yaml"]}]`), "x.yaml",
		},
		"a chart without helm": {map[string]string{"apps/web/Chart.yaml": "name: web\n"}, argo, "there is no helm"},
		"an unknown option": {
			map[string]string{"apps/web/kruise-render.yaml": renderConfig + "  \n", "apps/web/web.yaml": cloneSet}, with("ARGOCD_APP_PARAMETERS", `[{"name":"wave","string":"1"}]`), "strict, syncWaves, target",
		},
		"a fault of the file, with its place": {
			map[string]string{"apps/web/kruise-render.yaml": "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nspec:\n  recurse: perhaps\n  strikt: true\n", "apps/web/web.yaml": cloneSet},
			argo, "kruise-render.yaml:5: spec.strikt: unknown option",
		},
		"a fault of our own options, with its place": {
			map[string]string{"apps/web/kruise-render.yaml": "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nspec:\n  recurse: perhaps\n", "apps/web/web.yaml": cloneSet},
			argo, "kruise-render.yaml:4: spec.recurse: must be true or false",
		},
		"another kind in the place of the config": {
			map[string]string{"apps/web/kruise-render.yaml": "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderKonfig\nmetadata: {name: web}\nspec: {strict: true}\n", "apps/web/web.yaml": cloneSet},
			argo, "kruise-render.yaml:2: kind: is \"RenderKonfig\"",
		},
		"an unknown parameter": {map[string]string{"apps/web/web.yaml": cloneSet}, with("ARGOCD_APP_PARAMETERS", `[{"name":"tarGet","string":"native"}]`), "did you mean target?"},
	} {
		t.Run(name, func(t *testing.T) {
			app(t, c.files)
			t.Setenv("PATH", "/nowhere")
			out, complaint, code := run(t, c.env, "argocd", "generate")
			if code == 0 || out != "" || !strings.Contains(complaint, c.want) {
				t.Errorf("exit code %d, stdout %q, stderr without %q:\n%s", code, out, c.want, complaint)
			}
		})
	}
}

// TestGenerate_DoesNotEmitFilesOfOptions: what options name is used and not emitted, wherever it lies.
func TestGenerate_DoesNotEmitFilesOfOptions(t *testing.T) {
	app(t, map[string]string{
		"apps/web/kruise-render.yaml": "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nmetadata: {name: web}\nspec: {with: [facts.yaml], base: [./old.yaml]}\n",
		"apps/web/facts.yaml":         facts, "apps/web/web.yaml": cloneSet, "apps/web/old.yaml": cloneSet,
	})
	out, complaint, code := run(t, argo, "argocd", "generate")
	if code != 0 || strings.Contains(out, "kind: Namespace") || strings.Count(out, "kind: Deployment") != 1 {
		t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
	}
}

// TestGenerate_ExplainsSidecarsOnRequest: the table of sidecars is written to stderr where it is requested, and only there.
func TestGenerate_ExplainsSidecarsOnRequest(t *testing.T) {
	app(t, map[string]string{"apps/web/web.yaml": cloneSet})
	for parameters, want := range map[string]bool{"null": false, `[{"name":"explain","string":"true"}]`: true} {
		_, complaint, code := run(t, with("ARGOCD_APP_PARAMETERS", parameters), "argocd", "generate")
		if code != 0 || strings.Contains(complaint, "no pod template met a SidecarSet") != want {
			t.Errorf("%s: exit code %d\n%s", parameters, code, complaint)
		}
	}
}

// TestParameters_WithoutServedVersions: a form is filled in where Argo CD does not tell what is served.
func TestParameters_WithoutServedVersions(t *testing.T) {
	app(t, map[string]string{"apps/web/kruise-render.yaml": "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nmetadata: {name: web}\nspec: {target: auto}\n"})
	out, complaint, code := run(t, nil, "argocd", "parameters")
	if code != 0 || !strings.Contains(out, `"string": "auto"`) {
		t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
	}
}

func TestParameters_AreAnnounced(t *testing.T) {
	app(t, map[string]string{"apps/web/kruise-render.yaml": renderConfig})
	out, complaint, code := run(t, nil, "argocd", "parameters")
	if code != 0 || !strings.Contains(out, `"name": "target"`) || !strings.Contains(out, `"../facts.yaml"`) {
		t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
	}
}

// TestGenerate_ReportsAMisspelledVariableOnce: a misspelt variable is reported once, on stderr, and stops nothing.
func TestGenerate_ReportsAMisspelledVariableOnce(t *testing.T) {
	app(t, map[string]string{"apps/web/web.yaml": cloneSet})
	for _, args := range [][]string{{"argocd", "generate"}, {"render"}} {
		var out, said bytes.Buffer
		code := cli.Main(t.Context(), append([]string{"kubectl-kruise"}, args...), factory.Streams{
			In: strings.NewReader(""), InTTY: true, Out: &out, Err: &said, Environ: environ(with("ARGOCD_ENV_KRUISE_TARGT", "hunter2")),
		})
		if code != 0 || strings.Count(said.String(), "warning: KRUISE_TARGT is not an option: did you mean KRUISE_TARGET?\n") != 1 || strings.Contains(said.String(), "hunter2") {
			t.Errorf("%v: exit code %d\n%s", args, code, said.String())
		}
	}
}

// TestGenerate_LetsNoManifestDecideForTheApplication: where the Application sets strict, who may write
// manifests cannot accept a loss by an annotation, nor by the repository's RenderConfig.
func TestGenerate_LetsNoManifestDecideForTheApplication(t *testing.T) {
	lossy := strings.Replace(cloneSet, "metadata: {name: web}", "metadata: {name: web, annotations: {kubectl-kruise.dev/accept: cloneset/partition}}", 1)
	lossy = strings.Replace(lossy, "  replicas: 2\n", "  replicas: 2\n  updateStrategy: {partition: 1}\n", 1)
	lossy = strings.Replace(lossy, "v1beta1", "v1alpha1", 1)
	config := func(spec string) string {
		return "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nmetadata: {name: web}\nspec: " + spec + "\n"
	}
	const strict, both = `[{"name":"strict","string":"true"}]`, `[{"name":"strict","string":"true"},{"name":"acceptAnnotations","string":"true"}]`
	for name, tc := range map[string]struct {
		config string
		env    map[string]string
		code   int
	}{
		"strict in the repository": {config("{strict: true}"), argo, 0},
		"a parameter":              {config("{}"), with("ARGOCD_APP_PARAMETERS", strict), 1},
		"a variable":               {config("{}"), with("ARGOCD_ENV_KRUISE_STRICT", "true"), 1},
		"a parameter, and the repository accepts":        {config("{acceptAnnotations: true}"), with("ARGOCD_APP_PARAMETERS", strict), 1},
		"a parameter, and the repository is strict, too": {config("{strict: true, acceptAnnotations: true}"), with("ARGOCD_APP_PARAMETERS", strict), 1},
		"the Application accepts annotations":            {config("{}"), with("ARGOCD_APP_PARAMETERS", both), 0},
		"the repository accepts none":                    {config("{strict: true, acceptAnnotations: false}"), argo, 1},
	} {
		t.Run(name, func(t *testing.T) {
			app(t, map[string]string{"apps/web/kruise-render.yaml": tc.config, "apps/web/web.yaml": lossy})
			out, complaint, code := run(t, tc.env, "argocd", "generate")
			if code != tc.code || (code == 0) != (out != "") {
				t.Errorf("code %d, %q\n%s", code, out, complaint)
			}
			if code != 0 && !strings.Contains(complaint, "lost cloneset/partition (1): CloneSet web: ") {
				t.Errorf("the loss is not named:\n%s", complaint)
			}
			if by := strings.Contains(complaint, "the Application sets strict"); by != (code != 0 && !strings.Contains(name, "accepts none")) {
				t.Errorf("who has decided: %v\n%s", by, complaint)
			}
		})
	}
}
