package controller

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// storedSet reads a SidecarSet as the webhook stores it; body is its spec.
func storedSet(tb testing.TB, name, body string) *cluster.Workload {
	tb.Helper()
	w := stored(tb, "apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: "+name+", resourceVersion: '1000'}\nspec:\n"+indent(body))
	w, err := StoredSidecarSet(w)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func node(tb testing.TB, text string) *tree.Node {
	tb.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return n.YNode()
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

const mesh = `
selector: {matchLabels: {app: web}}
containers: [{name: mesh, image: "mesh:1.0"}]
`

func admission(tb testing.TB, s AdmissionInput) *Admission {
	tb.Helper()
	a, err := NewAdmission(s)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func sets(list ...*cluster.Workload) AdmissionInput {
	var s AdmissionInput
	for _, w := range list {
		s.SidecarSets = append(s.SidecarSets, SidecarSource{Workload: w})
	}
	return s
}

// webTemplate is a pod template; extra goes into its spec.
func webTemplate(tb testing.TB, extra string) map[string]any {
	tb.Helper()
	n := node(tb, "metadata: {labels: {app: web}}\nspec:\n  containers: [{name: main, image: 'web:1.0'}]\n"+extra)
	v, _ := tree.Value(n).(map[string]any)
	return v
}

var ofCloneSet = PodRequest{Namespace: "shop", Name: "web-abcde", Owner: cluster.Ref{Group: kruise.Group, Kind: "CloneSet", Namespace: "shop", Name: "web"}}

func cast1(t *testing.T, a *Admission, template map[string]any, c CreatePod, n PodRequest) *cluster.Pod {
	t.Helper()
	p, err := a.PodFactory(template).Pod(c, n, "abcde", labStart)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func imagesOf(p *cluster.Pod) string {
	var out []string
	for _, c := range p.Containers {
		out = append(out, c.Name+"="+c.Image)
	}
	return strings.Join(out, " ")
}

func TestPodFactory_InjectsSidecars(t *testing.T) {
	set := storedSet(t, "meshset", mesh)
	set.Object.(*kruise.SidecarSet).Status.LatestRevision = "meshset-7bd6fbfb77"
	p := cast1(t, admission(t, sets(set)), webTemplate(t, ""), CreatePod{
		IDLabels: []string{kruise.CloneSetInstanceIDLabel}, Labels: map[string]string{"controller-revision-hash": "web-1"},
		Annotations: map[string]string{"a": "b"}, Gates: []string{kruise.InPlaceUpdateReady},
	}, ofCloneSet)
	want := &cluster.Pod{
		Namespace: "shop", Name: "web-abcde", Created: labStart, Phase: corev1.PodPending,
		Labels:         map[string]string{"app": "web", kruise.CloneSetInstanceIDLabel: "abcde", "controller-revision-hash": "web-1"},
		ReadinessGates: []string{kruise.InPlaceUpdateReady, kruise.KruisePodReady},
		Conditions:     []cluster.Condition{{Type: kruise.KruisePodReady, Status: corev1.ConditionTrue, Since: labStart}},
		Containers:     []cluster.Container{{Name: "mesh", Image: "mesh:1.0"}, {Name: "main", Image: "web:1.0"}},
		InitContainers: []cluster.Container{},
		Annotations: map[string]string{
			"a": "b",
			// As in case 301, but for the name of the set.
			kruise.SidecarSetHashAnnotation:             `{"meshset":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"6d6cvxz49vx22245bb54v8d84v4c9v6cvbb8dv44w2d4ccc79d4z2d7z84wfxbz6","sidecarSetName":"meshset","sidecarList":["mesh"],"controllerRevision":"meshset-7bd6fbfb77"}}`,
			kruise.SidecarSetHashWithoutImageAnnotation: `{"meshset":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"d99czw954wfcz9wbd9cw69vd5v7d52xz6c2v8xfbxvbvb657xbwxzbcc2xzvc49b","sidecarSetName":"meshset","sidecarList":["mesh"]}}`,
			kruise.SidecarSetInjectedListAnnotation:     "meshset",
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPodFactory_KeepsTheTime: the second pod of a mould shares what is the same, and has
// its own second.
func TestPodFactory_KeepsTheTime(t *testing.T) {
	m := admission(t, sets(storedSet(t, "meshset", mesh))).PodFactory(webTemplate(t, ""))
	var pods []*cluster.Pod
	for _, d := range []time.Duration{0, 300 * time.Millisecond, 1200 * time.Millisecond} {
		p, err := m.Pod(CreatePod{}, ofCloneSet, "", labStart.Add(d))
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, p)
	}
	hash := func(i int) string { return pods[i].Annotations[kruise.SidecarSetHashAnnotation] }
	if hash(0) != hash(1) || !strings.Contains(hash(2), "12:00:01Z") {
		t.Errorf("hashes:\n%s\n%s\n%s", hash(0), hash(1), hash(2))
	}
	if &pods[0].Containers[0] != &pods[2].Containers[0] {
		t.Error("the containers are not shared")
	}
	pods[0].Labels["x"] = "y"
	if pods[1].Labels["x"] != "" {
		t.Error("labels are shared")
	}
}

// TestPodFactory_PerPod: each pod is matched by itself.
func TestPodFactory_PerPod(t *testing.T) {
	gold := storedSet(t, "gold", "selector: {matchLabels: {tier: gold}}\ncontainers: [{name: side, image: 'side:gold'}]")
	a := admission(t, sets(gold))
	m := a.PodFactory(webTemplate(t, ""))
	for tier, want := range map[string]string{"gold": "side=side:gold main=web:1.0", "": "main=web:1.0"} {
		p, err := m.Pod(CreatePod{Labels: map[string]string{"tier": tier}}, ofCloneSet, "", labStart)
		if err != nil || imagesOf(p) != want {
			t.Errorf("tier %q: %s, %v", tier, imagesOf(p), err)
		}
	}
}

func TestAdmission_Gate(t *testing.T) {
	deployment := PodRequest{Namespace: "shop", Owner: cluster.Ref{Group: "apps", Kind: "Deployment"}}
	for _, c := range []struct {
		name  string
		every bool
		of    PodRequest
		extra string
		want  []string
	}{
		{"a Kruise workload", false, ofCloneSet, "", []string{kruise.KruisePodReady}},
		{"another", false, deployment, "", nil},
		{"another, with the gate", true, deployment, "", []string{kruise.KruisePodReady}},
		{"a pod of its own", true, PodRequest{}, "", []string{kruise.KruisePodReady}},
		{"in the template", false, ofCloneSet, "  readinessGates: [{conditionType: KruisePodReady}, {conditionType: Own}]", []string{"Own", kruise.KruisePodReady}},
		{"beside another", false, deployment, "  readinessGates: [{conditionType: Own}]", []string{"Own"}},
	} {
		p := cast1(t, admission(t, AdmissionInput{EveryPodReady: c.every}), webTemplate(t, c.extra), CreatePod{}, c.of)
		if !slices.Equal(p.ReadinessGates, c.want) {
			t.Errorf("%s: gates %v, want %v", c.name, p.ReadinessGates, c.want)
		}
		if open := len(p.Conditions) == 1; open != slices.Contains(c.want, kruise.KruisePodReady) {
			t.Errorf("%s: conditions %v", c.name, p.Conditions)
		}
	}
}

// TestAdmission_Priority is worked example E13 (docs/kruise/sidecarset.md#worked-examples).
func TestAdmission_Priority(t *testing.T) {
	side := storedSet(t, "s", "selector: {matchLabels: {app: web}}\ncontainers: [{name: side, image: 'side:1', env: [{name: KRUISE_CONTAINER_PRIORITY, value: '1'}]}]")
	for _, c := range []struct {
		annotations map[string]string
		want        string
	}{
		{nil, "side 1, main 0"},
		{map[string]string{kruise.ContainerLaunchPriorityAnnotation: "Ordered"}, "side 0, main -1"},
	} {
		p := cast1(t, admission(t, sets(side)), webTemplate(t, ""), CreatePod{Annotations: c.annotations}, ofCloneSet)
		var got []string
		for _, container := range p.Containers {
			if container.Priority == nil {
				t.Fatalf("%s has no priority", container.Name)
			}
			got = append(got, container.Name+" "+strconv.Itoa(*container.Priority))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v: %v, want %s", c.annotations, got, c.want)
		}
	}
	bad := webTemplate(t, "")
	main := bad["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	main["env"] = []any{map[string]any{"name": kruise.ContainerPriorityEnv, "value": "high"}}
	if _, err := admission(t, sets(side)).PodFactory(bad).Pod(CreatePod{}, ofCloneSet, "", labStart); err == nil || !strings.Contains(err.Error(), "not an integer") {
		t.Errorf("an unreadable priority: %v", err)
	}
}

// TestAdmission_HotUpgrade is worked example E10.
func TestAdmission_HotUpgrade(t *testing.T) {
	set := storedSet(t, "hotset", "selector: {matchLabels: {app: web}}\ncontainers: [{name: mesh, image: 'mesh:1.0', upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: 'mesh:empty'}}]")
	p := cast1(t, admission(t, sets(set)), webTemplate(t, ""), CreatePod{}, ofCloneSet)
	if got := imagesOf(p); got != "mesh-1=mesh:1.0 mesh-2=mesh:empty main=web:1.0" {
		t.Errorf("images %s", got)
	}
	for key, want := range map[string]string{
		kruise.SidecarSetWorkingHotUpgradeAnnotation:           `{"mesh":"mesh-1"}`,
		kruise.SidecarSetVersionAnnotationPrefix + "mesh-1":    "1",
		kruise.SidecarSetVersionAltAnnotationPrefix + "mesh-1": "0",
		kruise.SidecarSetVersionAnnotationPrefix + "mesh-2":    "0",
		kruise.SidecarSetVersionAltAnnotationPrefix + "mesh-2": "1",
	} {
		if got := p.Annotations[key]; got != want {
			t.Errorf("annotation %s: %q, want %q", key, got, want)
		}
	}
}

// TestAdmission_Namespaces: a set that is bound to one namespace stays there.
func TestAdmission_Namespaces(t *testing.T) {
	s := sets(storedSet(t, "here", "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}\n"+strings.TrimSpace(mesh)))
	s.Namespaces = map[string]map[string]string{"shop": {kruise.NamespaceNameLabel: "shop"}, "other": {kruise.NamespaceNameLabel: "other"}}
	for ns, want := range map[string]int{"shop": 2, "other": 1} {
		n := ofCloneSet
		n.Namespace = ns
		if p := cast1(t, admission(t, s), webTemplate(t, ""), CreatePod{}, n); len(p.Containers) != want {
			t.Errorf("%s: %s", ns, imagesOf(p))
		}
	}
}

// TestAdmission_StoredRevision: injectionStrategy.revision injects an older
// content, with that revision's own hashes.
func TestAdmission_StoredRevision(t *testing.T) {
	old := storedSet(t, "meshset", mesh)
	now := storedSet(t, "meshset", strings.Replace(mesh, "1.0", "2.0", 1)+"injectionStrategy: {revision: {customVersion: stable}}")
	stored := cluster.Revision{Name: "meshset-1", Number: 1, Template: joinedValues(old.Template, map[string]any{"customVersion": "stable"})}
	s := sets(now)
	s.SidecarSets[0].Revisions = []cluster.Revision{stored}
	p := cast1(t, admission(t, s), webTemplate(t, ""), CreatePod{}, ofCloneSet)
	if got := imagesOf(p); got != "mesh=mesh:1.0 main=web:1.0" {
		t.Errorf("images %s", got)
	}
	record := p.Annotations[kruise.SidecarSetHashAnnotation]
	if !strings.Contains(record, old.Annotations[kruise.SidecarSetHashAnnotation]) || !strings.Contains(record, `"controllerRevision":"meshset-1"`) {
		t.Errorf("record %s", record)
	}
	s.SidecarSets[0].Revisions = nil
	if _, err := admission(t, s).PodFactory(webTemplate(t, "")).Pod(CreatePod{}, ofCloneSet, "", labStart); err == nil {
		t.Error("a revision that is not stored was injected")
	}
}

func joinedValues(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// TestAdmission_Budget: pods learn at creation which budget they have.
func TestAdmission_Budget(t *testing.T) {
	bySelector := pub("by-selector", kruise.PodUnavailableBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}})
	byTarget := pub("by-target", kruise.PodUnavailableBudgetSpec{TargetReference: &kruise.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}})
	elsewhere := pub("elsewhere", bySelector.Spec)
	elsewhere.Namespace = "other"
	deployment := PodRequest{Namespace: "shop", Owner: cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}
	for _, c := range []struct {
		name    string
		budgets []*kruise.PodUnavailableBudget
		of      PodRequest
		want    string
	}{
		{"selector", []*kruise.PodUnavailableBudget{bySelector}, ofCloneSet, "by-selector"},
		{"target", []*kruise.PodUnavailableBudget{byTarget}, deployment, "by-target"},
		{"another target", []*kruise.PodUnavailableBudget{byTarget}, ofCloneSet, ""},
		{"another namespace", []*kruise.PodUnavailableBudget{elsewhere}, ofCloneSet, ""},
		{"an empty selector", []*kruise.PodUnavailableBudget{pub("all", kruise.PodUnavailableBudgetSpec{Selector: &metav1.LabelSelector{}})}, ofCloneSet, ""},
	} {
		p := cast1(t, admission(t, AdmissionInput{Budgets: c.budgets}), webTemplate(t, ""), CreatePod{}, c.of)
		if p.Annotations[kruise.RelatedBudgetAnnotation] != c.want || p.Annotations[kruise.RelatedBudgetOlderAnnotation] != c.want {
			t.Errorf("%s: annotations %v", c.name, p.Annotations)
		}
	}
}

// TestAdmit is the same for a pod as the API server has it.
func TestAdmit(t *testing.T) {
	set := storedSet(t, "meshset", "selector: {matchLabels: {app: web}}\ncontainers: [{name: mesh, image: 'mesh:1.0', env: [{name: KRUISE_CONTAINER_PRIORITY, value: '1'}]}]")
	s := sets(set)
	s.Budgets = []*kruise.PodUnavailableBudget{pub("web-pub", kruise.PodUnavailableBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}})}
	in := node(t, "metadata: {name: web-abcde, labels: {app: web}}\nspec: {containers: [{name: main, image: 'web:1.0'}]}")
	before := tree.Clone(in)
	n := ofCloneSet
	n.Labels = map[string]string{"app": "web"}
	out, err := admission(t, s).Admit(in, n, labStart)
	if err != nil {
		t.Fatal(err)
	}
	if !tree.Equal(in, before) {
		t.Error("the pod that came in was changed")
	}
	var p corev1.Pod
	if _, err := tree.Decode(out, &p); err != nil {
		t.Fatal(err)
	}
	got := cluster.ReadPod(&p)
	if imagesOf(got) != "mesh=mesh:1.0 main=web:1.0" || got.Annotations[kruise.RelatedBudgetAnnotation] != "web-pub" || !slices.Equal(got.ReadinessGates, []string{kruise.KruisePodReady}) {
		t.Errorf("admitted %+v", got)
	}
	barrier := p.Spec.Containers[1].Env[0].ValueFrom.ConfigMapKeyRef
	if barrier.Name != "web-abcde-barrier" || barrier.Key != "p_0" {
		t.Errorf("barrier %+v", barrier)
	}
}

func TestNewAdmission_RefusesSetWithoutName(t *testing.T) {
	if _, err := NewAdmission(sets(&cluster.Workload{Template: map[string]any{}})); err == nil {
		t.Error("a SidecarSet without a name was compiled")
	}
}

func TestRefuseDeletion(t *testing.T) {
	four, none := int32(4), int32(0)
	for _, c := range []struct {
		group, kind, mode string
		content           Content
		want              string
	}{
		{kruise.Group, "CloneSet", "Always", Content{}, "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always"},
		{kruise.Group, "CloneSet", "Cascading", Content{Replicas: &four}, "=Cascading and replicas 4>0"},
		{kruise.Group, "CloneSet", "Cascading", Content{Replicas: &none}, ""},
		{kruise.Group, "CloneSet", "Cascading", Content{}, ""},
		{kruise.Group, "CloneSet", "Sometimes", Content{Replicas: &four}, ""},
		{kruise.Group, "CloneSet", "", Content{Replicas: &four}, ""},
		{kruise.Group, "DaemonSet", "Always", Content{}, ""},
		{"apps", "Deployment", "Cascading", Content{Replicas: &four}, "replicas 4>0"},
		{"", "Namespace", "Cascading", Content{Pods: 2, Claims: 1}, "active pods 2>0"},
		{"", "Namespace", "Cascading", Content{Claims: 1}, `"Bound" status pvc 1>0`},
		{"", "Namespace", "Always", Content{}, "=Always"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Cascading", Content{}, "feature-gate DeletionProtectionForCRDCascadingGate is not enabled"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Cascading", Content{CountsObjects: true}, ""},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Cascading", Content{CountsObjects: true, Objects: 3}, "=Cascading and active CRs 3>0"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Always", Content{}, "=Always"},
		{"", "Service", "Cascading", Content{Pods: 1}, ""},
		{"", "Service", "Always", Content{}, "=Always"},
		{"networking.k8s.io", "Ingress", "Always", Content{}, "=Always"},
	} {
		got := RefuseDeletion(cluster.Ref{Group: c.group, Kind: c.kind}, map[string]string{kruise.DeleteProtectionLabel: c.mode}, c.content)
		if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.kind, c.mode, got, c.want)
		}
	}
}

// TestBudgetFinder_FindsTheFirstThatCovers asks for random pods among random budgets, and compares with
// asking one after the other.
func TestBudgetFinder_FindsTheFirstThatCovers(t *testing.T) {
	specs := []kruise.PodUnavailableBudgetSpec{
		{Selector: &metav1.LabelSelector{}},
		{},
		{TargetReference: &kruise.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
		{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
		{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "b", "tier": "x"}}},
		{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a", "c"}}}}},
		{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}}},
	}
	r := rand.New(rand.NewPCG(2, 9))
	found := map[bool]int{}
	for range 500 {
		var budgets []*kruise.PodUnavailableBudget
		for i := range r.IntN(5) {
			b := pub(fmt.Sprint("b", i), specs[r.IntN(len(specs))])
			b.Namespace = []string{"shop", "shop", "other"}[r.IntN(3)]
			budgets = append(budgets, b)
		}
		finder := newBudgetFinder(budgets)
		for range 10 {
			n := PodRequest{Namespace: "shop", Labels: map[string]string{"app": []string{"a", "b", "c"}[r.IntN(3)]}, Owner: cluster.Ref{Group: "apps", Kind: "Deployment", Name: []string{"web", "api"}[r.IntN(2)]}}
			if r.IntN(2) == 0 {
				n.Labels["tier"] = "x"
			}
			want := ""
			for _, b := range budgets {
				if b.Namespace == n.Namespace && covering(b).covers(n.Labels, n.Owner) {
					want = b.Name
					break
				}
			}
			if got := finder.of(n); got != want {
				t.Fatalf("%v of %v is %q, want %q", n.Labels, n.Owner, got, want)
			}
			found[want != ""]++
		}
	}
	if found[true] < 1000 || found[false] < 1000 {
		t.Errorf("found and not found: %v", found)
	}
}
