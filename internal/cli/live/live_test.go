package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func parse(t *testing.T, text string) *resource.Resource {
	t.Helper()
	return golden.Parse(t, text)[0]
}

func ids(res *Result) []string {
	var out []string
	for _, r := range res.Context {
		out = append(out, r.ID().String())
	}
	return out
}

func named(kind, ns, name string) map[string]any {
	meta := map[string]any{"name": name}
	if ns != "" {
		meta["namespace"] = ns
	}
	return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta}
}

func TestReadSortsPages(t *testing.T) {
	res, err := read(t, &fake{lists: map[string][]map[string]any{
		"/api/v1/namespaces": {named("Namespace", "", "b"), named("Namespace", "", "a")},
		"/api/v1/nodes":      {named("Node", "", "n")},
	}}, Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ClusterFacts cluster", "Namespace a", "Namespace b", "Node n"}, ids(res)); diff != "" {
		t.Error(diff)
	}
	facts, err := emit.Tree(res.Context[0].Node())
	const want = `apiVersion: kubectl-kruise.dev/v1alpha1
kind: ClusterFacts
metadata:
  name: cluster
spec:
  apiVersions:
  - apps.kruise.io/v1alpha1
  - apps.kruise.io/v1beta1
  - apps/v1
  - keda.sh/v1alpha1
  - policy.kruise.io/v1beta1
  - v1
  kubernetesVersion: "1.36"
`
	if diff := cmp.Diff(want, string(facts)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestReadAsksForWhatTheStreamNeeds, and for nothing else.
func TestReadAsksForWhatTheStreamNeeds(t *testing.T) {
	target := map[string]any{"targetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
	const kruise = "/apis/apps.kruise.io/v1beta1/"
	for name, c := range map[string]struct {
		stream []*resource.Resource
		want   []string
	}{
		"nothing": {},
		"a native workload": {
			stream: []*resource.Resource{resource.Parsed(tree.FromValue(named("Deployment", "shop", "web")), nil, resource.Origin{})},
		},
		"SidecarSet": {
			stream: []*resource.Resource{kruiseObject("SidecarSet", "", nil), kruiseObject("CloneSet", "shop", map[string]any{})},
			want: []string{
				"/api/v1/namespaces", "/api/v1/namespaces/kruise-system/configmaps?metadata.name=kruise-configuration",
				"/apis/apps/v1/namespaces/kruise-system/controllerrevisions?kruise.io/sidecarset-name",
				"/api/v1/namespaces/default/limitranges", "/api/v1/namespaces/default/serviceaccounts",
				"/api/v1/namespaces/shop/limitranges", "/api/v1/namespaces/shop/serviceaccounts",
				"/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers", "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects",
			},
		},
		"UnitedDeployment": {
			stream: []*resource.Resource{kruiseObject("UnitedDeployment", "shop", map[string]any{})},
			want: []string{
				kruise + "namespaces/shop/uniteddeployments",
				"/apis/apps/v1/namespaces/shop/deployments?apps.kruise.io/subset-name,app=web",
				"/apis/apps/v1/namespaces/shop/statefulsets?apps.kruise.io/subset-name,app=web",
				kruise + "namespaces/shop/clonesets?apps.kruise.io/subset-name,app=web",
				kruise + "namespaces/shop/statefulsets?apps.kruise.io/subset-name,app=web",
				"/api/v1/namespaces/shop/pods?apps.kruise.io/subset-name,app=web",
				"/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers", "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects",
			},
		},
		"ResourceDistribution": {
			stream: []*resource.Resource{
				kruiseObject("ResourceDistribution", "", map[string]any{"resource": map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "ca"}}}),
				kruiseObject("ResourceDistribution", "", map[string]any{"resource": map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "pull"}}}),
			},
			want: []string{"/api/v1/namespaces", "/api/v1/configmaps?metadata.name=ca"},
		},
		"PodUnavailableBudget": {
			stream: []*resource.Resource{kruiseObject("PodUnavailableBudget", "shop", target)},
			want: []string{
				"/apis/policy.kruise.io/v1beta1/namespaces/shop/podunavailablebudgets?app=web",
				"/apis/apps/v1/namespaces/shop/deployments?metadata.name=web",
			},
		},
		"WorkloadSpread whose target is there": {
			stream: []*resource.Resource{
				kruiseObject("WorkloadSpread", "shop", target),
				parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3}}"),
			},
			want: []string{
				"/api/v1/nodes", "/api/v1/namespaces/kruise-system/configmaps?metadata.name=kruise-configuration",
				kruise + "namespaces/shop/workloadspreads?app=web", "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects",
			},
		},
		"WorkloadSpread whose target has open replicas": {
			stream: []*resource.Resource{
				kruiseObject("WorkloadSpread", "shop", target),
				parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}"),
			},
			want: []string{
				"/apis/apps/v1/namespaces/shop/deployments?metadata.name=web",
				"/apis/apps/v1/namespaces/shop/deployments?kubectl-kruise.dev/spread=workloadspread.x",
				"/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers",
				"/api/v1/nodes", "/api/v1/namespaces/kruise-system/configmaps?metadata.name=kruise-configuration",
				kruise + "namespaces/shop/workloadspreads?app=web", "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects",
			},
		},
		"CloneSet with claims": {
			stream: []*resource.Resource{kruiseObject("CloneSet", "", map[string]any{"volumeClaimTemplates": []any{map[string]any{}}})},
			want:   []string{"/api/v1/namespaces/team/services", "/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers", "/apis/keda.sh/v1alpha1/namespaces/team/scaledobjects"},
		},
		"ImagePullJob": {
			stream: []*resource.Resource{kruiseObject("ImagePullJob", "shop", map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"a": "b"}}})},
			want:   []string{"/api/v1/nodes", "/api/v1/namespaces/shop/pods?a=b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &fake{}
			scope := Scope{Stream: c.stream, Selector: "app=web"}
			if scope.Stream == nil {
				scope.Stream = []*resource.Resource{}
			}
			if name == "CloneSet with claims" {
				scope.Namespace = "team"
			}
			if _, err := read(t, s, scope); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, q := range c.want {
				if strings.HasSuffix(q, "/uniteddeployments") {
					q += "?app=web"
				}
				want = append(want, q)
			}
			slices.Sort(want)
			slices.Sort(s.asked)
			if diff := cmp.Diff(want, s.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadEverything: what an inventory holds without files, in a namespace and
// for all; never a Secret.
func TestReadEverything(t *testing.T) {
	s := &fake{lists: map[string][]map[string]any{
		"/apis/apps.kruise.io/v1beta1/resourcedistributions": {object(t, "{metadata: {name: ca}, spec: {resource: {kind: ConfigMap, metadata: {name: ca}}}}")},
		"/api/v1/configmaps": {named("ConfigMap", "a", "ca"), named("ConfigMap", "b", "ca")},
	}}
	res, err := read(t, s, Scope{Namespace: "shop", Wanted: func(kind string) bool { return kind != "Node" && kind != "ClusterFacts" }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ConfigMap a/ca", "ConfigMap b/ca", "ResourceDistribution ca"}, ids(res)); diff != "" {
		t.Error(diff)
	}
	for _, q := range s.asked {
		everywhere := !strings.Contains(q, "/namespaces/")
		if strings.Contains(q, "secrets") || strings.Contains(q, "nodes") || everywhere && (strings.Contains(q, "pods") || strings.Contains(q, "clonesets")) {
			t.Errorf("asked for %s", q)
		}
	}
}

func TestReadGoesOnWithoutTheForbidden(t *testing.T) {
	s := &fake{
		lists:     map[string][]map[string]any{"/api/v1/namespaces": {named("Namespace", "", "a")}},
		forbidden: map[string]bool{"/api/v1/nodes": true}, versionless: true,
	}
	res, err := read(t, s, Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Skipped) != 2 || !strings.HasPrefix(res.Skipped[0], "the version of the server: ") || !strings.HasPrefix(res.Skipped[1], "nodes: ") {
		t.Errorf("skipped = %q, want version and nodes", res.Skipped)
	}
	if diff := cmp.Diff([]string{"ClusterFacts cluster", "Namespace a"}, ids(res)); diff != "" {
		t.Error(diff)
	}
}

// TestReadOldKruise: Kruise v1.9.0 serves v1beta1, but not for these kinds.
func TestReadOldKruise(t *testing.T) {
	const newer, older = "/apis/apps.kruise.io/v1beta1/", "/apis/apps.kruise.io/v1alpha1/"
	s := &fake{missing: map[string]bool{}, lists: map[string][]map[string]any{}}
	for _, path := range []string{"clonesets", "uniteddeployments", "resourcedistributions"} {
		s.missing[newer+path] = true
		s.lists[older+path] = []map[string]any{named("", "", path)}
	}
	res, err := read(t, s, Scope{Wanted: func(kind string) bool { return kind != "ClusterFacts" }})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Context) != 3 || len(res.Skipped) != 0 || res.Context[0].APIVersion() != "apps.kruise.io/v1alpha1" {
		t.Errorf("read %v; skipped: %q", ids(res), res.Skipped)
	}
}

func TestReadNamesAnUnreachableCluster(t *testing.T) {
	_, err := Read(t.Context(), clusterAt("http://127.0.0.1:1"), Scope{})
	if err == nil || !strings.HasPrefix(err.Error(), "cannot ask the cluster what it serves: ") {
		t.Errorf("err = %v", err)
	}
}
