package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const (
	// pullParallel is how many nodes pull at a time unless somebody says: a registry
	// serves that many, and hundreds of nodes are done within a step's time.
	pullParallel = 10
	// pullKept is for how many seconds what has pulled stays afterwards, for whoever
	// looks.
	pullKept = 600
)

// puller has images pulled.
type puller struct {
	*stepObjects
	running pulls
}

func newPuller(s *stepObjects) *puller {
	return &puller{stepObjects: s, running: pulls{changed: s.bell.ring}}
}

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

// pull has images pulled onto the nodes of the workload's pods.
func (pl *puller) pull(ctx context.Context, _ string, p *plan.Pull) error {
	m, w, err := pl.asks()
	if err != nil {
		return err
	}
	if w.Namespace == "" {
		if err := pl.stateNamespace(ctx); err != nil {
			return err
		}
	}
	at := pl.siteOf(m, w)
	return pl.pullAt(ctx, at, p)
}

// siteOf are the nodes of a workload's pods. Those of a SidecarSet are in many
// namespaces, and so are their secrets.
func (pl *puller) siteOf(m mark, w *cluster.Workload) *site {
	at := &site{
		mark: m, base: w.Name, owners: pl.ownersOf(w),
		nodes:   func() ([]string, error) { return pl.observer.nodesOf(w) },
		secrets: func() ([]string, error) { return nil, nil },
	}
	if w.Namespace != "" {
		at.pods = plan.SelectorOf(w)
		at.secrets = func() ([]string, error) { return pl.secretsOf(w) }
	}
	return at
}

// name is the name of a job.
func (s *site) name(purpose ...string) string { return s.mark.name(s.base+"-pull", purpose...) }

// secretsOf are the names of the pull secrets of the workload's pods, and of those to
// come.
func (pl *puller) secretsOf(w *cluster.Workload) ([]string, error) {
	pods, err := pl.observer.own(w)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, p := range pods {
		for _, name := range p.secrets {
			names[name] = true
		}
	}
	coming, err := TemplateSecrets(pl.ctx, pl.core, w.Namespace, w.Template)
	if err != nil {
		pl.warn("%v: images are pulled without", err)
	}
	for _, name := range coming {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// pullSecrets are the names of a pod's pull secrets: those of the template, or of the
// service account as it was when the pod was made.
func pullSecrets(p *corev1.Pod) []string {
	var out []string
	for _, s := range p.Spec.ImagePullSecrets {
		out = append(out, s.Name)
	}
	return out
}

// TemplateSecrets are the names of the pull secrets that a pod of a template gets in a
// namespace: its own, or else those of its service account. A nil template is a pod
// that says nothing. With an error, what is known without the service account is
// returned.
func TemplateSecrets(ctx context.Context, client kubernetes.Interface, namespace string, template map[string]any) ([]string, error) {
	spec := tree.Get(tree.FromValue(template), "spec")
	var out []string
	for _, s := range tree.Items(tree.Get(spec, "imagePullSecrets")) {
		out = append(out, tree.StrAt(s, "name"))
	}
	if len(out) > 0 {
		return out, nil
	}
	name := cmp.Or(tree.StrAt(spec, "serviceAccountName"), tree.StrAt(spec, "serviceAccount"), "default")
	account, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the pull secrets of service account %s: %w", name, err)
	}
	for _, s := range account.ImagePullSecrets {
		out = append(out, s.Name)
	}
	return out, nil
}

// pullAt has images pulled by Kruise where it is there (docs/kruise/jobs.md#image-pulls),
// otherwise by Jobs.
func (pl *puller) pullAt(ctx context.Context, at *site, p *plan.Pull) error {
	jobs, err := pl.lazy.pulls.get()
	if errors.Is(err, errNotServed) {
		return pl.pullByJobs(ctx, at, p)
	}
	if err != nil {
		return err
	}
	for _, image := range p.Images {
		meta := pl.meta(at.mark, at.owners, at.name(image))
		if _, there := jobs.one(meta.Namespace, meta.Name); there {
			continue
		}
		spec, err := imagePull(at, image, p.Parallel)
		if err != nil {
			return err
		}
		if err := pl.lazy.pulls.create(ctx, pl.connection, kruise.KindImagePullJob, meta, spec); err != nil {
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

// fillPulls says how far the pulls of the present step have come.
func (pl *puller) fillPulls(s *plan.Snapshot, m mark, p *plan.Pull) error {
	s.Pulled, s.Pulling, s.Pulls = map[string]int{}, map[string]bool{}, map[string]plan.PullState{}
	if jobs := pl.lazy.pulls.shown(); jobs != nil {
		for _, image := range p.Images {
			if job, ok := jobs.one(pl.beside(), m.name(pl.object().Name+"-pull", image)); ok {
				s.Pulled[image], s.Pulling[image], s.Pulls[image] = int(job.Status.Succeeded), true, pullState(job)
			}
		}
		_, err := jobs.all()
		return err
	}
	if jobs := pl.lazy.jobs.shown(); jobs != nil {
		return pl.fillJobs(s, m, p)
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

// pullRequests create what pulls, by Kruise where it is there, otherwise Jobs.
func (pl *puller) pullRequests(p *plan.Pull) ([]event.Request, error) {
	m, w, err := pl.asks()
	if err != nil {
		return nil, err
	}
	return pl.pullRequestsAt(pl.siteOf(m, w), p)
}

func (pl *puller) pullRequestsAt(at *site, p *plan.Pull) ([]event.Request, error) {
	request := pl.imagePullRequest
	if _, err := pl.lazy.pulls.get(); errors.Is(err, errNotServed) {
		request = pl.pullJobRequests
	} else if err != nil {
		return nil, err
	}
	var out []event.Request
	for _, image := range p.Images {
		list, err := request(at, image, p.Parallel)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func (pl *puller) imagePullRequest(at *site, image string, parallel int) ([]event.Request, error) {
	spec, err := imagePull(at, image, parallel)
	if err != nil {
		return nil, err
	}
	meta := unnamed(pl.meta(at.mark, at.owners, ""), at.base+"-pull-")
	return created(pl.lazy.pulls, kruise.KindImagePullJob, meta, spec)
}

// pullJobRequests are Jobs, one for each node.
func (pl *puller) pullJobRequests(at *site, image string, _ int) ([]event.Request, error) {
	nodes, err := at.nodes()
	if err != nil {
		return nil, err
	}
	pull, err := pl.pullingPod(at)
	if err != nil {
		return nil, err
	}
	jobs := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	var out []event.Request
	for _, node := range nodes {
		job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: unnamed(pl.jobMeta(at, image, node), at.base+"-pull-")}
		if err := fillJob(pull, job); err != nil {
			return nil, err
		}
		list, err := sends(objects.Path(jobs, job.Namespace, ""), job)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}
