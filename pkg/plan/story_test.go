package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// read reads one workload from YAML.
func read(tb testing.TB, text string) *cluster.Workload {
	tb.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	w, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// world is a model cluster with one settled workload.
func world(tb testing.TB, o simulate.Options, text string) (*simulate.World, cluster.Ref) {
	tb.Helper()
	w := simulate.New(o)
	for i := range 5 {
		w.AddNode(fmt.Sprintf("node-%d", i), nil)
	}
	n, err := yaml.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Apply(n.YNode()); err != nil {
		tb.Fatal(err)
	}
	if ok, err := w.Settle(10 * time.Minute); err != nil || !ok {
		tb.Fatalf("the cluster does not settle: %v", err)
	}
	return w, read(tb, text).Ref
}

// observe looks at a workload.
func observe(tb testing.TB, w *simulate.World, ref cluster.Ref) plan.Snapshot {
	tb.Helper()
	s, err := w.Observe(context.Background(), ref)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// built is a plan for a workload as a text has it.
func built(tb testing.TB, w *simulate.World, ref cluster.Ref, text string, p plan.Policy) plan.Plan {
	tb.Helper()
	out, err := plan.Build(read(tb, text), observe(tb, w, ref), p)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// drive runs a plan until it ends, and returns the last decision with a line for each that was
// taken. between may disturb the cluster after each.
func drive(tb testing.TB, w *simulate.World, ref cluster.Ref, p plan.Plan, between func(plan.Decision)) (plan.Decision, []string) {
	tb.Helper()
	var story []string
	ctx := context.Background()
	for range 100000 {
		s := observe(tb, w, ref)
		d := plan.Next(p, s, w.Now())
		if line := fmt.Sprintf("%d %s: %s", d.Step, d.Verb, d.Reason); len(story) == 0 || story[len(story)-1] != line {
			story = append(story, line)
		}
		if d.Progress != s.Progress {
			if err := w.Record(ctx, ref, s.Version, d.Progress); err != nil {
				tb.Fatal(err)
			}
			s = observe(tb, w, ref)
		}
		if d.Verb == plan.Done || d.Verb == plan.Halt {
			return d, story
		}
		for _, a := range d.Actions {
			if err := w.Do(ctx, ref, a); err != nil {
				story = append(story, "refused: "+err.Error())
			}
		}
		if between != nil {
			between(d)
		}
		if d.Verb == plan.Wait {
			if err := w.Await(ctx, ref, s.Version, d.Until); err != nil {
				tb.Fatalf("%v after\n%s", err, story)
			}
		}
	}
	tb.Fatalf("no end in sight: %v", story[max(0, len(story)-10):])
	return plan.Decision{}, nil
}

// percent is a percentage as a spec has it.
func percent(n int) intstr.IntOrString { return intstr.FromString(fmt.Sprint(n, "%")) }

// number is a whole number as a spec has it.
func number(n int32) intstr.IntOrString { return intstr.FromInt32(n) }

// manifest is a workload with a strategy, written in one line of YAML.
func manifest(apiVersion, kind, spec string) string {
	return fmt.Sprintf(`
apiVersion: %s
kind: %s
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]%s
`, apiVersion, kind, spec)
}

const (
	plain   = "}\n"
	gated   = ", readinessGates: [{conditionType: InPlaceUpdateReady}]}\n"
	newer   = "web:2"
	alpha   = "apps.kruise.io/v1alpha1"
	beta    = "apps.kruise.io/v1beta1"
	natives = "apps/v1"
)

// kinds are workloads that a rollout brings from web:1 to web:2.
var kinds = map[string]string{
	"CloneSet v1alpha1":  manifest(alpha, "CloneSet", plain+"  replicas: 7\n  updateStrategy: {type: InPlaceIfPossible}\n"),
	"CloneSet v1beta1":   manifest(beta, "CloneSet", plain+"  replicas: 7\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"CloneSet surge":     manifest(beta, "CloneSet", plain+"  replicas: 5\n  updateStrategy: {rollingUpdate: {maxSurge: 1}}\n"),
	"StatefulSet":        manifest(beta, "StatefulSet", gated+"  replicas: 5\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"DaemonSet":          manifest(alpha, "DaemonSet", plain),
	"DaemonSet in place": manifest(beta, "DaemonSet", plain+"  updateStrategy: {rollingUpdate: {rollingUpdateType: InPlaceIfPossible}}\n"),
	"native Deployment":  manifest(natives, "Deployment", plain+"  replicas: 6\n"),
	"native StatefulSet": manifest(natives, "StatefulSet", plain+"  replicas: 4\n"),
	"native DaemonSet":   manifest(natives, "DaemonSet", plain),
}

// TestRollout_OfEachKind carries the plan of each kind out on the model cluster, by
// the default steps and by others, and counts at the end of each step.
func TestRollout_OfEachKind(t *testing.T) {
	for name, text := range kinds {
		for _, steps := range []string{"", "2,60%,100%"} {
			t.Run(name+" "+steps, func(t *testing.T) {
				policy := plan.Policy{}
				if steps != "" {
					policy.Steps = must(plan.ParseSteps(steps))
				}
				w, ref := world(t, simulate.DefaultOptions(), text)
				p := built(t, w, ref, strings.ReplaceAll(text, "web:1", newer), policy)
				at := -1
				d, story := drive(t, w, ref, p, func(d plan.Decision) {
					if d.Step != at && at >= 0 {
						checkUpdated(t, w, ref, p, at)
					}
					at = d.Step
				})
				if d.Verb != plan.Done {
					t.Fatal(strings.Join(story, "\n"))
				}
				if n, all := updated(observe(t, w, ref)); n != all || all == 0 {
					t.Errorf("%d of %d pods run %s at the end", n, all, newer)
				}
			})
		}
	}
}

// checkUpdated holds a step that is done to its promise.
func checkUpdated(t *testing.T, w *simulate.World, ref cluster.Ref, p plan.Plan, step int) {
	t.Helper()
	s := &p.Steps[step]
	n, all := updated(observe(t, w, ref))
	if ref.Kind == "Deployment" {
		if n < s.Updated {
			t.Errorf("step %s: %d of %d pods are updated, promised %d", s.Name, n, all, s.Updated)
		}
		return
	}
	if n != s.Updated {
		t.Errorf("step %s: %d of %d pods are updated, promised %d", s.Name, n, all, s.Updated)
	}
}

// updated counts the living pods that run the new image.
func updated(s plan.Snapshot) (n, all int) {
	for _, p := range s.Pods {
		if p.Deleting {
			continue
		}
		all++
		if c, _ := p.Container("main"); c.Image == newer {
			n++
		}
	}
	return n, all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// scalable are workloads that have replicas, by every driver that each can have.
var scalable = map[string]string{
	"CloneSet":                  manifest(beta, "CloneSet", plain+"  replicas: %d\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"Advanced StatefulSet":      manifest(beta, "StatefulSet", gated+"  replicas: %d\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}\n"),
	"Deployment":                manifest(natives, "Deployment", plain+"  replicas: %d\n"),
	"StatefulSet":               manifest(natives, "StatefulSet", plain+"  replicas: %d\n"),
	"ReplicaSet by the client":  manifest(natives, "ReplicaSet", plain+"  replicas: %d\n"),
	"StatefulSet by the client": manifest(natives, "StatefulSet", plain+"  replicas: %d\n  updateStrategy: {type: OnDelete}\n"),
}

// TestRollout_ScalesAroundTheUpdate: a workload whose number of pods changes, with its template or
// alone, is done when every pod is there and ready, not when the last has merely been
// made.
func TestRollout_ScalesAroundTheUpdate(t *testing.T) {
	for name, text := range scalable {
		for _, image := range []string{"web:1", newer} {
			for _, size := range [][2]int{{3, 5}, {5, 3}} {
				t.Run(fmt.Sprint(name, " to ", image, " ", size), func(t *testing.T) {
					w, ref := world(t, simulate.DefaultOptions(), fmt.Sprintf(text, size[0]))
					next := strings.ReplaceAll(fmt.Sprintf(text, size[1]), "web:1", image)
					p := built(t, w, ref, next, plan.Policy{})
					d, story := drive(t, w, ref, p, nil)
					if d.Verb != plan.Done {
						t.Fatal(strings.Join(story, "\n"))
					}
					n, last := plan.Count(p, observe(t, w, ref)), p.Steps[len(p.Steps)-1]
					if n.Total != size[1] || n.Ready != size[1] || image == newer && n.Updated != size[1] || last.Updated != size[1] || last.Kept != 0 {
						t.Errorf("done with %+v; the last step promises %d updated, %d kept", n, last.Updated, last.Kept)
					}
				})
			}
		}
	}
}

// TestRollout_ShrinksBrokenWorkload: pods that never become ready do not keep a workload from
// shrinking: the template that comes next is what mends them.
func TestRollout_ShrinksBrokenWorkload(t *testing.T) {
	for _, name := range []string{"CloneSet", "ReplicaSet by the client"} {
		t.Run(name, func(t *testing.T) {
			o := simulate.DefaultOptions()
			o.Agent.Override = func(p *cluster.Pod) simulate.Override {
				c, _ := p.Container("main")
				return simulate.Override{Unready: c.Image != newer}
			}
			w, ref := world(t, o, fmt.Sprintf(scalable[name], 5))
			p := built(t, w, ref, strings.ReplaceAll(fmt.Sprintf(scalable[name], 3), "web:1", newer), plan.Policy{})
			if d, story := drive(t, w, ref, p, nil); d.Verb != plan.Done {
				t.Fatal(strings.Join(story, "\n"))
			}
			if n := plan.Count(p, observe(t, w, ref)); n.UpdatedReady != 3 || n.Total != 3 {
				t.Errorf("%+v", n)
			}
		})
	}
}
