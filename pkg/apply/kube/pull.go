package kube

import (
	"context"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

const (
	// pullParallel is how many nodes pull at a time unless somebody says: a registry
	// serves that many, and hundreds of nodes are done within a step's time.
	pullParallel = 10
	// pullKept is for how many seconds what has pulled stays afterwards, for whoever
	// looks.
	pullKept = 600
)

// pull has images pulled onto the nodes of the workload's pods, by Kruise where it is
// there (semantics fanout-and-jobs 7), otherwise by Jobs.
func (c *Cluster) pull(ctx context.Context, _ string, p *plan.Pull) error {
	m, w, err := c.asks()
	if err != nil {
		return err
	}
	jobs, err := c.pulls.get()
	if errors.Is(err, errNotServed) {
		return c.pullByJobs(ctx, m, w, p)
	}
	if err != nil {
		return err
	}
	if w.Namespace == "" {
		if err := c.stateNamespace(ctx); err != nil {
			return err
		}
	}
	for _, image := range p.Images {
		meta := c.meta(m, w, m.name(w.Name+"-pull", image))
		if _, there := jobs.one(meta.Namespace, meta.Name); there {
			continue
		}
		spec, err := c.imagePull(w, image, p.Parallel)
		if err != nil {
			return err
		}
		if err := c.pulls.create(ctx, c, "ImagePullJob", meta, spec); err != nil {
			return err
		}
	}
	return nil
}

// imagePull pulls on the nodes of the pods that a workload selects; those of a
// SidecarSet are in many namespaces, so their nodes are named.
func (c *Cluster) imagePull(w *cluster.Workload, image string, parallel int) (*kruise.ImagePullJobSpec, error) {
	if parallel <= 0 {
		parallel = pullParallel
	}
	spec := &kruise.ImagePullJobSpec{Image: image, ImagePullJobTemplate: kruise.ImagePullJobTemplate{
		Parallelism:      new(intstr.FromInt32(int32(parallel))),
		CompletionPolicy: kruise.CompletionPolicy{Type: kruise.AlwaysCompletionPolicyType, TTLSecondsAfterFinished: new(int32(pullKept))},
	}}
	if w.Namespace != "" {
		secrets, err := c.secretsOf(w)
		spec.PodSelector, spec.PullSecrets = plan.SelectorOf(w), secrets
		return spec, err
	}
	nodes, err := c.nodesOf(w)
	spec.Selector = &kruise.ImagePullJobNodeSelector{Names: nodes}
	return spec, err
}

// pullSecrets are the names of a pod's pull secrets: those of the template, or of the
// service account.
func pullSecrets(p *corev1.Pod) []string {
	var out []string
	for _, s := range p.Spec.ImagePullSecrets {
		out = append(out, s.Name)
	}
	return out
}

// own are the pods of the workload that are not being deleted.
func (c *Cluster) own(w *cluster.Workload) ([]pod, error) {
	list, err := c.pods.all()
	if err != nil {
		return nil, err
	}
	owners, err := c.owners(w)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(p pod) bool {
		return !rules.Active(p.Pod) || w.Kind != "SidecarSet" && !owners[p.Owner.UID]
	}), nil
}

// secretsOf are the names of the pull secrets of the workload's pods.
func (c *Cluster) secretsOf(w *cluster.Workload) ([]string, error) {
	pods, err := c.own(w)
	names := map[string]bool{}
	for _, p := range pods {
		for _, name := range p.secrets {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), err
}

// nodesOf are the nodes that the workload's pods are on, by name.
func (c *Cluster) nodesOf(w *cluster.Workload) ([]string, error) {
	pods, err := c.own(w)
	names := map[string]bool{}
	for _, p := range pods {
		if p.Node != "" {
			names[p.Node] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), err
}

// fillPulls says how far the pulls of the present step have come.
func (c *Cluster) fillPulls(s *plan.Snapshot, m mark, p *plan.Pull) error {
	s.Pulled, s.Pulling, s.Pulls = map[string]int{}, map[string]bool{}, map[string]plan.PullState{}
	if jobs := c.pulls.shown(); jobs != nil {
		for _, image := range p.Images {
			if job, ok := jobs.one(c.beside(), m.name(c.object().Name+"-pull", image)); ok {
				s.Pulled[image], s.Pulling[image], s.Pulls[image] = int(job.Status.Succeeded), true, pullState(job)
			}
		}
		_, err := jobs.all()
		return err
	}
	if jobs := c.jobs.shown(); jobs != nil {
		return c.fillJobs(s, m, p)
	}
	return nil
}

// pullState is what an ImagePullJob says beyond numbers. Nobody tries a failed node
// again: the node's agent has done so already.
func pullState(job *kruise.ImagePullJob) plan.PullState {
	out := plan.PullState{Over: job.Status.CompletionTime != nil}
	for _, node := range job.Status.FailedNodes {
		t := plan.PullTrouble{Node: node, Why: "see status of NodeImage " + node, Final: true}
		if job.Status.CompletionTime != nil {
			t.Since = job.Status.CompletionTime.Time
		}
		out.Troubles = append(out.Troubles, t)
	}
	return out
}
