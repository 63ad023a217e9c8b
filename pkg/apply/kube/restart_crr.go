package kube

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const (
	// recreateKept is for how many seconds a request stays after it is done: whoever
	// resumes a rollout within a day knows what was restarted.
	recreateKept = 24 * 60 * 60
	// recreateLimit ends a request that gets nowhere, which would hold up the next.
	recreateLimit = 30 * time.Minute
)

// recreate asks Kruise's node agent (docs/kruise/jobs.md#containerrecreaterequest). One request
// holds all containers of the pod: the agent stops them one after the other.
func (c *Cluster) recreate(ctx context.Context, m mark, w *cluster.Workload, p pod, r *plan.Restart) error {
	requests, err := c.recreations.get()
	if err != nil {
		return err
	}
	meta := c.recreateMeta(m, w, p.Pod)
	if _, there := requests.one(meta.Namespace, meta.Name); there {
		return nil
	}
	return c.recreations.create(ctx, c, kruise.KindContainerRecreateRequest, meta, c.recreateSpec(p.Pod, r))
}

func (c *Cluster) recreateMeta(m mark, w *cluster.Workload, p *cluster.Pod) metav1.ObjectMeta {
	meta := c.meta(m, c.ownersOf(w), m.name(p.Name+"-restart", p.UID))
	if meta.Namespace = p.Namespace; w.Namespace != p.Namespace && w.Namespace != "" {
		meta.OwnerReferences = nil // owners are in the same namespace
	}
	return meta
}

func (c *Cluster) recreateSpec(p *cluster.Pod, r *plan.Restart) *kruise.ContainerRecreateRequestSpec {
	spec := &kruise.ContainerRecreateRequestSpec{
		PodName:                 p.Name,
		Strategy:                recreateStrategy(r.RestartStrategy),
		ActiveDeadlineSeconds:   new(int64(c.stepLimit().Seconds())),
		TTLSecondsAfterFinished: new(int32(recreateKept)),
	}
	for _, name := range r.Containers {
		spec.Containers = append(spec.Containers, kruise.ContainerRecreateRequestContainer{Name: name})
	}
	return spec
}

func recreateStrategy(s plan.RestartStrategy) *kruise.ContainerRecreateRequestStrategy {
	out := &kruise.ContainerRecreateRequestStrategy{FailurePolicy: kruise.ContainerRecreateFail, OrderedRecreate: s.Ordered}
	if s.Unready > 0 {
		out.UnreadyGracePeriodSeconds = new(int64(s.Unready.Seconds()))
	}
	return out
}

// stepLimit is how long the present step may take.
func (c *Cluster) stepLimit() time.Duration {
	if rec, err := c.record.now(); err == nil {
		if step := rec.Present(); step != nil && step.Timeout > 0 {
			return step.Timeout
		}
	}
	return recreateLimit
}

// recreated is how a request went: its phase says only whether it is over, and each
// container has a result of its own.
func recreated(r *kruise.ContainerRecreateRequest) plan.Result {
	var open, bad []string
	for _, named := range r.Spec.Containers {
		state := kruise.ContainerRecreateRequestContainerRecreateState{Name: named.Name, Phase: kruise.ContainerRecreateRequestPending}
		for _, s := range r.Status.ContainerRecreateStates {
			if s.Name == named.Name {
				state = s
			}
		}
		text := strings.TrimSuffix("container "+state.Name+" "+strings.ToLower(string(state.Phase))+": "+state.Message, ": ")
		switch state.Phase {
		case kruise.ContainerRecreateRequestSucceeded:
		case kruise.ContainerRecreateRequestFailed:
			bad = append(bad, text)
		default:
			open = append(open, text)
		}
	}
	all := slices.Concat(bad, open)
	if r.Status.Phase != kruise.ContainerRecreateRequestCompleted {
		return plan.Result{Text: strings.Join(all, ", ")}
	}
	if r.Status.Message != "" {
		all = append([]string{r.Status.Message}, all...)
	}
	out := plan.Result{Done: true, Good: len(all) == 0, Text: strings.Join(all, "; ")}
	if r.Status.CompletionTime != nil {
		out.At = r.Status.CompletionTime.Time
	}
	return out
}
