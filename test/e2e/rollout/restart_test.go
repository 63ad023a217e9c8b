package rollout

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
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

// TestRestart_OnceByEveryMethod restarts the containers of all pods, each once, by every method; the
// pods stay.
func TestRestart_OnceByEveryMethod(t *testing.T) {
	for name, c := range map[string]struct {
		workload workload
		method   string
	}{
		"crr, CloneSet":             {kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}"), plan.RestartCRR},
		"chosen, StatefulSet":       {nativeKind("StatefulSet", "statefulsets", "serviceName: web"), ""},
		"image-alias, ReplicaSet":   {nativeKind("ReplicaSet", "replicasets", ""), plan.RestartAlias},
		"image-alias, Deployment":   {nativeKind("Deployment", "deployments", "strategy: {rollingUpdate: {maxUnavailable: 2}}"), plan.RestartAlias},
		"signal, DaemonSet":         {nativeKind("DaemonSet", "daemonsets", ""), plan.RestartSignal},
		"crr, Advanced StatefulSet": {kruiseKind("StatefulSet", "statefulsets", "serviceName: web"), plan.RestartCRR},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.workload)
			before := restarts(b.pods(t))
			k := b.open(t)
			p := b.restartPlan(t, k, plan.RestartRequest{Method: c.method})
			res := b.run(t.Context(), t, k, p, apply.Options{})
			if res.Outcome != event.Completed {
				t.Fatalf("%s: %s", res.Outcome, res.Reason)
			}
			for uid := range before {
				before[uid]++
			}
			if after := restarts(b.pods(t)); !maps.Equal(before, after) {
				t.Errorf("restarts %v, want %v", after, before)
			}
		})
	}
}

// TestRestart_ResumeRestartsNothingTwice: a process that continues after a crash finds on the cluster what was
// restarted, and restarts nothing twice.
func TestRestart_ResumeRestartsNothingTwice(t *testing.T) {
	for _, method := range []string{plan.RestartCRR, plan.RestartAlias, plan.RestartSignal} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}"))
			p := b.restartPlan(t, b.open(t), plan.RestartRequest{Method: method})
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

// TestRestart_RefusedEndsTheRollout: the reason is the rollout's end.
func TestRestart_RefusedEndsTheRollout(t *testing.T) {
	t.Parallel()
	b := newBed(t, nativeKind("ReplicaSet", "replicasets", ""))
	k := b.open(t)
	s, err := k.Observe(t.Context(), b.object.Ref)
	must(t, err)
	p, err := plan.BuildRestart(s, plan.RestartRequest{}, plan.Policy{})
	must(t, err)
	p.Steps[0].Containers.Names = []string{"other"}
	must(t, k.Begin(t.Context(), b.object.Ref, p))
	res := b.run(t.Context(), t, k, p, apply.Options{})
	if res.Outcome != event.Failed || !strings.Contains(res.Reason, "container other cannot be restarted: the pod has no such container") {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
	if slices.Max(slices.Collect(maps.Values(restarts(b.pods(t))))) > 0 {
		t.Error("something has restarted")
	}
}
