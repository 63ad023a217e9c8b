package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var spreadNow = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// newSpread reads "a=3 b=5 c": subsets with their limits, for a target such as
// "apps/v1 Deployment".
func newSpread(target, subsets string, replicas int) *rules.Spread {
	version, kind, _ := strings.Cut(target, " ")
	s := &rules.Spread{
		Name: "ws", Replicas: replicas, Latest: rules.VersionIgnored, Now: spreadNow,
		Spec: &kruise.WorkloadSpreadSpec{TargetReference: &kruise.TargetReference{APIVersion: version, Kind: kind, Name: "web"}},
	}
	for text := range strings.FieldsSeq(subsets) {
		name, limit, limited := strings.Cut(text, "=")
		subset := kruise.WorkloadSpreadSubset{Name: name}
		if limited {
			v := intstr.Parse(limit)
			subset.MaxReplicas = &v
		}
		s.Spec.Subsets = append(s.Spec.Subsets, subset)
	}
	return s
}

const cloneSetTarget, deploymentTarget = "apps.kruise.io/v1alpha1 CloneSet", "apps/v1 Deployment"

// spreadPods reads "a b -": bound, ready pods with their subsets, - for none. A
// pod is a second older than the next, and a/new has the template hash new.
func spreadPods(text string) (pods []*cluster.Pod) {
	for i, word := range strings.Fields(text) {
		subset, hash, _ := strings.Cut(word, "/")
		p := &cluster.Pod{
			Name: fmt.Sprintf("p%d", i), Node: "n", Phase: corev1.PodRunning, Created: spreadNow.Add(time.Duration(i-60) * time.Second),
			Labels: map[string]string{}, Annotations: map[string]string{},
			Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue, Since: spreadNow.Add(time.Duration(i-30) * time.Second)}},
		}
		if subset != "-" {
			p.Annotations[kruise.MatchedWorkloadSpreadAnnotation] = spread.Match{Spread: "ws", Subset: subset}.String()
		}
		if hash != "" {
			p.Labels["pod-template-hash"] = hash
		}
		pods = append(pods, p)
	}
	return pods
}

// TestSpread_Choose creates pods one after the other.
func TestSpread_Choose(t *testing.T) {
	for _, c := range []struct {
		name            string
		target, subsets string
		replicas, n     int
		want            string
	}{
		{"in order", cloneSetTarget, "a=3 b=5 c", 10, 10, "a a a b b b b b c c"},
		{"percent (046)", cloneSetTarget, "a=30% b=70%", 5, 5, "a a b b b"},
		{"percent of a CloneSet in v1beta1 (002)", "apps.kruise.io/v1beta1 CloneSet", "a=30% b=70%", 5, 3, "- - -"},
		{"numbers of a CloneSet in v1beta1 (010)", "apps.kruise.io/v1beta1 CloneSet", "a=2 b=2", 6, 6, "a a b b - -"},
		{"percent of a Deployment (047)", deploymentTarget, "a=40% b=60%", 6, 6, "a a a b b b"},
		{"percent of a Job (008)", "batch/v1 Job", "a=50% b=50%", 4, 4, "a a b b"},
		{"open before limited (042)", cloneSetTarget, "a b=2", 4, 4, "a a a a"},
		{"first takes none (014)", cloneSetTarget, "a=0 b", 2, 2, "b b"},
		{"one open subset (012)", cloneSetTarget, "a", 2, 2, "a a"},
		{"one limited subset (013)", cloneSetTarget, "a=2", 4, 4, "a a - -"},
		{"ordinals (005)", "apps/v1 StatefulSet", "a=3 b=2 c", 7, 7, "a a a b b c c"},
		{"ordinals without room", "apps.kruise.io/v1beta1 StatefulSet", "a=1", 2, 2, "a -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpread(c.target, c.subsets, c.replicas)
			var got []string
			for i := range c.n {
				p := spreadPods("-")[0]
				p.Name = fmt.Sprintf("web-%d", i)
				choice := s.Choose(p)
				name := "-"
				if choice.Subset != spread.None {
					name = s.Spec.Subsets[choice.Subset].Name
				}
				p = spreadPods(name)[0]
				s.Pods = append(s.Pods, p)
				if choice.Status != nil {
					s.Status = choice.Status
				}
				if limited := name != "-" && s.Spec.Subsets[choice.Subset].MaxReplicas != nil && !strings.HasSuffix(c.target, "StatefulSet"); choice.Counted != limited {
					t.Errorf("pod %d in %s: counted %v", i, name, choice.Counted)
				}
				got = append(got, name)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

// TestSpread_ChooseByVersion: each version of a Deployment has limits of its own.
func TestSpread_ChooseByVersion(t *testing.T) {
	s := newSpread(deploymentTarget, "a=1 b", 4)
	s.Pods = spreadPods("a/old b/old b/old")
	s.Status = s.Count()
	for _, c := range []struct{ version, want string }{{"new", "a"}, {"old", "b"}} {
		got := s.Choose(spreadPods("-/" + c.version)[0])
		if name := s.Spec.Subsets[got.Subset].Name; name != c.want {
			t.Errorf("%s: got %s, want %s", c.version, name, c.want)
		}
		if noted := got.Status != nil && got.Status.VersionedSubsetStatuses[c.version] != nil; noted != got.Counted || noted != (c.want == "a") {
			t.Errorf("%s: noted %v, counted %v", c.version, noted, got.Counted)
		}
	}
}

func TestSpread_Admits(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"track": "main"}}
	for _, c := range []struct {
		name   string
		filter *kruise.TargetFilter
		admits bool
		counts int
	}{
		{"no filter", nil, true, 2},
		{"selector", &kruise.TargetFilter{Selector: selector}, true, 1},
		{"other selector (029)", &kruise.TargetFilter{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"track": "x"}}}, false, 0},
		{"no selector (030)", &kruise.TargetFilter{ReplicasPathList: []string{"spec.replicas"}}, false, 2},
		{"broken selector", &kruise.TargetFilter{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpread(cloneSetTarget, "a=1 b", 2)
			s.Spec.TargetFilter = c.filter
			s.Pods = spreadPods("- -")
			s.Pods[0].Labels["track"] = "main"
			if got := s.Admits(s.Pods[0].Labels); got != c.admits {
				t.Errorf("admits: %v", got)
			}
			if (s.Choose(s.Pods[0]).Subset != spread.None) != c.admits {
				t.Error("the choice disagrees")
			}
			if got := len(s.Unplaced()); got != c.counts {
				t.Errorf("%d pods count, want %d", got, c.counts)
			}
		})
	}
}

// TestSpread_Costs: costs are those of the recordings named.
func TestSpread_Costs(t *testing.T) {
	for _, c := range []struct {
		name            string
		target, subsets string
		replicas        int
		latest          string
		pods            string
		want            []int
	}{
		{"within limits (001)", cloneSetTarget, "a=3 b=5 c", 10, "", "a a b c", []int{300, 300, 200, 100}},
		{"unmatched (010)", cloneSetTarget, "a=2 b=2", 6, "", "a b -", []int{200, 100, -300}},
		{"the last that became ready are surplus (018)", cloneSetTarget, "a=1 b", 6, "", "a a a a b", []int{200, -100, -100, -100, 100}},
		{"a share that shrank (003)", cloneSetTarget, "a=25% b", 4, "", "a a b b", []int{200, -100, 100, 100}},
		{"surplus of a later subset", cloneSetTarget, "a=1 b=1", 4, "", "a b b", []int{200, 100, -200}},
		{"old version mirrored (026)", deploymentTarget, "a=1 b", 4, "new", "a/old b/old a/new b/new", []int{100, 200, 200, 100}},
		{"surplus of an old version", deploymentTarget, "a=0 b", 4, "new", "a/old a/new", []int{-200, -100}},
		{"bare ReplicaSet is mirrored (009)", "apps/v1 ReplicaSet", "a=1 b", 4, "none", "a b", []int{100, 200}},
		{"ReplicaSet with the label", "apps/v1 ReplicaSet", "a=1 b", 4, "x", "a/x b/x", []int{200, 100}},
		{"CloneSet knows one version (027)", cloneSetTarget, "a=1 b", 4, "", "a/old b/new", []int{200, 100}},
		{"no kind for costs (005)", "apps/v1 StatefulSet", "a=1 b", 4, "", "a b", nil},
		{"no kind for costs (007)", "batch/v1 Job", "a=1 b", 4, "", "a b", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpread(c.target, c.subsets, c.replicas)
			if c.latest != "" {
				s.Latest = c.latest
			}
			s.Pods = spreadPods(c.pods)
			var got []int
			for i, cost := range s.Costs() {
				if cost.Pod != s.Pods[i] {
					t.Fatalf("pod %s is out of order", cost.Pod.Name)
				}
				got = append(got, cost.Cost)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestSpread_CostsOfTheGone: what goes or has ended costs nothing and takes no
// room.
func TestSpread_CostsOfTheGone(t *testing.T) {
	s := newSpread(cloneSetTarget, "a=1 b", 3)
	s.Pods = spreadPods("a a a")
	s.Pods[0].Deleting, s.Pods[1].Phase = true, corev1.PodFailed
	if got := s.Costs(); len(got) != 1 || got[0].Cost != 200 || got[0].Pod != s.Pods[2] {
		t.Errorf("got %v", got)
	}
	if got := s.Count().SubsetStatuses[0]; got.Replicas != 1 || got.MissingReplicas != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestSpread_Count(t *testing.T) {
	s := newSpread(deploymentTarget, "a=1 b", 4)
	s.Pods = spreadPods("a/old b/old b/old a/new -/new")
	s.Pods[0].Annotations[kruise.MatchedWorkloadSpreadAnnotation] = `{"name":"ws","subset":"gone"}`
	got := s.Count()
	status := func(name string, replicas, missing int32) kruise.WorkloadSpreadSubsetStatus {
		return kruise.WorkloadSpreadSubsetStatus{Name: name, Replicas: replicas, MissingReplicas: missing}
	}
	want := &kruise.WorkloadSpreadStatus{
		SubsetStatuses: []kruise.WorkloadSpreadSubsetStatus{status("a", 1, 0), status("b", 2, -1)},
		VersionedSubsetStatuses: map[string][]kruise.WorkloadSpreadSubsetStatus{
			"old": {status("a", 0, 1), status("b", 2, -1)},
			"new": {status("a", 1, 0), status("b", 0, -1)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{false, false}, s.Full("old")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{true, false}, s.Full("new")); diff != "" {
		t.Error(diff)
	}
	s.Pods = nil
	if got := s.Count(); got.VersionedSubsetStatuses != nil {
		t.Errorf("no pods have versions: %v", got.VersionedSubsetStatuses)
	}
}

// adaptive is a spread whose first subset has a pod that has waited for a node.
func adaptive(waited time.Duration, seconds int32) *rules.Spread {
	s := newSpread(cloneSetTarget, "a=3 b=1 c", 5)
	s.Spec.ScheduleStrategy = kruise.WorkloadSpreadScheduleStrategy{
		Type: kruise.AdaptiveWorkloadSpreadScheduleStrategyType, Adaptive: &kruise.AdaptiveWorkloadSpreadScheduleStrategy{RescheduleCriticalSeconds: &seconds},
	}
	s.Pods = spreadPods("a b c")
	p := s.Pods[0]
	p.Created, p.Node, p.Phase = spreadNow.Add(-waited), "", corev1.PodPending
	p.Conditions = []cluster.Condition{cluster.SetTo("PodScheduled", corev1.ConditionFalse, "Unschedulable", "")}
	return s
}

func TestSpread_Reschedule(t *testing.T) {
	last := adaptive(time.Minute, 5)
	last.Pods[0].Annotations[kruise.MatchedWorkloadSpreadAnnotation] = `{"name":"ws","subset":"c"}`
	fixed := adaptive(time.Minute, 5)
	fixed.Spec.ScheduleStrategy.Type = kruise.FixedWorkloadSpreadScheduleStrategyType
	bound := adaptive(time.Minute, 5)
	bound.Pods[0].Node = "n"
	closed := func(ago time.Duration) *rules.Spread {
		s := adaptive(time.Minute, 5)
		s.Status = s.Count()
		for i := range s.Status.SubsetStatuses {
			s.Status.SubsetStatuses[i].Conditions[0].LastTransitionTime = metav1.NewTime(spreadNow.Add(-ago))
		}
		s.Pods = s.Pods[1:]
		return s
	}
	for _, c := range []struct {
		name   string
		s      *rules.Spread
		open   string
		stuck  int
		again  time.Duration
		choice string
	}{
		{"not yet", adaptive(2*time.Second, 5), "True True True", 0, 3 * time.Second, "a"},
		{"overdue (024)", adaptive(5*time.Second, 5), "False True True", 1, 300 * time.Second, "a"},
		{"the last subset stays open", last, "True True True", 0, 0, "a"},
		{"Fixed waits (023)", fixed, "", 0, 0, "a"},
		{"no time given", adaptive(time.Minute, 0), "", 0, 0, "a"},
		{"found a node after all", bound, "True True True", 0, 0, "a"},
		{"closed for a while", closed(100 * time.Second), "False True True", 0, 200 * time.Second, "c"},
		{"open again", closed(300 * time.Second), "True True True", 0, 0, "c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conditions, stuck, again := c.s.Reschedule()
			var open []string
			for _, condition := range conditions {
				open = append(open, string(condition.Status))
			}
			if got := strings.Join(open, " "); got != c.open {
				t.Errorf("conditions %s, want %s", got, c.open)
			}
			if len(stuck) != c.stuck || again != c.again {
				t.Errorf("%d stuck, again after %v; want %d, %v", len(stuck), again, c.stuck, c.again)
			}
			if got := c.s.Spec.Subsets[c.s.Choose(spreadPods("-")[0]).Subset].Name; got != c.choice {
				t.Errorf("a new pod goes to %s, want %s", got, c.choice)
			}
		})
	}
}
