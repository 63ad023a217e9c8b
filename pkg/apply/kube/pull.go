package kube

import (
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// site is where images are pulled to, and on whose behalf.
type site struct {
	mark
	// base is what names of jobs begin with, owners what they go away with.
	base   string
	owners []metav1.OwnerReference
	// pods select the nodes where Kruise finds them by itself; nil names them.
	pods           *metav1.LabelSelector
	nodes, secrets func() ([]string, error)
}

// siteOf are the nodes of a workload's pods. Those of a SidecarSet are in many
// namespaces, and so are their secrets.
func (c *Cluster) siteOf(m mark, w *cluster.Workload) *site {
	at := &site{
		mark: m, base: w.Name, owners: c.ownersOf(w),
		nodes:   func() ([]string, error) { return c.nodesOf(w) },
		secrets: func() ([]string, error) { return nil, nil },
	}
	if w.Namespace != "" {
		at.pods = plan.SelectorOf(w)
		at.secrets = func() ([]string, error) { return c.secretsOf(w) }
	}
	return at
}

// name is the name of a job.
func (s *site) name(purpose ...string) string { return s.mark.name(s.base+"-pull", purpose...) }

// pull has images pulled onto the nodes of the workload's pods.
func (c *Cluster) pull(ctx context.Context, _ string, p *plan.Pull) error {
	m, w, err := c.asks()
	if err != nil {
		return err
	}
	if w.Namespace == "" {
		if err := c.stateNamespace(ctx); err != nil {
			return err
		}
	}
	return c.pullAt(ctx, c.siteOf(m, w), p)
}

// pullAt has images pulled by Kruise where it is there (docs/kruise/jobs.md#image-pulls),
// otherwise by Jobs.
func (c *Cluster) pullAt(ctx context.Context, at *site, p *plan.Pull) error {
	jobs, err := c.pulls.get()
	if errors.Is(err, errNotServed) {
		return c.pullByJobs(ctx, at, p)
	}
	if err != nil {
		return err
	}
	for _, image := range p.Images {
		meta := c.meta(at.mark, at.owners, at.name(image))
		if _, there := jobs.one(meta.Namespace, meta.Name); there {
			continue
		}
		spec, err := imagePull(at, image, p.Parallel)
		if err != nil {
			return err
		}
		if err := c.pulls.create(ctx, c, kruise.KindImagePullJob, meta, spec); err != nil {
			return err
		}
	}
	return nil
}

// imagePull is what Kruise is told.
func imagePull(at *site, image string, parallel int) (*kruise.ImagePullJobSpec, error) {
	if parallel <= 0 {
		parallel = pullParallel
	}
	spec := &kruise.ImagePullJobSpec{Image: image, ImagePullJobTemplate: kruise.ImagePullJobTemplate{
		Parallelism:      new(intstr.FromInt32(int32(parallel))),
		PodSelector:      at.pods,
		CompletionPolicy: kruise.CompletionPolicy{Type: kruise.AlwaysCompletionPolicyType, TTLSecondsAfterFinished: new(int32(pullKept))},
	}}
	var err error
	if spec.PullSecrets, err = at.secrets(); err != nil || at.pods != nil {
		return spec, err
	}
	nodes, err := at.nodes()
	spec.Selector = &kruise.ImagePullJobNodeSelector{Names: nodes}
	return spec, err
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
		return !rules.Active(p.Pod) || w.Kind != kruise.KindSidecarSet && !owners[p.Owner.UID]
	}), nil
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
