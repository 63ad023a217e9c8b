package rollout

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// paused is a policy that stops after the first pod.
func paused(t *testing.T) plan.Policy {
	t.Helper()
	p := plan.Policy{Driver: plan.DriverKruise, Steps: steps(t, "1", "100%"), Pull: plan.PullNever}
	p.Steps[0].Pause = &plan.Pause{}
	return p
}

// steady is a lease that a slow machine does not lose.
var steady = kube.Lease{Lasts: 6 * time.Second, Tries: 5 * time.Second, Renew: 300 * time.Millisecond}

// operator is a user who runs a rollout, with access of their own.
func (b *bed) operator(t *testing.T, name string) (*kube.Cluster, *proxy.Proxy) {
	t.Helper()
	p := fair(t, b)
	c, err := kube.Open(t.Context(), p.Config(), kube.Options{
		Target: b.object, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: name, Lease: steady,
	})
	must(t, err)
	t.Cleanup(c.Close)
	return c, p
}

// TestSecondOperator_TakesOverAfterAKill: the second operator sees who runs the rollout; after a kill they continue
// on where the first has stopped.
func TestSecondOperator_TakesOverAfterAKill(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	first, network := b.operator(t, "anna@desk")
	held, release, err := first.Hold(t.Context(), nil)
	must(t, err)
	defer release()
	p := b.plan(t, first, paused(t))
	if res := b.run(held, t, first, p, apply.Options{AtPause: true}); res.Outcome != event.AtPause {
		t.Fatalf("%s: %s", res.Outcome, res.Reason)
	}
	second, _ := b.operator(t, "ben@train")
	if _, _, err := second.Hold(t.Context(), nil); !errors.Is(err, plan.ErrOtherExecutor) || !strings.Contains(err.Error(), "anna@desk") {
		t.Fatalf("while the first is alive: %v", err)
	}
	network.Kill()
	var told []string
	going, done, err := second.Hold(t.Context(), func(holder string) { told = append(told, holder) })
	must(t, err)
	defer done()
	if len(told) != 1 || !strings.Contains(told[0], "anna@desk") {
		t.Errorf("told of %q", told)
	}
	rec, err := second.Resume()
	must(t, err)
	if rec.By != "anna@desk" || rec.Progress.Step == 0 {
		t.Errorf("the record: by %s, step %d", rec.By, rec.Progress.Step)
	}
	promote(t, b)
	if res := b.run(going, t, second, rec.Plan, apply.Options{}); res.Outcome != event.Completed {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
	lease, err := b.Client().CoordinationV1().Leases(b.namespace).Get(t.Context(), "rollout.cloneset.web", metav1.GetOptions{})
	must(t, err)
	if owners := lease.OwnerReferences; len(owners) != 1 || owners[0].Kind != "CloneSet" || owners[0].Name != "web" {
		t.Errorf("the lease outlives the workload: %v", owners)
	}
}

// promote lets the rollout go on, as another terminal does.
func promote(t *testing.T, b *bed) {
	t.Helper()
	_, err := kube.Records{Client: b.Client()}.Change(t.Context(), b.object.Ref, "carla", func(r *plan.Record) error {
		r.Progress.Promoted = true
		return nil
	})
	must(t, err)
}

// TestOutage_ResumesWithTheLease: while the server is away nothing is written; when it is back the
// rollout continues, with the lease that no other process has taken.
func TestOutage_ResumesWithTheLease(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	p := fair(t, b)
	c, err := kube.Open(t.Context(), p.Config(), kube.Options{
		Target: b.object, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "test", Lease: stormy,
	})
	must(t, err)
	t.Cleanup(c.Close)
	held, release, err := c.Hold(t.Context(), nil)
	must(t, err)
	defer release()
	made := b.plan(t, c, paused(t))
	if res := b.run(held, t, c, made, apply.Options{AtPause: true}); res.Outcome != event.AtPause {
		t.Fatalf("%s: %s", res.Outcome, res.Reason)
	}
	p.Away(true)
	promote(t, b)
	back := time.AfterFunc(2*stormy.Lasts, func() { p.Away(false) })
	defer back.Stop()
	if res := b.run(held, t, c, made, apply.Options{}); res.Outcome != event.Completed {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
}
