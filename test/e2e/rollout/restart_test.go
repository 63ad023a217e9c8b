package rollout

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// restartPlan makes a plan that restarts all pods of the workload, and puts it on
// record.
func (b *bed) restartPlan(t *testing.T, c *kube.Cluster, r plan.RestartRequest) plan.Plan {
	t.Helper()
	s, err := c.Observe(t.Context(), b.object.Ref)
	must(t, err)
	p, err := plan.BuildRestart(s, r, plan.Policy{})
	must(t, err)
	must(t, c.Begin(t.Context(), b.object.Ref, p))
	return p
}

// restarts are how often the main container of each pod has restarted, by uid.
func restarts(pods []corev1.Pod) map[string]int {
	out := map[string]int{}
	for i := range pods {
		out[string(pods[i].UID)] = int(pods[i].Status.ContainerStatuses[0].RestartCount)
	}
	return out
}

// TestRestart_ResumeRestartsNothingTwice: a process that continues after a crash finds on the cluster what was
// restarted, and restarts nothing twice. Signals need a kubelet that answers exec; the other methods: internal/cli/rollout.
func TestRestart_ResumeRestartsNothingTwice(t *testing.T) {
	for name, w := range map[string]workload{
		"CloneSet":  kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}"),
		"DaemonSet": nativeKind("DaemonSet", "daemonsets", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, w)
			p := b.restartPlan(t, b.open(t), plan.RestartRequest{Method: plan.RestartSignal})
			for crashes := 0; ; crashes++ {
				ctx, cancel := context.WithCancelCause(t.Context())
				k := b.open(t)
				acted := 0
				res, err := apply.Run(ctx, k, b.object.Ref, p, apply.Options{Emit: func(e event.Event) {
					if e.Type == event.Acted {
						if acted++; acted == 1 {
							cancel(errors.New("crash"))
						}
					}
				}})
				must(t, err)
				cancel(nil)
				k.Close()
				if res.Outcome == event.Completed {
					break
				}
				if res.Outcome != event.Interrupted || crashes > 8 {
					t.Fatalf("%s: %s", res.Outcome, res.Reason)
				}
			}
			for uid, n := range restarts(b.pods(t)) {
				if n != 1 {
					t.Errorf("pod %s has restarted %d times", uid, n)
				}
			}
		})
	}
}
