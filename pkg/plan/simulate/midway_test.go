package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestRollout_CanBeUndoneAtAnyMoment: at any moment of a rollout the rollback can be planned, also
// if the new image cannot be pulled; only an ordered StatefulSet repairs no pod (recorded in 125),
// which is reported.
func TestRollout_CanBeUndoneAtAnyMoment(t *testing.T) {
	broken := DefaultOptions()
	broken.Agent.Unpullable = []string{"web:2"}
	for name, text := range map[string]string{
		"CloneSet":                      cloneSet,
		"Advanced StatefulSet":          asts(""),
		"Advanced StatefulSet in place": asts("updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}"),
		"Advanced StatefulSet parallel": asts("podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}"),
		"under a partition":             asts("podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: 2}}"),
		"StatefulSet":                   strings.NewReplacer("kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4", "  replicas: 4\n  serviceName: web").Replace(replicaSet),
		"ReplicaSet":                    replicaSet,
		"Deployment":                    strings.Replace(replicaSet, "kind: ReplicaSet", "kind: Deployment", 1),
		"DaemonSet":                     strings.NewReplacer("kind: ReplicaSet", "kind: DaemonSet", "  replicas: 4\n", "").Replace(replicaSet),
	} {
		t.Run(name, func(t *testing.T) {
			doc, next := documents(t, text)[0], documents(t, strings.ReplaceAll(text, "web:1", "web:2"))[0]
			var last Outcome
			for at := time.Millisecond; last != Completed && at < time.Minute; at += at/3 + 100*time.Millisecond {
				var err error
				if last, err = turnBack(t, DefaultOptions(), doc, next, at); err != nil {
					t.Errorf("after %s: %v", at, err)
				}
				_, err = turnBack(t, broken, doc, next, at)
				if err != nil && (!ordered(text) || !strings.Contains(err.Error(), "is 3 of 4")) {
					t.Errorf("after %s, broken: %v", at, err)
				}
			}
			if last != Completed {
				t.Errorf("the rollout is %s", last)
			}
		})
	}
}

// turnBack rolls out for so long, on nodes that are as they are, and plans the way back
// from there. It returns the outcome of the rollout, and why there is no way back.
func turnBack(t *testing.T, o Options, doc, next *tree.Node, at time.Duration) (Outcome, error) {
	t.Helper()
	w := New(o)
	w.AddNode("n1", nil)
	w.AddNode("n2", nil)
	must(t, w.Apply(doc))
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	desired, err := cluster.ReadWorkload(next)
	must(t, err)
	s, err := w.Snapshot(desired.Ref)
	must(t, err)
	old := s.Workload.Template
	policy := plan.Policy{Pull: plan.PullNever}
	if desired.Kind != "DaemonSet" {
		policy.Steps = []plan.PolicyStep{{To: plan.Pods(1)}, {To: plan.All}}
	}
	p, err := plan.Build(desired, s, policy)
	must(t, err)
	promote := time.Duration(0)
	line, err := Rollout(w, p, RolloutOptions{Promote: &promote, Limit: at})
	must(t, err)
	s, err = w.Snapshot(desired.Ref)
	must(t, err)
	back, err := plan.WithTemplate(s.Workload, old)
	must(t, err)
	undo, err := plan.Build(back, s, plan.Policy{Pull: plan.PullNever})
	must(t, err)
	o = DefaultOptions()
	o.RecoverAll = true // pods are coming up
	if err := Check(undo, s, o); err != nil {
		return line.Summary.Outcome, fmt.Errorf("%w\n%s", err, stepsOf(undo))
	}
	return line.Summary.Outcome, nil
}

func ordered(text string) bool {
	return strings.Contains(text, "kind: StatefulSet") && !strings.Contains(text, "Parallel")
}

func asts(more string) string {
	return strings.NewReplacer("apps/v1", "apps.kruise.io/v1beta1", "kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4", "  replicas: 4\n  serviceName: web\n  "+more).Replace(replicaSet)
}

func stepsOf(p plan.Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%s %s %d %v\n", s.Kind, s.Title, s.Updated, s.After)
	}
	return b.String()
}

// mostTurns is far more than a run of a few pods takes.
const mostTurns = 2000

// turns is how often the run of a plan from a snapshot looks until it ends.
func turns(p plan.Plan, s plan.Snapshot, o Options) (int, Outcome, error) {
	s.Progress = plan.Progress{}
	w, err := FromSnapshot(s, o)
	if err != nil {
		return 0, "", err
	}
	d, err := newDriver(w, p, RolloutOptions{Promote: new(time.Duration)})
	if err != nil {
		return 0, "", err
	}
	for n := 1; n <= mostTurns; n++ {
		if err := d.step(); err != nil || d.recorder.outcome != "" {
			return n, d.recorder.outcome, err
		}
	}
	return mostTurns, "", fmt.Errorf("it does not end, and is at %s", d.clock.at)
}

// TestCheck_EndsWhereAPodOfAnotherLifecycleStateIsReady: such a pod counts as down
// however long it has been ready. A restart that waits for it waits for a change of the
// pod. A wait for a time that has passed never ends, since the clock does not move.
func TestCheck_EndsWhereAPodOfAnotherLifecycleStateIsReady(t *testing.T) {
	for _, state := range []string{"PreparingUpdate", "Updating", "Updated", "PreparingDelete"} {
		for name, restarted := range map[string]int{"itself": 0, "another": 1} {
			t.Run(state+" "+name, func(t *testing.T) {
				w, _ := ready(t, DefaultOptions(), plan.Policy{})
				s := snapshot(t, w)
				s.Pods[0] = s.Pods[0].With(labelled(kruise.LifecycleStateLabel, state), w.Now())
				p, err := plan.BuildRestart(s, plan.RestartRequest{Pods: []string{s.Pods[restarted].Name}, Method: plan.RestartCRR}, plan.Policy{})
				must(t, err)
				o := DefaultOptions()
				o.Start = w.Now().Add(time.Millisecond)
				if n, outcome, err := turns(p, s, o); err != nil || outcome != Completed {
					t.Errorf("%s after %d turns: %v", outcome, n, err)
				}
			})
		}
	}
}

func labelled(key, value string) cluster.PodChange {
	return cluster.PodChange{Labels: map[string]*string{key: &value}}
}

// midwayKinds are workloads that are updated and restarted, by what is special about
// them.
func midwayKinds() map[string]string {
	hooked := "lifecycle: {inPlaceUpdate: {finalizersHandler: [example.com/hold]}, preDelete: {labelsHandler: {hold: 'yes'}}}"
	clones := func(more string) string {
		return strings.NewReplacer("apps/v1", "apps.kruise.io/v1beta1", "kind: ReplicaSet", "kind: CloneSet", "  replicas: 4", "  replicas: 4\n  "+more).Replace(replicaSet)
	}
	return map[string]string{
		"CloneSet":                  clones("updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}"),
		"CloneSet by twos":          clones("updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}"),
		"CloneSet with grace":       clones("updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, inPlaceUpdateStrategy: {gracePeriodSeconds: 5}}}"),
		"CloneSet slow":             clones("minReadySeconds: 10\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly, maxUnavailable: 2}}"),
		"CloneSet hooked":           clones("updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n  " + hooked),
		"CloneSet hooked, slow":     clones("minReadySeconds: 10\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n  " + hooked),
		"CloneSet recreated":        clones("updateStrategy: {rollingUpdate: {maxUnavailable: 2}}"),
		"StatefulSet of Kruise":     asts("updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}"),
		"StatefulSet slow, by twos": asts("podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2, minReadySeconds: 10}}"),
		"ReplicaSet":                replicaSet,
		"ReplicaSet slow":           strings.Replace(replicaSet, "  replicas: 4", "  replicas: 4\n  minReadySeconds: 10", 1),
		"ReplicaSet in service":     served(replicaSet),
		"ReplicaSet served, slow":   served(strings.Replace(replicaSet, "  replicas: 4", "  replicas: 4\n  minReadySeconds: 10", 1)),
		"Deployment":                strings.Replace(replicaSet, "kind: ReplicaSet", "kind: Deployment", 1),
		"DaemonSet":                 strings.NewReplacer("kind: ReplicaSet", "kind: DaemonSet", "  replicas: 4\n", "").Replace(replicaSet),
	}
}

// served has pods carry the label that takes them into service.
func served(text string) string {
	return strings.Replace(text, "metadata: {labels: {app: web}}", `metadata: {labels: {app: web, `+kruise.InServiceLabel+`: "true"}}`, 1)
}

// TestCheck_EndsFromAnyMomentOfAnUpdate: a user plans a restart or another update in the
// middle of an update, when some pods are between two writes of their controller, or in
// trouble. The preview ends within a bounded number of turns, whatever its outcome.
func TestCheck_EndsFromAnyMomentOfAnUpdate(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 15
	}
	most, outcomes := 0, map[Outcome]int{}
	for name, text := range midwayKinds() {
		for seed := range seeds {
			chance := rand.New(rand.NewPCG(uint64(seed), 7))
			w := updating(t, text, chance)
			ref := refOf(documents(t, text)[0])
			s, err := w.Snapshot(ref)
			must(t, err)
			o := DefaultOptions()
			o.Seed, o.Start = uint64(seed), w.Now().Add(time.Duration(chance.IntN(20_000)-5000)*time.Millisecond)
			misfortune(&o, chance)
			for range chance.IntN(3) {
				if len(s.Pods) > 0 {
					i := chance.IntN(len(s.Pods))
					s.Pods[i] = disturbed(s.Pods[i], o.Start, chance)
				}
			}
			p, err := planned(t, text, s, chance)
			if err != nil {
				continue // a container that cannot restart, which is reported
			}
			n, outcome, err := turns(p, s, o)
			if err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
			most = max(most, n)
			outcomes[outcome]++
		}
	}
	t.Logf("at most %d turns; %v", most, outcomes)
	if outcomes[Completed] == 0 {
		t.Error("no plan completes")
	}
}

// misfortune is a pod that never becomes ready or that crashes, or an image that no node
// can pull, in some of the runs.
func misfortune(o *Options, chance *rand.Rand) {
	switch chance.IntN(8) {
	case 0:
		o.Fail = []int{1}
	case 1:
		o.Agent.Override = func(p *cluster.Pod) Override { return Override{Crash: len(p.UID)%2 == 0 && p.UID[len(p.UID)-1]%4 == 0} }
	case 2:
		o.Agent.Unpullable = []string{"web:3"}
	}
}

// updating is a world in which an update has come so far as chance has it.
func updating(t *testing.T, text string, chance *rand.Rand) *World {
	t.Helper()
	w := New(DefaultOptions())
	w.AddNode("n1", nil)
	w.AddNode("n2", nil)
	must(t, w.Apply(documents(t, text)...))
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if strings.Contains(text, "example.com/hold") {
		for _, e := range w.store.all.pods {
			w.pods.change(e, cluster.PodChange{AddFinalizers: []string{"example.com/hold"}}, "")
		}
	}
	must(t, w.Apply(documents(t, strings.ReplaceAll(text, "web:1", "web:2"))...))
	for range chance.IntN(60) {
		w.clock.step(w.clock.at + time.Minute)
	}
	must(t, w.clock.fault())
	return w
}

// disturbed is a pod that was seen between two writes about it, or after something went
// wrong.
func disturbed(p *cluster.Pod, now time.Time, chance *rand.Rand) *cluster.Pod {
	one := func(words ...string) string { return words[chance.IntN(len(words))] }
	own := *p
	own.Containers = append([]cluster.Container(nil), p.Containers...)
	var c *cluster.Container
	if len(own.Containers) > 0 {
		c = &own.Containers[chance.IntN(len(own.Containers))]
	}
	change := cluster.PodChange{}
	switch chance.IntN(9) {
	case 0, 1:
		change = labelled(kruise.LifecycleStateLabel, one("PreparingUpdate", "Updating", "Updated", "PreparingDelete", "Normal"))
	case 2:
		change.Conditions = []cluster.Condition{cluster.SetTo(kruise.InPlaceUpdateReady, corev1.ConditionStatus(one("True", "False")), "", "")}
	case 3:
		c.Image = "web:2"
	case 4:
		c.Ready, c.Waiting = false, one("ContainerCreating", "CrashLoopBackOff", "ImagePullBackOff", "Completed")
		change.Conditions = []cluster.Condition{cluster.SetTo(string(corev1.PodReady), corev1.ConditionFalse, "ContainersNotReady", "")}
	case 5:
		*c = cluster.Container{Name: c.Name, Image: c.Image, Reported: chance.IntN(2) == 0}
	case 6:
		c.Restarts += 3
	case 7:
		own.Deleting = true
	case 8:
		change.Conditions = []cluster.Condition{cluster.SetTo(string(corev1.PodReady), corev1.ConditionStatus(one("True", "False")), "", "")}
	}
	return own.With(change, now.Add(time.Duration(chance.IntN(8)-4)*time.Second))
}

// planned is a restart, or an update to the image before or after the next.
func planned(t *testing.T, text string, s plan.Snapshot, chance *rand.Rand) (plan.Plan, error) {
	t.Helper()
	policy := plan.Policy{Pull: plan.PullNever, Grace: plan.Duration(chance.IntN(2)*5) * plan.Duration(time.Second)}
	if chance.IntN(2) == 0 {
		policy.Steps = []plan.PolicyStep{{To: plan.Pods(1)}, {To: plan.All}}
	}
	if chance.IntN(3) > 0 {
		what := plan.RestartRequest{Containers: []string{"main"}, Method: plan.RestartCRR}
		if chance.IntN(2) == 0 && len(s.Pods) > 0 {
			what.Pods = []string{s.Pods[chance.IntN(len(s.Pods))].Name}
		}
		return plan.BuildRestart(s, what, policy)
	}
	if strings.Contains(text, "DaemonSet") {
		policy.Steps = nil
	}
	image := []string{"web:1", "web:3"}[chance.IntN(2)]
	desired, err := cluster.ReadWorkload(documents(t, strings.ReplaceAll(text, "web:1", image))[0])
	must(t, err)
	return plan.Build(desired, s, policy)
}
