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
	// defaultPullParallelism is how many nodes pull at a time by default: a registry
	// serves that many, and hundreds of nodes are done within a step's time.
	defaultPullParallelism = 10
	// pullTTLSeconds is for how many seconds finished jobs are kept.
	pullTTLSeconds = 600
)

// puller pulls images onto nodes, by Kruise or by Jobs.
type puller struct {
	*stepObjects
	jobPulls jobPulls
}

func newPuller(s *stepObjects) *puller {
	return &puller{stepObjects: s, jobPulls: jobPulls{changes: s.changes}}
}

// pullTarget is where images are pulled to, and for which owners.
type pullTarget struct {
	stepID
	// base is the beginning of the names of jobs, owners are the objects with which they are
	// deleted.
	base   string
	owners []metav1.OwnerReference
	// workload is whose pods are on the nodes; nil where nodes and secrets are given.
	workload       *cluster.Workload
	nodes, secrets []string
}

// pull has images pulled onto the nodes of the workload's pods.
func (pl *puller) pull(ctx context.Context, p *plan.Pull) error {
	m, w, err := pl.currentStep()
	if err != nil {
		return err
	}
	if w.Namespace == "" {
		if err := pl.createStateNamespace(ctx); err != nil {
			return err
		}
	}
	return pl.pullAt(ctx, pl.targetOf(m, w), p)
}

// targetOf are the nodes of a workload's pods.
func (pl *puller) targetOf(m stepID, w *cluster.Workload) *pullTarget {
	return &pullTarget{stepID: m, base: w.Name, owners: pl.ownersOf(w), workload: w}
}

// nodesOf are the names of the nodes of a target.
func (pl *puller) nodesOf(at *pullTarget) ([]string, error) {
	if at.workload == nil {
		return at.nodes, nil
	}
	return pl.observer.nodesOfPods(at.workload)
}

// name is the name of a job.
func (s *pullTarget) name(purpose ...string) string {
	return s.objectName(s.base+"-pull", purpose...)
}

// secretsOf are the names of the pull secrets of a workload's pods, and of those that
// will be created. Pods of a SidecarSet are in many namespaces, and so are their secrets: there are none.
func (pl *puller) secretsOf(at *pullTarget) ([]string, error) {
	w := at.workload
	if w == nil || w.Namespace == "" {
		return at.secrets, nil
	}
	pods, err := pl.observer.ownPods(w)
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

// pullSecretNames are the names of a pod's pull secrets: those of the template, or of the
// service account as it was when the pod was made.
func pullSecretNames(p *corev1.Pod) []string {
	var out []string
	for _, s := range p.Spec.ImagePullSecrets {
		out = append(out, s.Name)
	}
	return out
}

// TemplateSecrets are the names of the pull secrets that a pod of a template gets in a
// namespace: its own, or else those of its service account. A nil template is a pod
// without settings. With an error, what is known without the service account is
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

// pullAt pulls images by Kruise where it is installed (docs/kruise/jobs.md#image-pulls),
// otherwise by Jobs.
func (pl *puller) pullAt(ctx context.Context, at *pullTarget, p *plan.Pull) error {
	jobs, err := pl.lazy.pulls.start()
	if errors.Is(err, errNotServed) {
		return pl.pullByJobs(ctx, at, p)
	}
	if err != nil {
		return err
	}
	for _, image := range p.Images {
		meta := pl.meta(at.stepID, at.owners, at.name(image))
		if _, there := jobs.get(meta.Namespace, meta.Name); there {
			continue
		}
		spec, err := pl.imagePullSpec(at, image, p.Parallel)
		if err != nil {
			return err
		}
		if err := pl.lazy.pulls.create(ctx, kruise.KindImagePullJob, meta, spec); err != nil {
			return err
		}
	}
	return nil
}

// imagePullSpec is the spec of an ImagePullJob. Kruise finds the nodes of pods in one namespace by itself.
func (pl *puller) imagePullSpec(at *pullTarget, image string, parallel int) (*kruise.ImagePullJobSpec, error) {
	if parallel <= 0 {
		parallel = defaultPullParallelism
	}
	spec := &kruise.ImagePullJobSpec{Image: image, ImagePullJobTemplate: kruise.ImagePullJobTemplate{
		Parallelism:      new(intstr.FromInt32(int32(parallel))),
		CompletionPolicy: kruise.CompletionPolicy{Type: kruise.AlwaysCompletionPolicyType, TTLSecondsAfterFinished: new(int32(pullTTLSeconds))},
	}}
	var err error
	if spec.PullSecrets, err = pl.secretsOf(at); err != nil {
		return nil, err
	}
	if w := at.workload; w != nil && w.Namespace != "" {
		spec.PodSelector = plan.SelectorOf(w)
		return spec, nil
	}
	nodes, err := pl.nodesOf(at)
	spec.Selector = &kruise.ImagePullJobNodeSelector{Names: nodes}
	return spec, err
}

// fillState adds the progress of the pulls of the present step.
func (pl *puller) fillState(s *plan.Snapshot, m stepID, p *plan.Pull) error {
	s.Pulled, s.Pulling, s.Pulls = map[string]int{}, map[string]bool{}, map[string]plan.PullState{}
	if jobs := pl.lazy.pulls.ifStarted(); jobs != nil {
		for _, image := range p.Images {
			if job, ok := jobs.get(pl.auxiliaryNamespace(), m.objectName(pl.changedObject().Name+"-pull", image)); ok {
				s.Pulled[image], s.Pulling[image], s.Pulls[image] = int(job.Status.Succeeded), true, stateOfImagePullJob(job)
			}
		}
		_, err := jobs.list()
		return err
	}
	if jobs := pl.lazy.jobs.ifStarted(); jobs != nil {
		return pl.fillJobState(s, m, p)
	}
	return nil
}

// stateOfImagePullJob is what an ImagePullJob says beyond numbers. A failed node is final:
// the node's agent has tried several times.
func stateOfImagePullJob(job *kruise.ImagePullJob) plan.PullState {
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

// requests create what pulls: an ImagePullJob where Kruise is installed, otherwise Jobs.
func (pl *puller) requests(p *plan.Pull) ([]event.Request, error) {
	m, w, err := pl.currentStep()
	if err != nil {
		return nil, err
	}
	return pl.requestsAt(pl.targetOf(m, w), p)
}

func (pl *puller) requestsAt(at *pullTarget, p *plan.Pull) ([]event.Request, error) {
	request := pl.imagePullJobRequest
	if _, err := pl.lazy.pulls.start(); errors.Is(err, errNotServed) {
		request = pl.jobRequests
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

func (pl *puller) imagePullJobRequest(at *pullTarget, image string, parallel int) ([]event.Request, error) {
	spec, err := pl.imagePullSpec(at, image, parallel)
	if err != nil {
		return nil, err
	}
	meta := withGeneratedName(pl.meta(at.stepID, at.owners, ""), at.base+"-pull-")
	return kruiseRequest(pl.lazy.pulls, kruise.KindImagePullJob, meta, spec)
}

// jobRequests are Jobs, one for each node.
func (pl *puller) jobRequests(at *pullTarget, image string, _ int) ([]event.Request, error) {
	nodes, err := pl.nodesOf(at)
	if err != nil {
		return nil, err
	}
	pull, err := pl.podTemplate(at)
	if err != nil {
		return nil, err
	}
	jobs := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	var out []event.Request
	for _, node := range nodes {
		job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: withGeneratedName(pl.jobMeta(at, image, node), at.base+"-pull-")}
		if err := setPullTemplate(pull, job); err != nil {
			return nil, err
		}
		list, err := createRequest(objects.Path(jobs, job.Namespace, ""), job)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}
