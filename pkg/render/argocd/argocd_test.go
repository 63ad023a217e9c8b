package argocd_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/argocd"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func env(m map[string]string) func(string) string { return func(key string) string { return m[key] } }

func node(t *testing.T, text string) *tree.Node {
	t.Helper()
	if text == "" {
		return nil
	}
	n, err := load.Single("kruise-render.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const file = `apiVersion: kubectl-kruise.dev/v1alpha1
kind: RenderConfig
spec: {target: kruise, expand: [SidecarSet], strict: true, source: directory, recurse: true, syncWaves: true, helmValues: [a.yaml]}
`

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		file string
		want argocd.Settings
	}{
		"nothing at all": {want: argocd.Settings{Source: argocd.Auto, AcceptAnnotations: true}},
		"of the file": {file: file, want: argocd.Settings{
			Source: argocd.Directory, Recurse: true, SyncWaves: true, HelmValues: []string{"a.yaml"}, AcceptAnnotations: true,
			Config: render.Config{Options: render.Options{Target: render.Kruise, Expand: []string{"SidecarSet"}}, Strict: true},
		}},
		"of the cluster": {
			env: map[string]string{"ARGOCD_APP_NAMESPACE": "shop", "KUBE_VERSION": "v1.35.2+k3s1", "KUBE_API_VERSIONS": "v1,apps/v1, apps.kruise.io/v1alpha1/CloneSet,", "ARGOCD_APP_PARAMETERS": `[{"name":"target","string":"auto"}]`},
			want: argocd.Settings{Source: argocd.Auto, AcceptAnnotations: true, Config: render.Config{Options: render.Options{
				Namespace: "shop", Kubernetes: 35, Target: render.Auto, APIVersions: []string{"v1", "apps/v1", "apps.kruise.io/v1alpha1/CloneSet"},
			}}},
		},
		"parameters are null": {env: map[string]string{"ARGOCD_APP_PARAMETERS": "null"}, want: argocd.Settings{Source: argocd.Auto, AcceptAnnotations: true}},
		"parameters over variables over the file": {
			file: file,
			env: map[string]string{
				"ARGOCD_ENV_KRUISE_TARGET": "native", "ARGOCD_ENV_KRUISE_STRICT": "false", "ARGOCD_ENV_KRUISE_SYNC_WAVES": "false", "ARGOCD_ENV_KRUISE_ALLOW_PREVIEW_APIS": "true",
				"ARGOCD_APP_PARAMETERS": `[{"name":"target","string":"kruise"},{"name":"expand","array":["CloneSet","UnitedDeployment"]},{"name":"source","string":"helm"},
					{"name":"helmValues","array":["b.yaml",""]},{"name":"templatePaths","map":{"a.b/C":"spec.template"}},{"name":"driver","string":"client"},{"name":"kubernetesVersion","string":""}]`,
			},
			want: argocd.Settings{Source: argocd.Helm, Recurse: true, HelmValues: []string{"a.yaml", "b.yaml"}, StrictByApplication: true, Config: render.Config{Options: render.Options{
				Target: render.Kruise, Expand: []string{"CloneSet", "UnitedDeployment"}, PreviewAPIs: true, Driver: stage.Client, TemplatePaths: map[string]string{"a.b/C": "spec.template"},
			}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := argocd.ReadEnvironment(env(c.env))
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Settings(node(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&c.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadEnvironment_ReportsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		file string
		want []string
	}{
		"no JSON, and nothing of it told": {env: map[string]string{"ARGOCD_APP_PARAMETERS": `[{"name": s3cret`}, want: []string{"ARGOCD_APP_PARAMETERS: is no list of parameters"}},
		"a map in place of a list":        {env: map[string]string{"ARGOCD_APP_PARAMETERS": `[{"name": "helmValues", "map": {"a": "b"}}]`}, want: []string{"parameter helmValues: must be a list of files"}},
		"a parameter without a name":      {env: map[string]string{"ARGOCD_APP_PARAMETERS": `[{"string":"x"}]`}, want: []string{"parameter 1 has no name"}},
		"all at once": {
			env: map[string]string{
				"KUBE_VERSION": "latest", "ARGOCD_ENV_KRUISE_RECURSE": "maybe",
				"ARGOCD_APP_PARAMETERS": `[{"name":"targets","string":"kruise"},{"name":"source","string":"git"},{"name":"helmValues","array":["/etc/passwd"]},{"name":"strict","string":"yes"}]`,
			},
			file: "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nspec: {driver: x}\n",
			want: []string{
				"KUBE_VERSION: ", "option recurse from the environment: must be true or false", `parameter targets: unknown option "targets"`,
				`parameter source: unknown value "git"`, `parameter helmValues: "/etc/passwd" is not a file of the repository`, "parameter strict: must be true or false", "spec.driver",
			},
		},
		"auto without knowing what is served": {env: map[string]string{"ARGOCD_ENV_KRUISE_TARGET": "auto"}, want: []string{"auto needs apiVersions"}},
		"another version of file":             {file: "apiVersion: kubectl-kruise.dev/v2\nkind: RenderConfig\n", want: []string{"unknown version"}},
		"another kind of file":                {file: "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderKonfig\nspec: {strict: true}\n", want: []string{`kind: is "RenderKonfig", which is no RenderConfig`}},
		"another group of file":               {file: "apiVersion: v1\nkind: RenderConfig\nspec: {strict: true}\n", want: []string{`apiVersion: is "v1", which is no RenderConfig`}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := argocd.ReadEnvironment(env(c.env))
			if err == nil {
				var s *argocd.Settings
				if s, err = e.Settings(node(t, c.file)); err == nil {
					err = s.Judge(nil)
				}
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Error("the error tells what the environment holds")
			}
		})
	}
}

func TestReadEnvironment_PathStaysInTheRepository(t *testing.T) {
	for path, want := range map[string]string{"": "", ".": "", "apps/web": "apps/web", "/apps/web/": "apps/web", "../..": "", "a/../../b": "b"} {
		e, err := argocd.ReadEnvironment(env(map[string]string{"ARGOCD_APP_SOURCE_PATH": path}))
		if err != nil || e.Path != want {
			t.Errorf("%q: %q (%v), want %q", path, e.Path, err, want)
		}
	}
}

// TestAnnouncement_CanBeSentBack: what is announced can be sent back as it is, and changes nothing.
func TestAnnouncement_CanBeSentBack(t *testing.T) {
	s, err := argocd.Environment{}.Settings(node(t, file))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := argocd.WriteAnnouncements(&b, argocd.Announce(s)); err != nil {
		t.Fatal(err)
	}
	var back []argocd.Parameter
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	for i := range back {
		if back[i].String == nil && len(back[i].Array) == 0 {
			back[i].String = new("")
		}
	}
	again, err := argocd.Environment{Parameters: back}.Settings(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Driver = stage.Native      // which is the default, written out
	s.StrictByApplication = true // now it is
	if d := cmp.Diff(s, again, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func TestSyncWaves(t *testing.T) {
	rs, err := load.Parse("in.yaml", []byte(`apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: log, annotations: {a: b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, annotations: {argocd.argoproj.io/sync-wave: "7"}}
---
apiVersion: v1
kind: Secret
metadata: {name: hook, annotations: {argocd.argoproj.io/hook: PreSync}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
`))
	if err != nil {
		t.Fatal(err)
	}
	argocd.SyncWaves(rs)
	var got []string
	for _, r := range rs {
		got = append(got, r.Name()+":"+r.Annotation("argocd.argoproj.io/sync-wave"))
	}
	if want := []string{"shop:-3", "log:-1", "mine:7", "hook:", "data:", "web:"}; !slices.Equal(got, want) {
		t.Errorf("waves %v, want %v", got, want)
	}
	if rs[1].Annotation("a") != "b" || rs[5].Changed() {
		t.Error("another annotation is lost, or a workload was touched")
	}
}
