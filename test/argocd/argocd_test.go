package argocd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	config = "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nmetadata: {name: web}\nspec: {target: auto, with: [../facts.yaml], syncWaves: true}\n"
	facts  = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
	secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {key: hunter2}\n---\n"
)

// web is a CloneSet with updateStrategy, or without where that is empty.
func web(name, updateStrategy string) string {
	return fmt.Sprintf(`apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: %[1]s}
spec:
  replicas: 2
  selector: {matchLabels: {app: %[1]s}}
  updateStrategy: {%[2]s}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: app, image: "registry.example.com/web:1"}]}
`, name, updateStrategy)
}

func shop() map[string]string {
	return map[string]string{"apps/web/kruise-render.yaml": config, "apps/facts.yaml": facts, "apps/web/web.yaml": secret + web("web", "")}
}

// kinds are the kinds of manifests, which are JSON, with their waves.
func kinds(t *testing.T, manifests []string) []string {
	t.Helper()
	var out []string
	for _, m := range manifests {
		var o struct {
			Kind     string
			Metadata struct{ Annotations map[string]string }
		}
		if err := json.Unmarshal([]byte(m), &o); err != nil {
			t.Fatalf("%v\n%s", err, m)
		}
		out = append(out, strings.TrimSpace(o.Kind+" "+o.Metadata.Annotations["argocd.argoproj.io/sync-wave"]))
	}
	slices.Sort(out)
	return out
}

// TestMatch_OnlyApplicationsWithAConfiguration: the plugin takes its own applications and no others.
func TestMatch_OnlyApplicationsWithAConfiguration(t *testing.T) {
	s := start(t)
	check, err := s.client.CheckPluginConfiguration(call(t), &emptypb.Empty{})
	if err != nil || !check.IsDiscoveryConfigured {
		t.Fatalf("%v %v", check, err)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"a RenderConfig":           {shop(), true},
		"manifests alone":          {map[string]string{"apps/web/web.yaml": web("web", "")}, false},
		"a kustomization":          {map[string]string{"apps/web/kustomization.yaml": "resources: [web.yaml]\n", "apps/web/web.yaml": facts}, false},
		"a chart":                  {map[string]string{"apps/web/Chart.yaml": "name: web\n"}, false},
		"a RenderConfig elsewhere": {map[string]string{"apps/other/kruise-render.yaml": config, "apps/web/web.yaml": facts}, false},
	} {
		if answer := s.match(t, repository(t, c.files)); answer.IsSupported != c.want || !answer.IsDiscoveryEnabled {
			t.Errorf("%s: %v", name, answer)
		}
	}
}

// TestParameters_ShowWhatTheFileSays: the form of an application shows each parameter once, with what its
// file says now.
func TestParameters_ShowWhatTheFileSays(t *testing.T) {
	s := start(t)
	answer, err := s.parameters(t, repository(t, shop()))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, p := range answer.ParameterAnnouncements {
		if _, twice := found[p.Name]; twice {
			t.Errorf("%s is announced twice", p.Name)
		}
		found[p.Name] = p.String_ + strings.Join(p.Array, ",")
	}
	if found["target"] != "auto" || found["with"] != "../facts.yaml" {
		t.Errorf("%v", found)
	}
	for _, name := range []string{"driver", "strict", "expand", "kubernetesVersion", "syncWaves"} {
		if _, ok := found[name]; !ok {
			t.Errorf("no parameter %s", name)
		}
	}
	answer, err = s.parameters(t, repository(t, map[string]string{"apps/web/kruise-render.yaml": strings.Replace(config, "spec: {", "spec: {nonsense: true, ", 1)}))
	if err == nil {
		t.Errorf("a file that is no RenderConfig announces %v", answer)
	}
}

func TestGenerate_RendersApplications(t *testing.T) {
	s := start(t)
	kustomization := map[string]string{
		"apps/web/kruise-render.yaml": config, "apps/facts.yaml": facts, "base/web.yaml": web("web", ""), "base/kustomization.yaml": "resources: [web.yaml]\n",
		"apps/web/kustomization.yaml": "namePrefix: a-\nresources: [../../base]\n",
	}
	for name, c := range map[string]struct {
		files map[string]string
		env   map[string]string
		want  []string
	}{
		"a cluster without Kruise": {shop(), nil, []string{"Deployment", "Secret -1"}},
		"a cluster with Kruise":    {shop(), map[string]string{"KUBE_API_VERSIONS": "v1,apps/v1,apps.kruise.io/v1beta1"}, []string{"CloneSet", "Secret -1"}},
		"a parameter": {
			shop(), map[string]string{"ARGOCD_APP_PARAMETERS": `[{"name":"target","string":"kruise"},{"name":"syncWaves","string":"false"}]`}, []string{"CloneSet", "Secret"},
		},
		"a variable":      {shop(), map[string]string{"ARGOCD_ENV_KRUISE_TARGET": "kruise"}, []string{"CloneSet", "Secret -1"}},
		"a kustomization": {kustomization, nil, []string{"Deployment"}},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := s.generate(t, repository(t, c.files), c.env)
			if err != nil {
				t.Fatal(err)
			}
			if have := kinds(t, answer.Manifests); !slices.Equal(have, c.want) {
				t.Errorf("%v, want %v", have, c.want)
			}
		})
	}
}

// TestGenerate_FailsWithoutSecrets: an application that must not be applied is an error, which says why, and
// tells no secret.
func TestGenerate_FailsWithoutSecrets(t *testing.T) {
	s := start(t)
	partition := shop()
	partition["apps/web/web.yaml"] = secret + web("web", "rollingUpdate: {partition: 1}")
	empty := shop()
	delete(empty, "apps/web/web.yaml")
	broken := shop()
	broken["apps/web/web.yaml"] = secret + strings.Replace(web("web", ""), "replicas: 2", "replicas: many", 1)
	for name, c := range map[string]struct {
		files map[string]string
		env   map[string]string
		want  string
	}{
		"nothing to apply":     {empty, nil, "nothing is left to emit"},
		"a loss, strictly":     {partition, map[string]string{"ARGOCD_APP_PARAMETERS": `[{"name":"strict","string":"true"}]`}, "cloneset/partition"},
		"a wrong field":        {broken, nil, "web.yaml"},
		"an unknown parameter": {shop(), map[string]string{"ARGOCD_APP_PARAMETERS": `[{"name":"targets","string":"native"}]`}, "unknown option"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := s.generate(t, repository(t, c.files), c.env)
			if err == nil {
				t.Fatalf("a success: %v", answer)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestGenerate_AtTheSameTime: applications that are rendered at the same time get what is theirs.
func TestGenerate_AtTheSameTime(t *testing.T) {
	s := start(t)
	var all sync.WaitGroup
	for i := range 6 {
		files := shop()
		name := fmt.Sprintf("web-%d", i)
		files["apps/web/web.yaml"] = web(name, "")
		root := repository(t, files)
		all.Go(func() {
			answer, err := s.generate(t, root, nil)
			if err != nil {
				t.Error(err)
			} else if len(answer.Manifests) != 1 || !strings.Contains(answer.Manifests[0], `"name":"`+name+`"`) {
				t.Errorf("%s: %v", name, answer.Manifests)
			}
		})
	}
	all.Wait()
}
