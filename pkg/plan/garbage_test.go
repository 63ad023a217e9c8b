package plan_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestNonsense asks about plans that somebody has edited and clusters that nobody
// has seen: there is always an answer with a reason, and always the same one.
func TestNonsense(t *testing.T) {
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
