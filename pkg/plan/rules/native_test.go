package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestLimitsOf_Deployment(t *testing.T) {
	for spec, want := range map[string]Limits{
		"{}":          {Replicas: 1, MaxSurge: 1},
		"replicas: 4": {Replicas: 4, MaxSurge: 1, MaxUnavailable: 1},
		"replicas: 5": {Replicas: 5, MaxSurge: 2, MaxUnavailable: 1},
		"replicas: 3\nstrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}":     {Replicas: 3, MaxUnavailable: 1},
		"replicas: 3\nstrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 10%}}":   {Replicas: 3, MaxUnavailable: 1},
		"replicas: 3\nstrategy: {rollingUpdate: {maxSurge: 10%, maxUnavailable: 0}}":   {Replicas: 3, MaxSurge: 1},
		"replicas: 3\nstrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 9}}":     {Replicas: 3, MaxUnavailable: 3},
		"replicas: 10\nstrategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}":  {Replicas: 10, MaxSurge: 3},
		"replicas: 10\nstrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 100%}}": {Replicas: 10, MaxUnavailable: 10},
	} {
		d := &appsv1.DeploymentSpec{}
		decode(t, spec, d)
		if diff := cmp.Diff(want, LimitsOfDeployment(d)); diff != "" {
			t.Errorf("%s: %s", spec, diff)
		}
	}
}

func TestDeployment_Next(t *testing.T) {
	const four = "replicas: 4\nstrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}"
	size := func(replicas, available int) ReplicaSetSize {
		return ReplicaSetSize{Replicas: replicas, Available: available}
	}
	for _, c := range []struct {
		name, spec string
		new        ReplicaSetSize
		old        []ReplicaSetSize
		want       string
	}{
		{"the new one grows first", four, size(0, 0), []ReplicaSetSize{size(4, 4)}, "1 [4]"},
		{"then an old one goes", four, size(1, 0), []ReplicaSetSize{size(4, 4)}, "1 [3]"},
		{"room again", four, size(1, 0), []ReplicaSetSize{size(3, 3)}, "2 [3]"},
		{"new ones not available", four, size(2, 0), []ReplicaSetSize{size(3, 3)}, "2 [3]"},
		{"new ones available", four, size(2, 2), []ReplicaSetSize{size(3, 3)}, "2 [1]"},
		{"the end", four, size(4, 4), []ReplicaSetSize{size(1, 1)}, "4 [0]"},
		{"done", four, size(4, 4), []ReplicaSetSize{size(0, 0)}, "4 [0]"},
		{"broken old pods go first", four, size(1, 0), []ReplicaSetSize{size(2, 0), size(2, 2)}, "1 [1 2]"},
		{"a bad image stops", four, size(2, 0), []ReplicaSetSize{size(3, 3)}, "2 [3]"},
		{"the oldest first", four, size(2, 2), []ReplicaSetSize{size(1, 1), size(2, 2)}, "2 [0 1]"},
		{"fewer replicas", "replicas: 2", size(4, 4), nil, "2 []"},
		{"paused", "replicas: 4\npaused: true", size(0, 0), []ReplicaSetSize{size(4, 4)}, "0 [4]"},
		{"Recreate takes all away", "replicas: 4\nstrategy: {type: Recreate}", size(0, 0), []ReplicaSetSize{size(4, 4)}, "0 [0]"},
		{"Recreate makes all", "replicas: 4\nstrategy: {type: Recreate}", size(0, 0), []ReplicaSetSize{size(0, 0)}, "4 [0]"},
	} {
		d := &Deployment{Spec: &appsv1.DeploymentSpec{}, New: c.new, Old: c.old}
		decode(t, c.spec, d.Spec)
		updated, old := d.Next()
		if got := fmt.Sprint(updated, " ", old); strings.Join(strings.Fields(got), " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDeployment_EndsWithinItsLimits: step by step, with pods that become available at once,
// the controller arrives and never leaves its bounds.
func TestDeployment_EndsWithinItsLimits(t *testing.T) {
	for replicas := 1; replicas < 8; replicas++ {
		for surge := range 3 {
			for unavailable := range 3 {
				spec := fmt.Sprintf("replicas: %d\nstrategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: %d}}", replicas, surge, unavailable)
				rollOut(t, spec, replicas)
			}
		}
	}
}

func rollOut(t *testing.T, spec string, replicas int) {
	t.Helper()
	d := &Deployment{Spec: &appsv1.DeploymentSpec{}, Old: []ReplicaSetSize{{Replicas: replicas, Available: replicas}}}
	decode(t, spec, d.Spec)
	l := LimitsOfDeployment(d.Spec)
	for range 100 {
		updated, old := d.Next()
		if total := updated + old[0]; total > replicas+l.MaxSurge || total < replicas-l.MaxUnavailable {
			t.Fatalf("%s: %d pods", spec, total)
		}
		if updated == replicas && old[0] == 0 {
			return
		}
		if updated == d.New.Replicas && old[0] == d.Old[0].Replicas {
			t.Fatalf("%s: stands at %d and %d", spec, updated, old[0])
		}
		d.New, d.Old[0] = ReplicaSetSize{Replicas: updated, Available: updated}, ReplicaSetSize{Replicas: old[0], Available: old[0]}
	}
	t.Fatalf("%s: never ends", spec)
}

func TestPending_OfNativeWorkloads(t *testing.T) {
	five := int32(5)
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &five}}
	d.Generation = 2
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 5, UpdatedReplicas: 5, AvailableReplicas: 5}
	expect(t, "Deployment done", DeploymentPending(d), "")
	d.Status.Replicas = 6
	expect(t, "an old pod", DeploymentPending(d), "1 old pod is left")
	d.Status.Replicas, d.Status.AvailableReplicas = 5, 4
	expect(t, "not available", DeploymentPending(d), "availableReplicas is 4 of 5")
	d.Status.AvailableReplicas, d.Generation = 5, 3
	expect(t, "not seen", DeploymentPending(d), "generation 3")

	ds := &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 5, UpdatedNumberScheduled: 5, NumberAvailable: 5}}
	expect(t, "DaemonSet done", NativeDaemonSetPending(ds), "")
	ds.Status.UpdatedNumberScheduled = 4
	expect(t, "DaemonSet", NativeDaemonSetPending(ds), "updatedNumberScheduled is 4 of 5")

	two := int32(2)
	s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: &five}}
	s.Status = appsv1.StatefulSetStatus{ReadyReplicas: 5, UpdatedReplicas: 3, CurrentRevision: "o", UpdateRevision: "n"}
	expect(t, "StatefulSet", NativeStatefulSetPending(s, Kept{}), "currentRevision is still o")
	s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &two}
	expect(t, "StatefulSet step done", NativeStatefulSetPending(s, Kept{}), "")
	s.Status.UpdatedReplicas = 2
	expect(t, "StatefulSet step", NativeStatefulSetPending(s, Kept{}), "updatedReplicas is 2 of 3")
}

func TestDeadlineExceeded(t *testing.T) {
	d := &appsv1.Deployment{}
	if DeadlineExceeded(d) {
		t.Error("without a condition")
	}
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Available", Reason: ReasonProgressDeadlineExceeded}, {Type: appsv1.DeploymentProgressing, Reason: "x"}}
	if DeadlineExceeded(d) {
		t.Error("another condition counts")
	}
	d.Status.Conditions[1].Reason = ReasonProgressDeadlineExceeded
	if !DeadlineExceeded(d) {
		t.Error("not noticed")
	}
}

func TestReplicaSet_ScaleDownOrder(t *testing.T) {
	for _, c := range []struct {
		name, pods string
		edit       func([]*cluster.Pod)
		want       string
	}{
		{"not ready first", "n n! n", func(l []*cluster.Pod) { readyAt(l, time.Second, time.Second, time.Second) }, "p2 p1 p3"},
		{"by magnitude of age", "3*n", func(l []*cluster.Pod) { readyAt(l, time.Second, time.Minute, time.Hour) }, "p1 p2 p3"},
		{"one magnitude: by uid", "3*n", func(l []*cluster.Pod) { readyAt(l, 40*time.Minute, 50*time.Minute, 45*time.Minute) }, "p1 p2 p3"},
		{"cost first", "3*n", func(l []*cluster.Pod) { readyAt(l, time.Second, time.Minute, time.Hour); cost(l[2], "-1") }, "p3 p1 p2"},
		{"crowded node first", "3*n", func(l []*cluster.Pod) {
			readyAt(l, time.Second, time.Hour, time.Hour)
			l[1].Node, l[2].Node = "c", "c"
		}, "p2 p3 p1"},
		{"equal ready times: restarts", "2*n", func(l []*cluster.Pod) { readyAt(l, time.Hour, time.Hour); l[1].Containers[0].Restarts = 1 }, "p2 p1"},
		{"not ready: created", "2*n!", func(l []*cluster.Pod) { l[0].Created = now.Add(-time.Hour); l[1].Created = now.Add(-time.Second) }, "p2 p1"},
		{"from the future", "2*n!", func(l []*cluster.Pod) { l[0].Created = now.Add(-time.Hour); l[1].Created = now.Add(time.Second) }, "p2 p1"},
	} {
		list := pods(t, c.pods)
		c.edit(list)
		if got := names(ReplicaSetScaleDownOrder(list, list, now)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// readyAt makes pods ready, or not ready as they are, for so long.
func readyAt(list []*cluster.Pod, ages ...time.Duration) {
	for i, p := range list {
		setReady(p, podReady(p), now.Add(-ages[i]))
	}
}

func TestNativeStatefulSet_ChooseUpdate(t *testing.T) {
	const par = "podManagementPolicy: Parallel\n"
	for _, c := range []struct {
		name, spec, pods string
		gate             bool
		want, order, why string
	}{
		{"one at a time", "replicas: 3", "0o 1o 2o", false, "2", "2 1 0", "web-1 waits"},
		{"waits", "replicas: 3", "0o 1o 2n!", false, "", "", "web-2 is not available"},
		{"goes on", "replicas: 3", "0o 1o 2n", false, "1", "1 0", "web-0 waits"},
		{"the partition is a floor", "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 1}}", "0o 1o 2n", false, "1", "1", "all"},
		{"one missing", "replicas: 3", "0o 1o", false, "", "", "missing"},
		{"two at a time needs the gate", par + "replicas: 3\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "0o 1o 2o", false, "2", "2 1 0", "web-1 waits"},
		{"two at a time", par + "replicas: 3\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "0o 1o 2o", true, "2 1", "2 1 0", "web-0 waits"},
		{"parallel: a broken new pod blocks", par + "replicas: 3", "0o 1o 2n!", false, "", "1 0", "web-1 waits"},
		{"parallel: a broken old pod is replaced in its turn", par + "replicas: 3", "0o 1o 2o!", false, "2", "2 1 0", "web-1 waits"},
		{"OnDelete", "replicas: 3\nupdateStrategy: {type: OnDelete}", "0o 1o 2o", false, "", "", "OnDelete"},
		{"start", "replicas: 2\nordinals: {start: 2}\nupdateStrategy: {rollingUpdate: {partition: 1}}", "2o 3o", false, "3", "3", "all"},
	} {
		made := statefulSet(t, "replicas: 0", c.pods)
		s := &NativeStatefulSet{Spec: &appsv1.StatefulSetSpec{}, Update: "web-n", Pods: made.Pods, Now: now, MaxUnavailable: c.gate}
		decode(t, c.spec, s.Spec)
		got := s.ChooseUpdate()
		if short(got.Pods) != c.want || short(got.Order) != c.order || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %q of %q (%s)", c.name, short(got.Pods), short(got.Order), got.Why)
		}
	}
}

func TestNativeStatefulSet_Budget(t *testing.T) {
	for value, want := range map[string]int{"3": 3, "0": 1, "25%": 2, "29%": 2, "30%": 3, "5%": 1, "100%": 10} {
		s := &NativeStatefulSet{Spec: &appsv1.StatefulSetSpec{}, MaxUnavailable: true}
		decode(t, "replicas: 10\nupdateStrategy: {rollingUpdate: {maxUnavailable: "+value+"}}", s.Spec)
		if got := s.Budget(); got != want {
			t.Errorf("%s of 10: %d, want %d", value, got, want)
		}
		s.MaxUnavailable = false
		if got := s.Budget(); got != 1 {
			t.Errorf("%s without the gate: %d", value, got)
		}
	}
}

func TestNativeStatefulSet_CreatesUpdate(t *testing.T) {
	s := &NativeStatefulSet{Spec: &appsv1.StatefulSetSpec{}}
	decode(t, "replicas: 4\nordinals: {start: 1}\nupdateStrategy: {rollingUpdate: {partition: 2}}", s.Spec)
	for ordinal, want := range map[int]bool{1: false, 2: false, 3: true, 4: true} {
		if got := s.CreatesUpdate(ordinal); got != want {
			t.Errorf("CreatesUpdate(%d) = %v", ordinal, got)
		}
	}
	s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	if !s.CreatesUpdate(1) {
		t.Error("OnDelete makes old pods")
	}
}

func TestAsDaemonSetSpec(t *testing.T) {
	native := &appsv1.DaemonSetSpec{}
	decode(t, "minReadySeconds: 5\nupdateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 50%}}", native)
	d := daemonSet(t, "{}", "4*o")
	d.Spec = AsDaemonSetSpec(native)
	if got := d.ChooseUpdate(); got.Room != 2 || len(got.Candidates) != 4 {
		t.Errorf("%d of %s", got.Room, names(got.Candidates))
	}
	if d.Spec.MinReadySeconds != 5 {
		t.Error("minReadySeconds is lost")
	}
	if got := AsDaemonSetSpec(&appsv1.DaemonSetSpec{}).UpdateStrategy.RollingUpdate; got != nil {
		t.Errorf("a strategy came from nowhere: %+v", got)
	}
}

func TestDeployment_Rescale(t *testing.T) {
	const surge = "\nstrategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}"
	size := func(name string, replicas, available, desired, most int) ReplicaSetSize {
		rs := ReplicaSetSize{Name: name, Replicas: replicas, Available: available}
		if desired >= 0 {
			rs.Recorded = &RecordedSize{desired, most}
		}
		return rs
	}
	none := ReplicaSetSize{}
	for _, c := range []struct {
		name, spec string
		new        ReplicaSetSize
		old        []ReplicaSetSize
		want       string
	}{
		{"nothing changed", "replicas: 4", size("n", 4, 4, 4, 5), nil, "no"},
		{"scaled by somebody else before us", "replicas: 4", size("n", 3, 3, -1, 0), nil, "no"},
		{"the only one follows", "replicas: 6", size("n", 4, 4, 4, 5), []ReplicaSetSize{size("a", 0, 0, 2, 3)}, "6 [0]"},
		{"the only one is old", "replicas: 6", size("n", 0, 0, 4, 5), []ReplicaSetSize{size("a", 4, 4, 4, 5)}, "0 [6]"},
		{"none has pods", "replicas: 2\npaused: true", size("n", 0, 0, 0, 0), []ReplicaSetSize{size("a", 0, 0, 0, 0)}, "2 [0]"},
		{"none has pods, the template is new", "replicas: 2\npaused: true", none, []ReplicaSetSize{size("a", 0, 0, 0, 0), size("b", 0, 0, 0, 0)}, "0 [0 2]"},
		{"no ReplicaSet at all", "replicas: 2\npaused: true", none, nil, "0 []"},
		{"paused, nothing else", "replicas: 10\npaused: true" + surge, size("n", 5, 5, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "5 [8]"},
		// The example of Kubernetes' documentation: 10 to 15 with surge 3, in the middle of a
		// rollout with 8 old and 5 new pods.
		{"in proportion", "replicas: 15" + surge, size("n", 5, 0, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "7 [11]"},
		{"in proportion while paused", "replicas: 15\npaused: true" + surge, size("n", 5, 5, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "7 [11]"},
		{"down in proportion", "replicas: 5" + surge, size("n", 5, 0, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "3 [5]"},
		{"the rest goes to the largest", "replicas: 11" + surge, size("n", 4, 0, 10, 13), []ReplicaSetSize{size("a", 4, 4, 10, 13), size("b", 5, 5, 10, 13)}, "4 [4 6]"},
		{"equal sizes: the newer grows", "replicas: 4" + surge, size("n", 3, 0, 3, 6), []ReplicaSetSize{size("a", 3, 3, 3, 6)}, "4 [3]"},
		{"equal sizes: the older shrinks", "replicas: 2" + surge, size("n", 3, 0, 3, 6), []ReplicaSetSize{size("a", 3, 3, 3, 6)}, "3 [2]"},
		{"to nothing", "replicas: 0" + surge, size("n", 5, 0, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "0 [0]"},
		{"the new one is enough", "replicas: 5\npaused: true" + surge, size("n", 5, 5, 5, 8), []ReplicaSetSize{size("a", 2, 2, 5, 8)}, "5 [0]"},
		{"Recreate spreads nothing", "replicas: 15\nstrategy: {type: Recreate}", size("n", 5, 5, 10, 13), []ReplicaSetSize{size("a", 8, 8, 10, 13)}, "5 [8]"},
	} {
		d := &Deployment{Spec: &appsv1.DeploymentSpec{}, New: c.new, Old: c.old}
		decode(t, c.spec, d.Spec)
		got := "no"
		if updated, old, ok := d.Rescale(); ok {
			got = fmt.Sprint(updated, old)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDeployment_RescaleSums: whatever the sizes, a change in the middle of a
// rollout ends at the wanted number with its surge.
func TestDeployment_RescaleSums(t *testing.T) {
	for replicas := range 30 {
		for a := 1; a < 12; a++ {
			for b := 1; b < 12; b++ {
				rs := func(name string, n int) ReplicaSetSize {
					return ReplicaSetSize{Name: name, Replicas: n, Recorded: &RecordedSize{-1, a + b}}
				}
				d := &Deployment{Spec: &appsv1.DeploymentSpec{}, New: rs("n", a), Old: []ReplicaSetSize{rs("o", b)}}
				decode(t, fmt.Sprintf("replicas: %d\nstrategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}", replicas), d.Spec)
				want := 0
				if replicas > 0 {
					want = replicas + 2
				}
				updated, old, _ := d.Rescale()
				if updated+old[0] != want || updated < 0 || old[0] < 0 {
					t.Fatalf("%d and %d to %d: %d and %d", a, b, replicas, updated, old[0])
				}
			}
		}
	}
}

func nativeStatefulSet(t *testing.T, spec, pods string) *NativeStatefulSet {
	t.Helper()
	s := &NativeStatefulSet{Spec: &appsv1.StatefulSetSpec{}, Update: "web-n", Pods: statefulSet(t, "replicas: 0", pods).Pods, Now: now}
	decode(t, spec, s.Spec)
	return s
}

func TestNativeStatefulSet_Scale(t *testing.T) {
	const par = "podManagementPolicy: Parallel\n"
	for _, c := range []struct {
		name, spec, pods string
		create, remove   string
		stop             bool
		why              string
	}{
		{"all there", "replicas: 2", "0n 1n", "", "", false, ""},
		{"one after the other", "replicas: 3", "0n", "1n", "", true, ""},
		{"the lowest first", "replicas: 3", "1n", "0n", "", true, ""},
		{"waits for it", "replicas: 3", "0n!", "", "", true, "web-0 is not available"},
		{"waits for one that goes", "replicas: 2", "0n^ 1n", "", "", true, "web-0 is terminating"},
		{"all at once", par + "replicas: 3", "0n!", "1n 2n", "", false, "web-0 is not available"},
		{"below the partition the current revision", par + "replicas: 3\nupdateStrategy: {rollingUpdate: {partition: 2}}", "", "0o 1o 2n", "", false, ""},
		{"one too many", "replicas: 1", "0n 1n", "", "1", true, ""},
		{"the highest goes first, one at a time", "replicas: 1", "0n 1n 2n", "", "2", true, ""},
		{"waits until it is gone", "replicas: 1", "0n 1n 2n^", "", "", true, "web-2 is terminating"},
		{"a broken one of them goes in its turn", "replicas: 1", "0n 1n 2n!", "", "2", true, ""},
		{"two broken ones block each other", "replicas: 1", "0n 1n! 2n!", "", "", true, "web-1 is not available"},
		{"a broken one below does not hold a good one", "replicas: 1", "0n 1n! 2n", "", "2", true, ""},
		{"nothing goes while one in range is broken", "replicas: 1", "0n! 1n", "", "", true, "web-0 is not available"},
		{"all too many at once", par + "replicas: 1", "0n! 1n 2n^ 3n", "", "3 1", false, "web-0 is not available"},
		{"start", par + "replicas: 2\nordinals: {start: 1}", "0n 1n", "2n", "0", false, ""},
	} {
		got := nativeStatefulSet(t, c.spec, c.pods).Scale()
		var made []string
		for _, m := range got.Create {
			made = append(made, fmt.Sprint(m.Ordinal, map[bool]string{true: "n", false: "o"}[m.Update]))
		}
		if strings.Join(made, " ") != c.create || short(got.Remove) != c.remove || got.Stop != c.stop || !strings.Contains(got.Why, c.why) || (c.why == "") != (got.Why == "") {
			t.Errorf("%s: creates %q, removes %q, stop %v (%s)", c.name, made, short(got.Remove), got.Stop, got.Why)
		}
	}
}

func TestNativeStatefulSet_ReplacesFinishedPods(t *testing.T) {
	for phase, remove := range map[corev1.PodPhase]string{corev1.PodFailed: "1", corev1.PodSucceeded: "1", corev1.PodPending: ""} {
		s := nativeStatefulSet(t, "replicas: 3", "0n 1n! 2n")
		s.Pods[1].Phase = phase
		if got := s.Scale(); short(got.Remove) != remove || !got.Stop {
			t.Errorf("%s: removes %q, stop %v", phase, short(got.Remove), got.Stop)
		}
	}
}

func TestNativeStatefulSet_MissingPodsCount(t *testing.T) {
	for pods, want := range map[string]string{"0o 1o": "", "0o 2o": "2", "1o 2o": "2"} {
		s := nativeStatefulSet(t, "replicas: 3\npodManagementPolicy: Parallel", pods)
		if got := s.ChooseUpdate(); short(got.Pods) != want {
			t.Errorf("%s: takes %q, want %q", pods, short(got.Pods), want)
		}
	}
}

func TestStatefulSet_ArrangePutsPodsInTheirPlaces(t *testing.T) {
	set := statefulSet(t, "replicas: 3\nreserveOrdinals: [1]", "0o 3n 1o 7n")
	list := set.Pods
	got := set.Arrange().slots
	if len(got) != 3 || got[0] != list[0] || got[1] != nil || got[2] != list[1] {
		t.Errorf("slots = %v", got)
	}
	if top := short(fromTheTop(got)); top != "3 0" {
		t.Errorf("from the top: %s", top)
	}
	if rest := short(set.Arrange().outside); rest != "7 1" {
		t.Errorf("outside: %s", rest)
	}
	set.Pods = []*cluster.Pod{{Name: "odd"}}
	if got := set.Arrange().slots; got[0] != nil {
		t.Error("a pod without a number has a place")
	}
}

func TestStatefulSet_MissingPodsUseTheBudget(t *testing.T) {
	const spec = "replicas: 4\npodManagementPolicy: Parallel\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}"
	for pods, want := range map[string]string{"0o 1o 2o 3o": "3 2", "1o 2o 3o": "3", "2o 3o": "", "0o 1o": "", "1o 2o 3o!": "3"} {
		if got := statefulSet(t, spec, pods).ChooseUpdate(); short(got.Pods) != want {
			t.Errorf("%s: takes %q, want %q", pods, short(got.Pods), want)
		}
	}
}
