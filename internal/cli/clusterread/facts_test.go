package clusterread

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func parse(t *testing.T, text string) *resource.Resource {
	t.Helper()
	return golden.Parse(t, text)[0]
}

func idsOf(res *Facts) []string {
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

func TestReadFacts_SortsPages(t *testing.T) {
	res, err := readManifest(t, &fakeCluster{lists: map[string][]map[string]any{
		"/api/v1/namespaces": {named("Namespace", "", "b"), named("Namespace", "", "a")},
		"/api/v1/nodes":      {named("Node", "", "n")},
	}}, FactScope{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ClusterFacts cluster", "Namespace a", "Namespace b", "Node n"}, idsOf(res)); diff != "" {
		t.Error(diff)
	}
	facts, err := emit.Tree(res.Context[0].Node(), stage.Limits{})
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

// TestReadFacts_AsksOnlyForNeededFacts, and for nothing else.
func TestReadFacts_AsksOnlyForNeededFacts(t *testing.T) {
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
			stream: []*resource.Resource{testKruiseObject("SidecarSet", "", nil), testKruiseObject("CloneSet", "shop", map[string]any{})},
			want: []string{
				"/api/v1/namespaces", "/api/v1/namespaces/kruise-system/configmaps?metadata.name=kruise-configuration",
				"/apis/apps/v1/namespaces/kruise-system/controllerrevisions?kruise.io/sidecarset-name",
				"/api/v1/namespaces/default/limitranges", "/api/v1/namespaces/default/serviceaccounts",
				"/api/v1/namespaces/shop/limitranges", "/api/v1/namespaces/shop/serviceaccounts",
				"/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers", "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects",
			},
		},
		"UnitedDeployment": {
			stream: []*resource.Resource{testKruiseObject("UnitedDeployment", "shop", map[string]any{})},
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
				testKruiseObject("ResourceDistribution", "", map[string]any{"resource": map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "ca"}}}),
				testKruiseObject("ResourceDistribution", "", map[string]any{"resource": map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "pull"}}}),
			},
			want: []string{"/api/v1/namespaces", "/api/v1/configmaps?metadata.name=ca"},
		},
		"PodUnavailableBudget": {
			stream: []*resource.Resource{testKruiseObject("PodUnavailableBudget", "shop", target)},
			want: []string{
				"/apis/policy.kruise.io/v1beta1/namespaces/shop/podunavailablebudgets?app=web",
				"/apis/apps/v1/namespaces/shop/deployments?metadata.name=web",
			},
		},
		"WorkloadSpread whose target is there": {
			stream: []*resource.Resource{
				testKruiseObject("WorkloadSpread", "shop", target),
				parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 3}}"),
			},
			want: []string{
				"/api/v1/nodes", "/api/v1/namespaces/kruise-system/configmaps?metadata.name=kruise-configuration",
				kruise + "namespaces/shop/workloadspreads?app=web", "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects",
			},
		},
		"WorkloadSpread whose target has open replicas": {
			stream: []*resource.Resource{
				testKruiseObject("WorkloadSpread", "shop", target),
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
			stream: []*resource.Resource{testKruiseObject("CloneSet", "", map[string]any{"volumeClaimTemplates": []any{map[string]any{}}})},
			want:   []string{"/api/v1/namespaces/team/services", "/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers", "/apis/keda.sh/v1alpha1/namespaces/team/scaledobjects"},
		},
		"ImagePullJob": {
			stream: []*resource.Resource{testKruiseObject("ImagePullJob", "shop", map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"a": "b"}}})},
			want:   []string{"/api/v1/nodes", "/api/v1/namespaces/shop/pods?a=b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &fakeCluster{}
			scope := FactScope{Stream: c.stream, Selector: "app=web"}
			if scope.Stream == nil {
				scope.Stream = []*resource.Resource{}
			}
			if name == "CloneSet with claims" {
				scope.Namespace = "team"
			}
			if _, err := readManifest(t, s, scope); err != nil {
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

// TestReadFacts_HoldsEverythingButSecrets: what an inventory holds without files, in a namespace and
// for all; never a Secret.
func TestReadFacts_HoldsEverythingButSecrets(t *testing.T) {
	s := &fakeCluster{lists: map[string][]map[string]any{
		"/apis/apps.kruise.io/v1beta1/resourcedistributions": {kruiseObject(t, "{metadata: {name: ca}, spec: {resource: {kind: ConfigMap, metadata: {name: ca}}}}")},
		"/api/v1/configmaps": {named("ConfigMap", "a", "ca"), named("ConfigMap", "b", "ca")},
	}}
	res, err := readManifest(t, s, FactScope{Namespace: "shop", WithoutKinds: []string{"Node", "ClusterFacts"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ConfigMap a/ca", "ConfigMap b/ca", "ResourceDistribution ca"}, idsOf(res)); diff != "" {
		t.Error(diff)
	}
	for _, q := range s.asked {
		everywhere := !strings.Contains(q, "/namespaces/")
		if strings.Contains(q, "secrets") || strings.Contains(q, "nodes") || everywhere && (strings.Contains(q, "pods") || strings.Contains(q, "clonesets")) {
			t.Errorf("asked for %s", q)
		}
	}
}

func TestReadFacts_SkipsForbiddenKinds(t *testing.T) {
	s := &fakeCluster{
		lists:     map[string][]map[string]any{"/api/v1/namespaces": {named("Namespace", "", "a")}},
		forbidden: map[string]bool{"/api/v1/nodes": true}, versionless: true,
	}
	res, err := readManifest(t, s, FactScope{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Skipped) != 2 || !strings.HasPrefix(res.Skipped[0], "the version of the server: ") || !strings.HasPrefix(res.Skipped[1], "nodes: ") {
		t.Errorf("skipped = %q, want version and nodes", res.Skipped)
	}
	if diff := cmp.Diff([]string{"ClusterFacts cluster", "Namespace a"}, idsOf(res)); diff != "" {
		t.Error(diff)
	}
}

// TestReadFacts_OfAnOlderKruise: Kruise v1.9.0 serves v1beta1, but not for these kinds.
func TestReadFacts_OfAnOlderKruise(t *testing.T) {
	const newer, older = "/apis/apps.kruise.io/v1beta1/", "/apis/apps.kruise.io/v1alpha1/"
	s := &fakeCluster{missing: map[string]bool{}, lists: map[string][]map[string]any{}}
	for _, path := range []string{"clonesets", "uniteddeployments", "resourcedistributions"} {
		s.missing[newer+path] = true
		s.lists[older+path] = []map[string]any{named("", "", path)}
	}
	res, err := readManifest(t, s, FactScope{WithoutKinds: []string{"ClusterFacts"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Context) != 3 || len(res.Skipped) != 0 || res.Context[0].APIVersion() != "apps.kruise.io/v1alpha1" {
		t.Errorf("read %v; skipped: %q", idsOf(res), res.Skipped)
	}
}

func TestReadFacts_NamesAnUnreachableCluster(t *testing.T) {
	_, err := ReadFacts(t.Context(), clusterAt("http://127.0.0.1:1"), FactScope{})
	if err == nil || !strings.HasPrefix(err.Error(), "cannot ask the cluster what it serves: ") {
		t.Errorf("err = %v", err)
	}
}

// TestPrune_RemovesChangingAndSecretFields: without fields that change by themselves or that may not be shown.
func TestPrune_RemovesChangingAndSecretFields(t *testing.T) {
	for name, c := range map[string]struct {
		kind          *factKind
		object, wants string
	}{
		"namespace": {
			namespaces,
			`{apiVersion: v1, kind: Namespace, metadata: {name: a, uid: u, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z",
			  labels: {x: z}, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}, managedFields: [{}]}, status: {phase: Active}}`,
			`{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {x: z}}}`,
		},
		"node": {
			nodeFacts,
			`{apiVersion: v1, kind: Node, metadata: {name: one}, spec: {podCIDR: 10.0.0.0/24, unschedulable: true, taints: [{key: k, value: v, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}]},
			  status: {addresses: [{type: InternalIP, address: 10.0.0.1}], allocatable: {cpu: "2"}, capacity: {cpu: "2"}}}`,
			`{apiVersion: v1, kind: Node, metadata: {name: one}, spec: {unschedulable: true, taints: [{key: k, value: v, effect: NoSchedule}]}, status: {allocatable: {cpu: "2"}}}`,
		},
		"workload": {
			cloneSets,
			`{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: w, namespace: a, ownerReferences: [{apiVersion: v1, kind: K, name: o, uid: u, controller: true, blockOwnerDeletion: true}]},
			  spec: {replicas: 2, template: {spec: {containers: [{name: c, env: [{name: P, value: secret}]}]}}}, status: {readyReplicas: 1, conditions: [{type: T, lastTransitionTime: x}]}}`,
			`{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: w, namespace: a, ownerReferences: [{apiVersion: v1, kind: K, name: o, controller: true}]}, spec: {replicas: 2}, status: {readyReplicas: 1}}`,
		},
		"distribution": {
			resourceDistributions,
			`{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, metadata: {name: d}, spec: {resource: {apiVersion: v1, kind: Secret, metadata: {name: s}, data: {p: c2VjcmV0}}, targets: {allNamespaces: true}}}`,
			`{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, metadata: {name: d}, spec: {resource: {apiVersion: v1, kind: Secret, metadata: {name: s}}, targets: {allNamespaces: true}}}`,
		},
		"service with an address": {
			services, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: 10.1.2.3, selector: {a: b}}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {a: b}}}`,
		},
		"headless service": {
			services, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None, clusterIPs: [None]}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None}}`,
		},
		"claims but no template": {
			unitedDeployments,
			`{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, metadata: {name: u}, spec: {template: {statefulSetTemplate: {spec: {serviceName: s, template: {spec: {}}}}, cloneSetTemplate: {spec: {}}},
			  topology: {subsets: [{name: a, replicas: 2, patch: {x: z}}]}}, status: {subsetStatuses: [{name: a, conditions: [{type: Schedulable, status: "True", lastTransitionTime: x}]}]}}`,
			`{apiVersion: apps.kruise.io/v1beta1, kind: UnitedDeployment, metadata: {name: u}, spec: {template: {statefulSetTemplate: {spec: {serviceName: s}}},
			  topology: {subsets: [{name: a}]}}, status: {subsetStatuses: [{name: a, conditions: [{type: Schedulable, status: "True"}]}]}}`,
		},
		"odd shapes": {
			nodeFacts, `{apiVersion: v1, kind: Node, metadata: {name: one, labels: }, spec: {taints: none, unschedulable: }, status: [allocatable]}`,
			`{apiVersion: v1, kind: Node, metadata: {name: one}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(kruiseObject(t, c.wants), c.kind.prune(kruiseObject(t, c.object))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadFacts_KeepsContentOfImmutableCopies: the content of a ConfigMap is kept where it decides whether
// a copy can be replaced, and of no other object.
func TestReadFacts_KeepsContentOfImmutableCopies(t *testing.T) {
	const owned = `, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, name: d, controller: true}]`
	for text, want := range map[string]*factKind{
		`{metadata: {name: a` + owned + `}, immutable: true}`:  immutableCopies,
		`{metadata: {name: a` + owned + `}, immutable: false}`: copies,
		`{metadata: {name: a}, immutable: true}`:               copies,
	} {
		if got := copies.of(kruiseObject(t, text)); got != want {
			t.Errorf("%s: keeps %s", text, got.mask)
		}
	}
}

// TestReadFacts_FindsPlacements: Kruise's records are enough where Kruise is; elsewhere pods and what
// was rendered before tell.
func TestReadFacts_FindsPlacements(t *testing.T) {
	const (
		state     = "{apiVersion: apps.kruise.io/v1beta1, kind: PersistentPodState, metadata: {name: db, namespace: shop}, spec: {}}"
		annotated = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: far, annotations: {kruise.io/auto-generate-persistent-pod-state: "true", kruise.io/required-persistent-topology: zone}}, spec: {}}`
		plain     = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {}}"
	)
	kruise := map[string]string{"apps.kruise.io": "v1beta1"}
	for name, c := range map[string]struct {
		object string
		served map[string]string
		want   []string
	}{
		"with Kruise":                 {state, kruise, []string{"persistentpodstates shop"}},
		"annotations, with Kruise":    {annotated, kruise, []string{"persistentpodstates far"}},
		"without Kruise":              {state, nil, []string{"configmaps shop kubectl-kruise.dev/source", "pods shop statefulset.kubernetes.io/pod-name"}},
		"annotations, without Kruise": {annotated, nil, []string{"nodes ", "configmaps far kubectl-kruise.dev/source", "pods far statefulset.kubernetes.io/pod-name"}},
		"nothing of the kind":         {plain, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := &factQuestions{stream: []*resource.Resource{parse(t, c.object)}, served: c.served}
			a.places()
			var got []string
			for _, w := range a.list {
				q := w.resource + " " + w.namespace
				if w.selector != "" {
					q += " " + w.selector
				}
				got = append(got, q)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlaces_ChooseTheRightObject(t *testing.T) {
	ours := kruiseObject(t, "{metadata: {labels: {kubectl-kruise.dev/source: persistentpodstate.db}}}")
	others := kruiseObject(t, "{metadata: {labels: {kubectl-kruise.dev/source: sidecarset.mesh}}, spec: {}}")
	if !ofPodStates(ours) || ofPodStates(others) || ofPodStates(kruiseObject(t, "{metadata: {}}")) {
		t.Error("ConfigMaps are chosen wrongly")
	}
	if !hasNode(kruiseObject(t, "{spec: {nodeName: n}}")) || hasNode(others) || hasNode(ours) {
		t.Error("pods are chosen wrongly")
	}
	got := podStates.prune(kruiseObject(t, "{metadata: {name: db}, spec: {targetRef: {name: db}, persistentPodAnnotations: [{key: a}]}, status: {podStates: {db-0: {nodeTopologyLabels: {a: b}, annotations: {c: d}}}}}"))
	if diff := cmp.Diff(kruiseObject(t, "{metadata: {name: db}, spec: {targetRef: {name: db}}, status: {podStates: {db-0: {nodeTopologyLabels: {a: b}}}}}"), got); diff != "" {
		t.Error(diff)
	}
}

// TestQuestions_OfRequestsAskForTheirPods: requests ask for their pods, and for no others.
func TestQuestions_OfRequestsAskForTheirPods(t *testing.T) {
	a := &factQuestions{namespace: "shop", stream: golden.Parse(t, `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: restart}
spec: {podName: web-0, containers: [{name: app}]}
---
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: trace, namespace: other}
spec: {selector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: NotIn, values: [db]}]}}
---
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: faulty}
spec: {selector: {matchExpressions: [{key: tier, operator: Near}]}}
`)}
	a.podsOfRequests()
	type question struct{ namespace, fields, selector string }
	var got []question
	for _, w := range a.list {
		got = append(got, question{w.namespace, w.fields, w.selector})
	}
	want := []question{{"shop", "metadata.name=web-0", ""}, {"other", "", "app=web,tier notin (db)"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(question{})); diff != "" {
		t.Error(diff)
	}
}

// TestReadFacts_KeepsHowPodsRestart: what is kept decides how a container is restarted; what an
// environment holds is not shown.
func TestReadFacts_KeepsHowPodsRestart(t *testing.T) {
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web-0", "uid": "u", "annotations": map[string]any{"secret": "x"}},
		"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "image": "app:1", "env": []any{map[string]any{"name": "PASSWORD", "value": "x"}}}},
			"ephemeralContainers": []any{map[string]any{"name": "tracer", "env": []any{
				map[string]any{"name": "TOKEN", "value": "x"}, map[string]any{"name": "KRUISE_EJOB_ID", "value": "ephemeraljob.trace"},
			}}},
		},
		"status": map[string]any{"containerStatuses": []any{map[string]any{"name": "app", "restartCount": int64(2), "lastState": map[string]any{"a": "b"}}}},
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web-0", "uid": "u"},
		"spec": map[string]any{
			"containers":          []any{map[string]any{"name": "app", "image": "app:1"}},
			"ephemeralContainers": []any{map[string]any{"name": "tracer", "env": []any{map[string]any{"name": "KRUISE_EJOB_ID", "value": "ephemeraljob.trace"}}}},
		},
		"status": map[string]any{"containerStatuses": []any{map[string]any{"name": "app", "restartCount": int64(2)}}},
	}
	if diff := cmp.Diff(want, runningPods.prune(pod)); diff != "" {
		t.Error(diff)
	}
}

// TestReadFacts_SkipsMomentaryFacts: what holds for the moment only is no fact for a file.
func TestReadFacts_SkipsMomentaryFacts(t *testing.T) {
	stream := []*resource.Resource{testKruiseObject("ContainerRecreateRequest", "shop", map[string]any{"podName": "web-0"})}
	lists := map[string][]map[string]any{"/api/v1/namespaces/shop/pods": {named("Pod", "shop", "web-0")}}
	for _, now := range []bool{true, false} {
		res, err := readManifest(t, &fakeCluster{lists: lists}, FactScope{Stream: stream, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if read, said := len(res.Context) == 2, len(res.Skipped) == 1; read != now || said == now {
			t.Errorf("now %v: %v, skipped %q", now, idsOf(res), res.Skipped)
		}
	}
}
