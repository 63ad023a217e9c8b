package plan_test

import (
	"context"
	"fmt"
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

// drive carries a plan out until it ends, and returns the last decision with a line
// for each that was taken. between may disturb the cluster after each.
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
