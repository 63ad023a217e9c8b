package kube

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// restart restarts containers inside one pod, once for each step, however often it is
// asked for.
func (c *Cluster) restart(ctx context.Context, _ string, r *plan.Restart) error {
	m, w, err := c.asks()
	if err != nil {
		return err
	}
	p, ok := c.pods.one(r.Namespace, r.Name)
	if !ok || p.UID != r.UID {
		return fmt.Errorf("pod %s: %w", r.Name, plan.ErrNotFound)
	}
	for _, name := range r.Containers {
		if why := plan.CannotRestart(p.Pod, name); why != "" {
			return fmt.Errorf("pod %s: container %s cannot be restarted: %s", p.Name, name, why)
		}
	}
	method, err := c.restartMethod(p.Pod, r)
	if err != nil {
		return err
	}
	switch method {
	case plan.RestartCRR:
		return c.recreate(ctx, m, w, p, r)
	case plan.RestartAlias:
		return c.rename(ctx, m, p, r)
	case plan.RestartSignal:
		return c.signal(ctx, m, p, r)
	}
	return fmt.Errorf("no method of restarting is called %q", method)
}

// restartMethod is the method that is asked for, or what the cluster can do. A pod
// that was begun with one is gone on with in the same way.
func (c *Cluster) restartMethod(p *cluster.Pod, r *plan.Restart) (string, error) {
	if r.Method != "" && r.Method != plan.RestartCRR {
		return r.Method, nil
	}
	_, err := c.recreations.get()
	served := !errors.Is(err, errNotServed)
	switch {
	case err != nil && served:
		return "", err
	case r.Method != "" && !served:
		return "", errors.New("the method crr needs Kruise, whose ContainerRecreateRequest is not served here")
	case r.Method != "":
		return r.Method, nil
	}
	method, _ := plan.RestartMethod(served, []*cluster.Pod{p}, r.Containers)
	return method, nil
}

// fillRestarts says how the restarts of the present step went, read off the cluster
// alone: by requests, and by what was written on pods.
func (c *Cluster) fillRestarts(s *plan.Snapshot, m mark, step *plan.Step) error {
	answer := func(pod string, r plan.Result) {
		if s.Verified == nil {
			s.Verified = map[string]plan.Result{}
		}
		s.Verified[plan.RestartKey(step.Name, pod)] = r
	}
	for _, p := range s.Pods {
		if a, ok := askedOf(p); ok && a.Step == m && a.Sent {
			answer(p.Name, a.result(p))
		}
	}
	requests := c.recreations.shown()
	if requests == nil {
		return nil
	}
	list, err := requests.all()
	for _, request := range list {
		if request.Labels[stepLabel] == string(m) {
			answer(request.Spec.PodName, recreated(request))
		}
	}
	return err
}
