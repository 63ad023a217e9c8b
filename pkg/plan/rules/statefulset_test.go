package rules

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// statefulSet makes a StatefulSet between o and n from words such as "0o",
// "3n!": ordinal, revision, and the flags of [pods].
func statefulSet(t *testing.T, spec, words string) *StatefulSet {
	t.Helper()
	s := &StatefulSet{Spec: &kruise.StatefulSetSpec{}, Current: "web-o", Update: "web-n", Now: now}
	decode(t, spec, s.Spec)
	for word := range strings.FieldsSeq(words) {
		digits := word[:len(word)-len(strings.TrimLeft(word, "0123456789"))]
		s.Pods = append(s.Pods, flagged(t, "web-"+digits, word[len(digits):]))
	}
	return s
}

// short shows pods by their ordinals.
func short(list []*cluster.Pod) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = strconv.Itoa(OrdinalOf(p))
	}
	return strings.Join(out, " ")
}

func TestLimitsOf_StatefulSet(t *testing.T) {
	for _, c := range []struct {
		spec string
		want Limits
	}{
		{"{}", Limits{Replicas: 1, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}},
		{"replicas: 4", Limits{Replicas: 4, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}},
		// Example 16.
		{"replicas: 7\nupdateStrategy: {rollingUpdate: {maxUnavailable: 20%}}", Limits{Replicas: 7, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}},
		{"replicas: 7\nupdateStrategy: {rollingUpdate: {maxUnavailable: 50%}}", Limits{Replicas: 7, MaxUnavailable: 3, ScaleMaxUnavailable: unlimited}},
		{"replicas: 7\nupdateStrategy: {rollingUpdate: {maxUnavailable: 5%}}", Limits{Replicas: 7, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}},
		{"replicas: 7\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0}}", Limits{Replicas: 7, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}},
		{"replicas: 7\nscaleStrategy: {maxUnavailable: 50%}", Limits{Replicas: 7, MaxUnavailable: 1, ScaleMaxUnavailable: 3}},
		{"replicas: 7\nscaleStrategy: {maxUnavailable: 1%}", Limits{Replicas: 7, MaxUnavailable: 1, ScaleMaxUnavailable: 1}},
		{"replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 9}}", Limits{Replicas: 3, Partition: 9, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}},
	} {
		s := statefulSet(t, c.spec, "")
		got := LimitsOfStatefulSet(s.Spec)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.spec, diff)
		}
		if got.MaxUpdate() != max(c.want.Replicas-c.want.Partition, 0) {
			t.Errorf("%s: MaxUpdate() = %d", c.spec, got.MaxUpdate())
		}
	}
}

const (
	parallel = "podManagementPolicy: Parallel\n"
	reserve1 = "replicas: 5\nreserveOrdinals: [1]\nupdateStrategy: {rollingUpdate: {partition: 3}}"
)

func TestStatefulSet_UpdateTargets(t *testing.T) {
	for _, c := range []struct{ name, spec, pods, want string }{
		{"all, from above", "replicas: 3", "0o 1o 2o", "2 1 0"},
		{"13 reserved", reserve1, "0o 2o 3o 4o 5o", "5 4"},
		{"holes are not counted", "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 3}}", "0o 1o 3o 4o", "4 3"},
		{"partition above replicas", "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 5}}", "0o 1o 2o", ""},
		{"condemned pods are none", "replicas: 2", "0o 1o 2o", "1 0"},
		{
			"15 unordered", parallel + "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 6, unorderedUpdate: {}}}",
			"0o 1o 2o 3o 4o 5o 6n 7n 8o 9o", "7 6 9 8",
		},
		{"15 a low one is updated", parallel + "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 2, unorderedUpdate: {}}}", "0o 1n 2o 3o 4o", "1 4 3"},
		{"terminating ones too", parallel + "replicas: 4\nupdateStrategy: {rollingUpdate: {partition: 2, unorderedUpdate: {}}}", "0o 1o^ 2o 3o", "1 3"},
	} {
		if got := short(statefulSet(t, c.spec, c.pods).UpdateTargets()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestStatefulSet_UnorderedPriority: priority sorts the outdated pods (106).
func TestStatefulSet_UnorderedPriority(t *testing.T) {
	s := statefulSet(t, parallel+`
replicas: 5
updateStrategy:
  rollingUpdate:
    partition: 2
    unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 10, matchSelector: {matchLabels: {tier: high}}}]}}
`, "0o 1o 2o 3o 4o")
	s.Pods[1].Labels["tier"], s.Pods[3].Labels["tier"] = "high", "high"
	if got := short(s.UpdateTargets()); got != "3 1 4" {
		t.Errorf("targets %s", got)
	}
}

func TestStatefulSet_ChooseUpdate(t *testing.T) {
	for _, c := range []struct{ name, spec, pods, want, order, del, why string }{
		{"one at a time", "replicas: 3", "0o 1o 2o", "2", "2 1 0", "", "web-1 waits"},
		{"waits for the last", "replicas: 3", "0o 1o 2n!", "", "1 0", "", "web-1 waits"},
		{"goes on", "replicas: 3", "0o 1o 2n", "1", "1 0", "", "web-0 waits"},
		{"two at a time", parallel + "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "0o 1o 2o 3o", "3 2", "3 2 1 0", "", "web-1 waits"},
		{"13 reserved", parallel + reserve1, "0o 2o 3o 4o 5o", "5", "5 4", "", "web-4 waits"},
		{"14 blocked from below", parallel + blocked, "0o^ 1o 2o 3o 4o 5o", "5", "5 4 3", "", "web-4 waits"},
		{"14 blocked twice", parallel + blocked, "0o^ 1o 2o^ 3o 4o 5n", "", "4 3", "", "web-4 waits"},
		{"15 unordered", parallel + "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 2, unorderedUpdate: {}}}", "0o 1n 2o 3o 4o", "4", "4 3", "", "web-3 waits"},
		{"unordered, the pass makes the last that is to be updated", parallel + "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2, partition: 2, unorderedUpdate: {}}}", "0o 1o 3n 4n", "", "", "", "partition"},
		{"unordered, the pass makes one of them", parallel + "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2, partition: 2, unorderedUpdate: {}}}", "0o 1o 2o 3o", "3", "3 2", "", "web-2 waits"},
		{"in order, the pass makes the last that is to be updated", parallel + "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2, partition: 1}}", "0o 2n 3n 4n", "", "", "", "partition"},
		{"in order, the pass makes one of them", parallel + "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2, partition: 2}}", "0o 1o 2o 3o", "3", "3 2", "", "web-2 waits"},
		{"a broken pod costs nothing when its turn comes", parallel + "replicas: 3", "0o 1o 2o!", "2", "2 1 0", "", "web-1 waits"},
		{"a broken low pod is not fixed early", parallel + "replicas: 3", "0o! 1o 2o", "", "2 1 0", "", "web-2 waits"},
		{"with more budget", parallel + "replicas: 3\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "0o! 1o 2o", "2", "2 1 0", "", "web-1 waits"},
		{"done", "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 2}}", "0o 1o 2n", "", "", "", "partition"},
		{"paused blocks marked pods too", "replicas: 3\nupdateStrategy: {rollingUpdate: {paused: true}}", "0o- 1o 2o", "", "", "", "paused"},
		{"OnDelete ignores the mark (121)", "replicas: 3\nupdateStrategy: {type: OnDelete}", "0o- 1o 2o", "", "", "", "OnDelete"},
		{"marked first", parallel + "replicas: 3", "0o- 1o 2o", "", "2 1", "0", "web-2 waits"},
		{"marked, from above", parallel + "replicas: 3", "0o- 1o- 2n", "", "0", "1", "web-0 waits"},
		{"marked below the partition", parallel + "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 3}}", "0o- 1o 2o", "", "", "0", "partition"},
		{"marked and broken", parallel + "replicas: 3", "0o! 1o- 2o-!", "", "", "2", "partition"},
		{"the lifecycle counts", parallel + "replicas: 3", "0o~ 1o 2o", "", "2 1 0", "", "web-2 waits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := statefulSet(t, c.spec, c.pods)
			if c.name == "marked and broken" {
				s.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateStatefulSetStrategy{Partition: new(int32)}
				*s.Spec.UpdateStrategy.RollingUpdate.Partition = 3
			}
			got := s.ChooseUpdate()
			if short(got.Pods) != c.want || short(got.Order) != c.order || short(got.Delete) != c.del {
				t.Errorf("updates %q of %q, deletes %q", short(got.Pods), short(got.Order), short(got.Delete))
			}
			if !strings.Contains(got.Why, c.why) {
				t.Errorf("why %q", got.Why)
			}
		})
	}
}

const blocked = "replicas: 6\nupdateStrategy: {rollingUpdate: {partition: 3, maxUnavailable: 2}}"

func TestStatefulSet_Unavailable(t *testing.T) {
	s := statefulSet(t, "replicas: 3\nupdateStrategy: {rollingUpdate: {minReadySeconds: 10}}", "0o 1o! 2o^")
	for i, want := range []bool{false, true, true} {
		if got := s.Unavailable(s.Pods[i]); got != want {
			t.Errorf("%s: %v", s.Pods[i].Name, got)
		}
	}
	setReady(s.Pods[0], true, now.Add(-5*time.Second))
	if !s.Unavailable(s.Pods[0]) {
		t.Error("ready for 5 of 10 seconds is available")
	}
	s.Now = now.Add(6 * time.Second)
	if s.Unavailable(s.Pods[0]) {
		t.Error("ready for 11 of 10 seconds is not available")
	}
	s.Busy = busy(func(*cluster.Pod) bool { return true })
	if !s.Unavailable(s.Pods[0]) {
		t.Error("a pod that is being updated is available")
	}
}

func TestStatefulSet_Scale(t *testing.T) {
	for _, c := range []struct {
		name, spec, pods string
		create           string
		remove           string
		stop             bool
		why              string
	}{
		{"nothing", "replicas: 2", "0n 1n", "", "", false, ""},
		{"one at a time", "replicas: 3", "", "0n", "", true, ""},
		{"waits for the one below", "replicas: 3", "0n!", "", "", true, "web-0 is not available"},
		{"terminating below", "replicas: 3", "0n^ 1n 2n", "", "", true, "web-0 is terminating"},
		{"parallel makes all", parallel + "replicas: 3", "1n!", "0n 2n", "", false, "web-1 is not available"},
		{"scale rate", parallel + "replicas: 6\nscaleStrategy: {maxUnavailable: 2}", "0n 1n!", "2n", "", false, "used up"},
		{"a finished pod is recreated", parallel + "replicas: 2", "0n 1n?", "", "1", false, ""},
		{"condemned, highest first", "replicas: 1", "0n 1n 2n", "", "2", true, ""},
		{"condemned, one at a time", "replicas: 1", "0n 1n 2n^", "", "", true, "web-2 is terminating"},
		{"condemned, all", parallel + "replicas: 1", "0n 1n 2n", "", "2 1", false, ""},
		{"an ordinal is retired: the replacement comes first", "replicas: 2\nreserveOrdinals: [0]", "0n 1n", "2n", "", true, ""},
		{"then the retired one goes", "replicas: 2\nreserveOrdinals: [0]", "0n 1n 2n", "", "0", true, ""},
		{"13 low ones at the current revision", parallel + reserve1, "", "0o 2o 3o 4n 5n", "", false, ""},
		{"a lost pod on either side", parallel + reserve1, "0o 2o 4n", "3o 5n", "", false, ""},
		{"unordered, enough old ones", parallel + "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 2, unorderedUpdate: {}}}", "0o 2o", "1n", "", false, ""},
		{"unordered, too few old ones", parallel + "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 2, unorderedUpdate: {}}}", "0o 2n", "1o", "", false, ""},
		{"unordered, condemned old ones do not count", parallel + "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 3, unorderedUpdate: {}}}", "0o 2o 5o", "1o", "5", false, ""},
		{"unordered, those made just now count", parallel + "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 3, unorderedUpdate: {}}}", "0n 3o", "1o 2o 4n", "", false, ""},
		{"OnDelete makes new ones", "replicas: 3\nupdateStrategy: {type: OnDelete}", "0o 2o", "1n", "", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := statefulSet(t, c.spec, strings.ReplaceAll(c.pods, "?", "!"))
			if strings.Contains(c.pods, "?") {
				s.Pods[len(s.Pods)-1].Phase = corev1.PodFailed
			}
			got := s.Scale()
			var create []string
			for _, made := range got.Create {
				create = append(create, itoa(made.Ordinal)+map[bool]string{true: "n", false: "o"}[made.Update])
			}
			if strings.Join(create, " ") != c.create || short(got.Remove) != c.remove || got.Stop != c.stop {
				t.Errorf("creates %v, removes %q, stops %v", create, short(got.Remove), got.Stop)
			}
			if !strings.Contains(got.Why, c.why) || (c.why == "") != (got.Why == "") {
				t.Errorf("why %q", got.Why)
			}
		})
	}
}

func TestStatefulSet_StartOrdinal(t *testing.T) {
	s := statefulSet(t, "replicas: 2\nordinals: {start: 3}", "")
	if diff := cmp.Diff([]int{0, 1}, s.Ordinals()); diff != "" {
		t.Errorf("gate off: %s", diff)
	}
	s.Gates.StatefulSetStartOrdinal = true
	if diff := cmp.Diff([]int{3, 4}, s.Ordinals()); diff != "" {
		t.Errorf("gate on: %s", diff)
	}
}

func TestStatefulSet_Pending(t *testing.T) {
	done := func() *kruise.StatefulSet {
		s := &kruise.StatefulSet{}
		s.Generation = 3
		five, two := int32(5), int32(2)
		s.Spec = kruise.StatefulSetSpec{Replicas: &five, UpdateStrategy: kruise.StatefulSetUpdateStrategy{
			Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &kruise.RollingUpdateStatefulSetStrategy{Partition: &two},
		}}
		s.Status = kruise.StatefulSetStatus{
			ObservedGeneration: 3, Replicas: 5, UpdatedReplicas: 5, UpdatedAvailableReplicas: 5, CurrentRevision: "web-n", UpdateRevision: "web-n",
		}
		return s
	}
	for _, c := range []struct {
		name        string
		edit        func(*kruise.StatefulSet)
		step, whole string
	}{
		{"done", func(*kruise.StatefulSet) {}, "", ""},
		{"not seen", func(s *kruise.StatefulSet) { s.Generation = 4 }, "generation 4", "generation 4"},
		{"current behind", func(s *kruise.StatefulSet) { s.Status.CurrentRevision = "web-o" }, "", "currentRevision is still web-o"},
		{"three available are a step", func(s *kruise.StatefulSet) { s.Status.UpdatedAvailableReplicas = 3 }, "", "updatedAvailableReplicas is 3 of 5"},
		{"the count is dropped", func(s *kruise.StatefulSet) { s.Status.UpdatedAvailableReplicas, s.Status.AvailableReplicas = 0, 5 }, "", ""},
		{"the count is dropped, one is down", func(s *kruise.StatefulSet) { s.Status.UpdatedAvailableReplicas, s.Status.AvailableReplicas = 0, 4 }, "", "updatedAvailableReplicas is 4 of 5"},
		{"two available are not", func(s *kruise.StatefulSet) { s.Status.UpdatedAvailableReplicas = 2 }, "updatedAvailableReplicas is 2 of 3", "updatedAvailableReplicas is 2 of 5"},
		{"two updated", func(s *kruise.StatefulSet) { s.Status.UpdatedReplicas = 2 }, "updatedReplicas is 2 of 3", ""},
		{"a condemned pod is left", func(s *kruise.StatefulSet) { s.Status.Replicas = 6 }, "", "replicas is 6 of 5"},
	} {
		s := done()
		c.edit(s)
		expect(t, c.name+" (step)", StatefulSetStepPending(s, Kept{}), c.step)
		expect(t, c.name, StatefulSetPending(s), c.whole)
	}
}

// busy are the updates that a test knows of.
type busy func(*cluster.Pod) bool

func (b busy) Updating(p *cluster.Pod) bool { return b(p) }
