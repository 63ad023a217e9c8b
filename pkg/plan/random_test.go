package plan_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

var (
	histories = flag.Int("histories", 5000, "how many random rollouts TestRollout_RandomHistories goes through")
	seed      = flag.Uint64("seed", 0, "go through the one history of this number only")
)

// TestRollout_RandomHistories goes through random rollouts: any kind, spec, change, policy and
// failure, with actions and records that get lost. Each completes, or fails with a reason; it
// never makes more pods unavailable than allowed; the conditions of a completed step hold; and
// equal snapshots give equal decisions.
func TestRollout_RandomHistories(t *testing.T) {
	if *seed != 0 {
		if err := history(*seed); err != nil {
			t.Fatal(err)
		}
		return
	}
	n := *histories
	if testing.Short() {
		n = min(n, 500)
	}
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				number := next.Add(1)
				if number > uint64(n) || t.Failed() {
					return
				}
				if err := history(number); err != nil {
					t.Errorf("history %d: %v\nagain: go test ./pkg/plan -run TestRollout_RandomHistories -seed %d", number, err, number)
				}
			}
		})
	}
	wg.Wait()
}

// scene is one random rollout.
type scene struct {
	chance   *rand.Rand
	world    *simulate.World
	ref      cluster.Ref
	old, new string
	policy   plan.Policy
	plan     plan.Plan
	// down is how many pods may be unavailable at any time.
	down int
	// honest is true where nothing goes wrong: the rollout has to succeed.
	honest bool
	lost   bool
	trace  []string
}

func history(number uint64) (err error) {
	s := &scene{chance: rand.New(rand.NewPCG(number, 1))}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, s.old)
		}
		if err != nil {
			err = fmt.Errorf("%w\n%s\nbecomes%s\nsteps %+v\n%s", err, s.old, s.new, s.policy.Steps, strings.Join(s.trace[max(0, len(s.trace)-12):], "\n"))
		}
	}()
	s.imagine()
	if err := s.begin(); err != nil {
		return err
	}
	return s.drive()
}

func (s *scene) one(words ...string) string { return words[s.chance.IntN(len(words))] }
func (s *scene) rarely(n int) bool          { return s.chance.IntN(n) == 0 }

// imagine makes up a workload, what becomes of it, and a policy.
func (s *scene) imagine() {
	replicas := s.chance.IntN(9) + 1
	rate := s.one("1", "2", "3", "20%", "50%", "100%")
	policy := s.one("ReCreate", "InPlaceIfPossible")
	shape := plain
	var api, kind, spec string
	switch s.chance.IntN(8) {
	case 0:
		api, kind, spec = alpha, "CloneSet", fmt.Sprintf("  replicas: %d\n  updateStrategy: {type: %s, maxUnavailable: %s}\n", replicas, policy, rate)
	case 1:
		api, kind, spec = beta, "CloneSet", fmt.Sprintf("  replicas: %d\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: %s, maxUnavailable: %s, maxSurge: %s}}\n", replicas, policy, rate, s.one("0", "1", "30%"))
	case 2:
		api, kind, shape = beta, "StatefulSet", gated
		spec = fmt.Sprintf("  replicas: %d\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: %s, maxUnavailable: %s}}\n", replicas, policy, rate)
	case 3:
		api, kind, spec = beta, "DaemonSet", fmt.Sprintf("  updateStrategy: {rollingUpdate: {rollingUpdateType: %s, maxUnavailable: %s}}\n", s.one("Standard", "InPlaceIfPossible"), rate)
	case 4:
		api, kind, spec = natives, "Deployment", fmt.Sprintf("  replicas: %d\n", replicas)
	case 5:
		api, kind, spec = natives, "StatefulSet", fmt.Sprintf("  replicas: %d\n  updateStrategy: {type: %s}\n", replicas, s.one("OnDelete", "RollingUpdate"))
	case 6:
		api, kind, spec = natives, "ReplicaSet", fmt.Sprintf("  replicas: %d\n", replicas)
	case 7:
		api, kind, spec = natives, "DaemonSet", fmt.Sprintf("  updateStrategy: {type: %s}\n", s.one("OnDelete", "RollingUpdate"))
	}
	s.old = manifest(api, kind, shape+spec)
	if s.rarely(2) {
		s.old = strings.Replace(s.old, "{app: web}}\n    spec", `{app: web, kubectl-kruise.dev/in-service: "true"}}`+"\n    spec", 1)
	}
	s.new = strings.ReplaceAll(s.old, "web:1", newer)
	if s.rarely(3) {
		s.new = strings.Replace(s.new, `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1)
	}
	if s.rarely(4) {
		s.new = strings.Replace(s.new, fmt.Sprintf("replicas: %d", replicas), fmt.Sprintf("replicas: %d", s.chance.IntN(9)+1), 1)
	}
	if s.rarely(2) {
		s.policy.Steps = must(plan.ParseSteps(s.one("1,100%", "2,60%,100%", "100%", "10%,20%,30%,100%", "1,2,3,4,100%", "50%")))
	}
	if s.rarely(3) {
		s.policy.Grace = plan.Duration(time.Duration(s.chance.IntN(5)) * time.Second)
	}
	if s.rarely(3) && len(s.policy.Steps) > 0 {
		_ = s.policy.PauseAfter(s.one("1", "all=30s", "1=1m"))
	}
	if s.rarely(4) {
		s.policy.Verify = []plan.Verify{{URL: "http://web"}}
	}
}

// begin makes the world, with what goes wrong in it, and the plan.
func (s *scene) begin() error {
	o := simulate.DefaultOptions()
	o.Seed = s.chance.Uint64()
	s.honest = !s.rarely(3)
	if !s.honest {
		o.Fail = []int{s.chance.IntN(4) + 1}
		if s.rarely(2) {
			o.Agent.Unpullable = []string{newer}
		}
		for range 100 {
			o.Answers = append(o.Answers, plan.Result{Done: true, Good: s.chance.IntN(2) == 0})
		}
	}
	s.lost = s.rarely(3)
	s.world = simulate.New(o)
	for i := range s.chance.IntN(4) + 3 {
		s.world.AddNode(fmt.Sprintf("node-%d", i), nil)
	}
	n, err := yaml.Parse(s.old)
	if err != nil {
		return err
	}
	if err := s.world.Apply(n.YNode()); err != nil {
		return err
	}
	if ok, err := s.world.Settle(time.Hour); err != nil || !ok {
		return fmt.Errorf("the cluster does not settle: %w", err)
	}
	w, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		return err
	}
	s.ref = w.Ref
	return s.build()
}

func (s *scene) build() error {
	n, err := yaml.Parse(s.new)
	if err != nil {
		return err
	}
	desired, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		return err
	}
	snap, err := s.world.Snapshot(s.ref)
	if err != nil {
		return err
	}
	if s.plan, err = plan.Build(desired, snap, s.policy); err != nil {
		return err
	}
	if len(s.plan.Steps) > 0 {
		// The description of the plan equals the effect of its patches.
		same, err := s.plan.WithDescription(snap)
		if err != nil || !reflect.DeepEqual(same.Change, s.plan.Change) {
			return fmt.Errorf("described otherwise: %+v, %w", same.Change, err)
		}
	}
	s.down = s.plan.Limits.MaxUnavailable
	return nil
}

// drive runs the plan.
func (s *scene) drive() error {
	for range 20000 {
		snap, err := s.world.Snapshot(s.ref)
		if err != nil {
			return err
		}
		if err := s.watch(snap); err != nil {
			return err
		}
		d := plan.Next(s.plan, snap, s.world.Now())
		if again := plan.Next(s.plan, snap, s.world.Now()); !reflect.DeepEqual(again, d) {
			return fmt.Errorf("two answers: %+v\n%+v", d, again)
		}
		s.trace = append(s.trace, fmt.Sprintf("%s %d %s: %s", s.world.Now().Format(time.TimeOnly), d.Step, d.Verb, d.Reason))
		switch d.Verb {
		case plan.Done:
			return s.kept(snap)
		case plan.Halt:
			if s.honest {
				return errors.New("halts although nothing is wrong")
			}
			if d.Reason == "" || len(d.Blockers) == 0 || d.OnFailure == "" {
				return fmt.Errorf("a halt without a reason: %+v", d)
			}
			return nil
		}
		if err := s.take(snap, d); err != nil {
			return err
		}
	}
	return errors.New("no end in sight")
}

// take does what was decided; some of it may get lost, as if a user had pulled
// the plug.
func (s *scene) take(snap plan.Snapshot, d plan.Decision) error {
	ctx := context.Background()
	if d.Progress != snap.Progress {
		if s.lost && s.rarely(5) {
			return s.world.Run(s.world.Now().Add(time.Second))
		}
		if err := s.world.Record(ctx, s.ref, snap.Version, d.Progress); err != nil {
			return err
		}
	}
	for _, a := range d.Actions {
		if s.lost && s.rarely(5) && a.Pull == nil {
			continue
		}
		err := s.world.Do(ctx, s.ref, a)
		if err != nil && !errors.Is(err, plan.ErrRefused) && !errors.Is(err, plan.ErrNotFound) && !errors.Is(err, plan.ErrConflict) {
			return err
		}
		if err != nil {
			return s.world.Run(s.world.Now().Add(time.Second))
		}
	}
	if d.Verb != plan.Wait {
		return nil
	}
	if len(d.Blockers) == 0 || d.Reason == "" {
		return fmt.Errorf("waits for nothing: %+v", d)
	}
	if d.Blockers[0].Gate == plan.GatePromote {
		return s.world.Promote(s.ref, s.plan)
	}
	now, err := s.world.Snapshot(s.ref)
	if err != nil {
		return err
	}
	return s.world.Await(ctx, s.ref, now.Version, d.Until)
}

// watch counts the pods that are down. Of a Deployment and a DaemonSet their own
// controllers decide.
func (s *scene) watch(snap plan.Snapshot) error {
	if s.ref.Kind == "Deployment" || s.ref.Kind == "DaemonSet" || !s.honest {
		return nil
	}
	up := 0
	for _, p := range snap.Pods {
		if rules.Active(p) && rules.Available(p, 0, s.world.Now()) {
			up++
		}
	}
	if wanted := wantedReplicas(snap.Workload.Object); wanted-up > s.down && s.settled(snap) {
		return fmt.Errorf("%d of %d pods are down, %d may be", wanted-up, wanted, s.down)
	}
	return nil
}

// settled is false while the workload grows or shrinks: pods that never were are
// not down.
func (s *scene) settled(snap plan.Snapshot) bool {
	return !s.plan.Resizes() && len(snap.Pods) > 0
}

func wantedReplicas(obj any) int {
	if c, ok := obj.(*kruise.CloneSet); ok {
		return int(*c.Spec.Replicas)
	}
	if c, ok := obj.(*kruise.StatefulSet); ok {
		return int(*c.Spec.Replicas)
	}
	return 0
}

// kept holds a finished rollout to its promise.
func (s *scene) kept(snap plan.Snapshot) error {
	if len(s.plan.Steps) == 0 {
		return nil
	}
	last := s.plan.Steps[len(s.plan.Steps)-1]
	if n, all := updated(snap); n < last.Updated {
		return fmt.Errorf("done with %d of %d pods updated, promised %d", n, all, last.Updated)
	}
	return nil
}

// TestNext_AnswersAnyPlanAndSnapshot asks about edited plans and about clusters in impossible
// states: there is always an answer with a reason, and always the same one.
func TestNext_AnswersAnyPlanAndSnapshot(t *testing.T) {
	var texts []string
	for _, text := range allKinds() {
		texts = append(texts, text)
	}
	n := 1500
	if testing.Short() {
		n = 300
	}
	for number := range n {
		chance := rand.New(rand.NewPCG(uint64(number), 2))
		text := texts[chance.IntN(len(texts))]
		s := plan.Snapshot{Workload: read(t, text), Pods: oddPods(chance), Gates: cluster.Gates{InPlaceUpdateEnvFromMetadata: chance.IntN(2) == 0}}
		p, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), s, plan.Policy{})
		if err != nil {
			if p.Steps != nil {
				t.Fatalf("%d: an error and a plan: %v", number, err)
			}
			continue
		}
		for range 5 {
			spoilPlan(chance, &p)
			spoilSnapshot(chance, &s, p)
			now := noon.Add(time.Duration(chance.IntN(7200)-60) * time.Second)
			d := plan.Next(p, s, now)
			if again := plan.Next(p, s, now); !reflect.DeepEqual(d, again) {
				t.Fatalf("%d: two answers\n%+v\n%+v", number, d, again)
			}
			if d.Verb == "" || d.Reason == "" && len(p.Steps) > 0 || d.Verb == plan.Act && len(d.Actions) == 0 {
				t.Fatalf("%d: %+v", number, d)
			}
			if d.Verb == plan.Wait && !d.Until.IsZero() && !d.Until.After(now) {
				t.Fatalf("%d: at %s it waits until %s", number, now, d.Until)
			}
		}
	}
}

// oddPods are pods in states that should not be, or not together.
func oddPods(chance *rand.Rand) []*cluster.Pod {
	out := pods(chance.IntN(7), "x")
	one := func(words ...string) string { return words[chance.IntN(len(words))] }
	for _, p := range out {
		p.Phase = corev1.PodPhase(one("Running", "Running", "Pending", "Failed", "Succeeded", "", "Odd"))
		p.Deleting = chance.IntN(5) == 0
		p.Labels["controller-revision-hash"] = one("web-x", "web-new", "", "-", "new")
		p.Labels[kruise.LifecycleStateLabel] = one("", "Normal", "PreparingUpdate", "Updating", "Updated", "PreparingDelete", "Odd")
		p.Annotations[kruise.InPlaceUpdateStateAnnotation] = one("", "{}", "[", `{"nextContainerImages":{"main":"x"}}`, `{"updateTimestamp":"soon"}`)
		p.Annotations[kruise.LifecycleTimestampAnnotation] = one("", "2026-07-01T12:00:00Z", "yesterday")
		if chance.IntN(3) == 0 {
			p.Annotations[kruise.InPlaceUpdateGraceAnnotation] = one("{}", "[", `{"graceSeconds":-5}`)
		}
		if chance.IntN(4) == 0 {
			p.Conditions, p.Containers, p.Node, p.UID = nil, nil, "", ""
		}
		for i := range p.Containers {
			p.Containers[i].Waiting = one("", "", "CrashLoopBackOff", "ErrImagePull", "Odd")
			p.Containers[i].Image = one("web:1", newer, "")
		}
	}
	return out
}

// spoilPlan edits a plan as no program would.
func spoilPlan(chance *rand.Rand, p *plan.Plan) {
	if len(p.Steps) == 0 {
		return
	}
	s := &p.Steps[chance.IntN(len(p.Steps))]
	switch chance.IntN(12) {
	case 0:
		s.After = nil
	case 1:
		s.Before = nil
	case 2:
		s.Patches = nil
	case 3:
		s.Kind = plan.StepKind([]string{"pullImages", "inPlace", "recreate", "recreateContainers", "verify", "pause", "odd", ""}[chance.IntN(8)])
	case 4:
		s.After = append(s.After, plan.Condition{Type: "odd", Value: "x"}, plan.Condition{Type: plan.HoldsPulled, Value: "many"})
	case 5:
		s.Patches = append(s.Patches, plan.Patch{Type: plan.PatchJSON, Body: []any{1, map[string]any{"op": 3}, map[string]any{"op": "add", "path": "x"}}})
	case 6:
		s.Patches = append(s.Patches, plan.Patch{Type: plan.PatchMerge, Body: "text"})
	case 7:
		s.Updated, s.Timeout = -3, -1
	case 8:
		s.Pods = append(s.Pods, plan.PodStep{})
	case 9:
		p.Driver = plan.DriverClient
	case 10:
		p.Target.Carrier = &plan.Target{}
	}
}

// spoilSnapshot makes up what is seen.
func spoilSnapshot(chance *rand.Rand, s *plan.Snapshot, p plan.Plan) {
	s.Progress = plan.Progress{Step: chance.IntN(len(p.Steps)+3) - 1, Sent: chance.IntN(4) - 1, Promoted: chance.IntN(5) == 0}
	if chance.IntN(3) > 0 {
		s.Progress.Started = noon
	}
	if chance.IntN(2) == 0 {
		s.Pods = oddPods(chance)
	}
	if s.Workload == nil {
		return
	}
	switch o := s.Workload.Object.(type) {
	case *kruise.CloneSet:
		c := *o
		c.Status.UpdateRevision, c.Status.ObservedGeneration = "web-new", int64(chance.IntN(3))
		if r := c.Spec.UpdateStrategy.RollingUpdate; r != nil {
			rolling := *r
			rolling.Partition = new(intstr.Parse([]string{"0", "9", "100%", "x", "-4", "33.3%"}[chance.IntN(6)]))
			c.Spec.UpdateStrategy.RollingUpdate = &rolling
		}
		w := *s.Workload
		w.Object, s.Workload = &c, &w
	default:
		if chance.IntN(20) == 0 {
			w := *s.Workload
			w.Object, s.Workload = nil, &w
		}
	}
	if chance.IntN(30) == 0 {
		s.Workload = nil
	}
	s.Revisions = nil
	if chance.IntN(2) == 0 && s.Workload != nil {
		s.Revisions = []cluster.Revision{{Name: "web-x", Template: map[string]any{"spec": 3}}, {Name: "", Number: -1}, {Name: "web-new", Template: s.Workload.Template}}
	}
	s.Reports = map[string]rules.NodeReport{"": {}}
	s.Verified = map[string]plan.Result{fmt.Sprint("verify-", chance.IntN(3)): {Done: chance.IntN(2) == 0, At: noon}}
}
