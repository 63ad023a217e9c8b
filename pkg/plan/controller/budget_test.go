package controller

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// pub is a budget in namespace shop.
func pub(name string, spec kruise.PodUnavailableBudgetSpec) *kruise.PodUnavailableBudget {
	return &kruise.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 1}, Spec: spec}
}

var selectWeb = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

func maxUnavailable(text string) kruise.PodUnavailableBudgetSpec {
	v := intstr.Parse(text)
	return kruise.PodUnavailableBudgetSpec{Selector: selectWeb, MaxUnavailable: &v}
}

func minAvailable(text string) kruise.PodUnavailableBudgetSpec {
	v := intstr.Parse(text)
	return kruise.PodUnavailableBudgetSpec{Selector: selectWeb, MinAvailable: &v}
}

// webPods are n ready pods of CloneSet web, with their budget's name.
func webPods(n int) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range n {
		out = append(out, &cluster.Pod{
			Namespace: "shop", Name: "web-" + strconv.Itoa(i), UID: "p" + strconv.Itoa(i), Phase: corev1.PodRunning,
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{kruise.RelatedBudgetAnnotation: "web-pub"},
			Owner:      cluster.Owner{Kind: "CloneSet", Name: "web", UID: "w"},
			Conditions: []cluster.Condition{{Type: string(corev1.PodReady), Status: corev1.ConditionTrue}},
			Containers: []cluster.Container{{Name: "main", Image: "web:1", StatusImage: "web:1", ImageID: "i", Reported: true, Ready: true}},
		})
	}
	return out
}

// cloneSetOf finds a CloneSet of some replicas for every pod.
func cloneSetOf(replicas int32) Workloads {
	w := &cluster.Workload{
		Ref:    cluster.Ref{Group: kruise.Group, Kind: "CloneSet", Namespace: "shop", Name: "web"},
		Object: &kruise.CloneSet{Spec: kruise.CloneSetSpec{Replicas: &replicas}},
	}
	return func(string, cluster.Owner) *cluster.Workload { return w }
}

// guard is a budget with its status up to date.
func guard(spec kruise.PodUnavailableBudgetSpec, pods []*cluster.Pod, of Workloads) *BudgetView {
	v := &BudgetView{Now: labStart, Budget: pub("web-pub", spec), Pods: pods, Workloads: of}
	v.count()
	return v
}

// count makes one pass and keeps its status.
func (v *BudgetView) count() BudgetPass {
	pass := ReconcileBudget(v)
	if pass.Status != nil {
		b := *v.Budget
		b.Status = *pass.Status
		v.Budget = &b
	}
	return pass
}

// ask decides and keeps what is recorded.
func (v *BudgetView) ask(p *cluster.Pod, op kruise.PubOperation) bool {
	verdict, permit := v.Decide(rules.Request{Pod: p, Operation: op})
	if permit != nil {
		permit.Record(&v.Budget.Status)
	}
	return verdict.Allowed
}

func unready(p *cluster.Pod) *cluster.Pod {
	return p.With(cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo(string(corev1.PodReady), corev1.ConditionFalse, "", "")}}, labStart)
}

func TestReconcileBudget_Counts(t *testing.T) {
	for _, c := range []struct {
		name                             string
		spec                             kruise.PodUnavailableBudgetSpec
		pods                             []*cluster.Pod
		of                               Workloads
		total, desired, current, allowed int32
	}{
		{"402: one of five", maxUnavailable("1"), webPods(5), cloneSetOf(5), 5, 4, 5, 1},
		{"404: all", minAvailable("100%"), webPods(5), cloneSetOf(5), 5, 5, 5, 0},
		{"404: 60%", minAvailable("60%"), webPods(5), cloneSetOf(5), 5, 3, 5, 2},
		{"407: four of six", minAvailable("4"), webPods(6), cloneSetOf(6), 6, 4, 6, 2},
		{"a quarter of ten", maxUnavailable("25%"), webPods(9), cloneSetOf(10), 10, 7, 9, 2},
		{"a pod is missing", maxUnavailable("1"), webPods(4), cloneSetOf(5), 5, 4, 4, 0},
		{"more asked for than there shall be", minAvailable("5"), webPods(3), cloneSetOf(3), 3, 5, 3, 0},
		{"409: a DaemonSet voids it", maxUnavailable("1"), webPods(5), daemonSetOf, -1, 0, 5, 5},
		{"411: but not what is counted in pods", minAvailable("4"), webPods(5), daemonSetOf, -1, 4, 5, 1},
		{"an owner that nobody knows", maxUnavailable("1"), webPods(5), func(string, cluster.Owner) *cluster.Workload { return nil }, -1, 0, 5, 5},
		{"no pods", maxUnavailable("1"), nil, cloneSetOf(5), 0, 0, 0, 0},
	} {
		s := guard(c.spec, c.pods, c.of).Budget.Status
		want := kruise.PodUnavailableBudgetStatus{
			ObservedGeneration: 1, TotalReplicas: c.total, DesiredAvailable: c.desired, CurrentAvailable: c.current, UnavailableAllowed: c.allowed,
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, diff)
		}
	}
}

func daemonSetOf(string, cluster.Owner) *cluster.Workload {
	return &cluster.Workload{Ref: cluster.Ref{Group: kruise.Group, Kind: "DaemonSet", Name: "web"}, Object: &kruise.DaemonSet{}}
}

// TestReconcileBudget_Target: a targetRef counts its own pods only, and what the
// target asks for.
func TestReconcileBudget_Target(t *testing.T) {
	one := intstr.FromInt32(1)
	spec := kruise.PodUnavailableBudgetSpec{MaxUnavailable: &one, TargetReference: &kruise.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
	three := int32(3)
	deployment := &cluster.Workload{
		Ref:    cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		Object: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &three}},
	}
	pods := webPods(4)
	for _, p := range pods[:3] {
		p.Owner = cluster.Owner{Kind: "ReplicaSet", Name: "web-1", UID: "rs"}
	}
	of := func(_ string, o cluster.Owner) *cluster.Workload {
		if o.Kind == "CloneSet" {
			return nil
		}
		return deployment
	}
	if s := guard(spec, pods, of).Budget.Status; s.TotalReplicas != 3 || s.CurrentAvailable != 3 || s.UnavailableAllowed != 1 {
		t.Errorf("status %+v", s)
	}
	if s := guard(spec, pods, nil).Budget.Status; s.TotalReplicas != 0 || s.CurrentAvailable != 0 {
		t.Errorf("without the target: %+v", s)
	}
}

// TestReconcileBudget_SumsOwners: two ReplicaSets of one Deployment count once,
// two workloads both.
func TestReconcileBudget_SumsOwners(t *testing.T) {
	two, three := int32(2), int32(3)
	all := map[string]*cluster.Workload{}
	for _, uid := range []string{"rs1", "rs2"} {
		all[uid] = &cluster.Workload{Ref: cluster.Ref{Kind: "Deployment", Name: "web"}, Object: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &two}}}
	}
	all["sts"] = &cluster.Workload{Ref: cluster.Ref{Kind: "StatefulSet", Name: "web"}, Object: &kruise.StatefulSet{Spec: kruise.StatefulSetSpec{Replicas: &three}}}
	pods := webPods(6)
	for i, uid := range []string{"rs1", "rs2", "sts", "sts", "sts"} {
		pods[i].Owner = cluster.Owner{Kind: "Any", UID: uid}
	}
	pods[5].Owner = cluster.Owner{}
	v := guard(maxUnavailable("1"), pods, func(_ string, o cluster.Owner) *cluster.Workload { return all[o.UID] })
	if s := v.Budget.Status; s.TotalReplicas != 5 || s.CurrentAvailable != 6 {
		t.Errorf("status %+v", s)
	}
}

// TestBudget_PermitEndsWithThePod are cases 402 and 404: one permit, then refusals until the
// pod is gone or, after an update, its ten seconds are over.
func TestBudget_PermitEndsWithThePod(t *testing.T) {
	pods := webPods(5)
	v := guard(maxUnavailable("1"), pods, cloneSetOf(5))
	if !v.ask(pods[0], kruise.PubDeleteOperation) || v.ask(pods[1], kruise.PubDeleteOperation) || v.ask(pods[1], kruise.PubEvictOperation) {
		t.Error("not one permit")
	}
	if !v.ask(pods[0], kruise.PubDeleteOperation) || v.Budget.Status.UnavailableAllowed != 0 {
		t.Error("a pod on record needs another permit")
	}
	if names := slices.Collect(maps.Keys(v.Budget.Status.DisruptedPods)); !slices.Equal(names, []string{"web-0"}) || v.Budget.Status.UnavailablePods != nil {
		t.Errorf("record %+v", v.Budget.Status)
	}
	// The pod begins to go: its record is dropped, and it is missed.
	gone := *pods[0]
	gone.Deleting = true
	v.Pods = append([]*cluster.Pod{&gone}, pods[1:]...)
	if pass := v.count(); pass.RequeueAfter != 0 || v.Budget.Status.DisruptedPods != nil || v.Budget.Status.CurrentAvailable != 4 || v.ask(pods[1], kruise.PubDeleteOperation) {
		t.Errorf("%+v, again %v", v.Budget.Status, pass.RequeueAfter)
	}
	// Its replacement is ready.
	v.Pods = slices.Concat(webPods(6)[5:], pods[1:])
	v.count()
	if !v.ask(pods[1], kruise.PubDeleteOperation) {
		t.Error("the replacement does not free the budget")
	}
}

func TestBudget_UpdatePermitLasts(t *testing.T) {
	pods := webPods(5)
	v := guard(maxUnavailable("1"), pods, cloneSetOf(5))
	v.Now = labStart.Add(700 * time.Millisecond)
	if !v.ask(pods[0], kruise.PubUpdateOperation) || v.ask(pods[1], kruise.PubUpdateOperation) {
		t.Error("not one permit")
	}
	// The pod was down and is ready again: it stays recorded.
	v.Now = labStart.Add(3 * time.Second)
	if pass := v.count(); pass.RequeueAfter != 7*time.Second || v.Budget.Status.CurrentAvailable != 4 || v.ask(pods[1], kruise.PubUpdateOperation) {
		t.Errorf("after 3 s: again %v, %+v", pass.RequeueAfter, v.Budget.Status)
	}
	v.Now = labStart.Add(10 * time.Second)
	if pass := v.count(); pass.RequeueAfter != 0 || v.Budget.Status.UnavailablePods != nil || !v.ask(pods[1], kruise.PubUpdateOperation) {
		t.Errorf("after 10 s: again %v, %+v", pass.RequeueAfter, v.Budget.Status)
	}
}

func TestBudget_DisruptionPermitLasts(t *testing.T) {
	pods := webPods(5)
	v := guard(maxUnavailable("2"), pods, cloneSetOf(5))
	v.ask(pods[0], kruise.PubUpdateOperation)
	v.Now = labStart.Add(4 * time.Second)
	v.ask(pods[1], kruise.PubEvictOperation)
	if pass := v.count(); pass.Status != nil && pass.RequeueAfter != 6*time.Second {
		t.Errorf("again %v", pass.RequeueAfter)
	}
	v.Now = labStart.Add(12 * time.Second)
	if pass := v.count(); pass.RequeueAfter != 12*time.Second || len(v.Budget.Status.DisruptedPods) != 1 {
		t.Errorf("again %v, %+v", pass.RequeueAfter, v.Budget.Status)
	}
}

// TestBudget_RecordsOnlyUpdatePermitsAsUpdates: of all permits, only those of updates are recorded as
// such.
func TestBudget_RecordsOnlyUpdatePermitsAsUpdates(t *testing.T) {
	spec := maxUnavailable("1")
	spec.ProtectOperations = []kruise.PubOperation{kruise.PubResizeOperation}
	pods := webPods(5)
	v := guard(spec, pods, cloneSetOf(5))
	v.ask(pods[0], kruise.PubResizeOperation)
	if s := v.Budget.Status; len(s.DisruptedPods) != 1 || s.UnavailablePods != nil {
		t.Errorf("record %+v", s)
	}
}

// TestBudget_StatusIsAuthority: between two passes of its controller the webhook
// does not see what pods do (docs/kruise/protection.md#podunavailablebudget).
func TestBudget_StatusIsAuthority(t *testing.T) {
	pods := webPods(5)
	v := guard(maxUnavailable("1"), pods, cloneSetOf(5))
	v.Pods = append([]*cluster.Pod{unready(pods[0])}, pods[1:]...)
	if !v.ask(pods[1], kruise.PubDeleteOperation) {
		t.Error("the status of before says that one may go")
	}
	if s := v.Budget.Status; s.CurrentAvailable != 5 {
		t.Errorf("status %+v", s)
	}
}

func TestBudget_LetsThrough(t *testing.T) {
	pods := webPods(5)
	v := guard(minAvailable("100%"), pods, cloneSetOf(5))
	exempt, unrelated := *pods[1], *pods[2]
	exempt.Annotations = map[string]string{kruise.RelatedBudgetAnnotation: "web-pub", kruise.NoProtectAnnotation: "true"}
	unrelated.Annotations = nil
	for name, c := range map[string]struct {
		pod  *cluster.Pod
		want bool
	}{
		"a ready pod": {pods[0], false}, "an unready one": {unready(pods[0]), true},
		"an exempt one": {&exempt, true}, "one without a budget": {&unrelated, true},
		"one in the middle of an update": {inPlaceUpdating(pods[0]), true}, "one whose update is done": {inPlaceUpdated(pods[0]), false},
	} {
		if got := v.ask(c.pod, kruise.PubDeleteOperation); got != c.want {
			t.Errorf("%s: allowed %v", name, got)
		}
	}
	if verdict, permit := (*BudgetView)(nil).Decide(rules.Request{Pod: pods[0], Operation: kruise.PubDeleteOperation}); !verdict.Allowed || permit != nil {
		t.Error("a budget that is gone refuses")
	}
	if verdict, _ := v.Decide(rules.Request{Pod: pods[0], Operation: kruise.PubUpdateOperation, Harmless: true}); !verdict.Allowed {
		t.Error("a harmless update is refused")
	}
}

// inPlaceUpdating still runs the image of before.
func inPlaceUpdating(p *cluster.Pod) *cluster.Pod {
	state := `{"revision":"web-2","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{"main":{"imageID":"i"}}}`
	return p.With(cluster.PodChange{Images: map[string]string{"main": "web:2"}, Annotations: map[string]*string{kruise.InPlaceUpdateStateAnnotation: &state}}, labStart)
}

func inPlaceUpdated(p *cluster.Pod) *cluster.Pod {
	out := *inPlaceUpdating(p)
	out.Containers = []cluster.Container{{Name: "main", Image: "web:2", StatusImage: "web:2", ImageID: "j", Reported: true, Ready: true}}
	return &out
}

// TestBudget_LeavesOutPodsWithUpgradingSidecars: a pod whose sidecar is being upgraded does not count.
func TestBudget_LeavesOutPodsWithUpgradingSidecars(t *testing.T) {
	set := storedSet(t, "meshset", mesh)
	pods := webPods(3)
	for _, p := range pods {
		p.Annotations[kruise.SidecarSetInjectedListAnnotation] = "meshset"
		p.Containers = append(p.Containers, cluster.Container{Name: "mesh", Image: "mesh:1.0", StatusImage: "mesh:1.0", ImageID: "m", Reported: true, Ready: true})
	}
	state := `{"meshset":{"lastContainerStatuses":{"mesh":{"imageID":"m"}}}}`
	pods[0] = pods[0].With(cluster.PodChange{Images: map[string]string{"mesh": "mesh:2.0"}, Annotations: map[string]*string{kruise.SidecarSetInPlaceUpdateStateAnnotation: &state}}, labStart)
	v := guard(maxUnavailable("2"), pods, cloneSetOf(3))
	if v.Budget.Status.CurrentAvailable != 3 {
		t.Errorf("without the set: %+v", v.Budget.Status)
	}
	v.SidecarSets = []*cluster.Workload{set}
	v.count()
	if v.Budget.Status.CurrentAvailable != 2 {
		t.Errorf("with the set: %+v", v.Budget.Status)
	}
}

// TestBudget_NamesItselfInOlderPods: pods from before the budget get its name.
func TestBudget_NamesItselfInOlderPods(t *testing.T) {
	pods := webPods(3)
	pods[1].Annotations, pods[2].Labels = nil, nil
	pass := ReconcileBudget(&BudgetView{Now: labStart, Budget: pub("web-pub", maxUnavailable("1")), Pods: pods, Workloads: cloneSetOf(3)})
	if len(pass.Relate) != 1 || pass.Relate[0] != pods[1] {
		t.Errorf("relates %v", pass.Relate)
	}
}

// TestBudget_SecondPassWritesNothing: a second pass over the same pods writes nothing.
func TestBudget_SecondPassWritesNothing(t *testing.T) {
	v := guard(maxUnavailable("1"), webPods(3), cloneSetOf(3))
	if pass := v.count(); pass.Status != nil || pass.RequeueAfter != 0 || pass.Relate != nil {
		t.Errorf("%+v", pass)
	}
}

func TestHarmless(t *testing.T) {
	p := webPods(1)[0]
	value := "x"
	held := cluster.PodChange{Labels: map[string]*string{kruise.UnavailablePodLabelPrefix + "me": &value}}
	for name, c := range map[string]struct {
		before *cluster.Pod
		change cluster.PodChange
		want   bool
	}{
		"a label":                       {p, cluster.PodChange{Labels: map[string]*string{"a": &value}}, true},
		"a condition":                   {p, cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo("a", "True", "", "")}}, true},
		"an image":                      {p, cluster.PodChange{Images: map[string]string{"main": "web:2"}}, false},
		"the label of unavailability":   {p, held, false},
		"another, where there is one":   {p.With(held, labStart), held, true},
		"an image that is there anyway": {p, cluster.PodChange{Images: map[string]string{"main": "web:1"}}, true},
	} {
		if got := Harmless(c.before, c.before.With(c.change, labStart)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
