package kube

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// jobPull is a pull by Jobs that this process continues: after a crash it is continued
// after the Jobs that are in the cluster.
type jobPull struct {
	running bool
	// failed is why it ended too early.
	failed string
}

// pullByJobs creates the first Jobs, and the next when these have ended.
func (pl *puller) pullByJobs(ctx context.Context, at *pullTarget, p *plan.Pull) error {
	if _, err := pl.lazy.jobs.start(); err != nil {
		return err
	}
	if _, err := pl.lazy.jobPods.start(); err != nil {
		return err
	}
	if !pl.jobPulls.claim(at.stepID) {
		return nil
	}
	more, err := pl.createNext(ctx, at, p)
	if err != nil || !more {
		pl.jobPulls.release(at.stepID, nil)
		return err
	}
	go func() { pl.jobPulls.release(at.stepID, pl.createRemaining(at, p)) }()
	return nil
}

// jobPulls are the pulls by Jobs, by step.
type jobPulls struct {
	changes *changeSignal

	mu     sync.Mutex
	byStep map[string]*jobPull
}

// claim makes the caller the one that pulls; false if this process does so already.
func (a *jobPulls) claim(m stepID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.byStep[string(m)]; p != nil && p.running {
		return false
	}
	if a.byStep == nil {
		a.byStep = map[string]*jobPull{}
	}
	a.byStep[string(m)] = &jobPull{running: true}
	return true
}

// release ends a pull, with what ended it too early.
func (a *jobPulls) release(m stepID, err error) {
	a.mu.Lock()
	a.byStep[string(m)] = &jobPull{}
	if err != nil {
		a.byStep[string(m)].failed = err.Error()
	}
	a.mu.Unlock()
	a.changes.broadcast()
}

func (a *jobPulls) state(m stepID) jobPull {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.byStep[string(m)]; p != nil {
		return *p
	}
	return jobPull{}
}

// createRemaining creates further Jobs as others end.
func (pl *puller) createRemaining(at *pullTarget, p *plan.Pull) error {
	for {
		version, _ := pl.changes.current()
		more, err := pl.createNext(pl.ctx, at, p)
		until := time.Time{}
		switch {
		case pl.ctx.Err() != nil:
			return nil //nolint:nilerr // the Cluster is closed
		case err == nil && !more:
			return nil
		case err != nil && !errors.Is(err, plan.ErrUnavailable) && !errors.Is(err, plan.ErrConflict):
			return err
		case err != nil:
			until = time.Now().Add(pullRetryDelay)
		}
		if err := pl.changes.wait(pl.ctx, version, until); err != nil {
			return nil //nolint:nilerr // the Cluster is closed
		}
	}
}

// pullRetryDelay is the delay after a request that may succeed later.
const pullRetryDelay = time.Second

// createNext creates as many Jobs as may run at a time; more indicates that others have to
// be created later.
func (pl *puller) createNext(ctx context.Context, at *pullTarget, p *plan.Pull) (more bool, err error) {
	nodes, err := pl.nodesOf(at)
	if err != nil {
		return false, err
	}
	room := cmp.Or(max(p.Parallel, 0), defaultPullParallelism)
	var missing []*batchv1.Job
	for _, image := range p.Images {
		for _, node := range nodes {
			job, there := pl.jobOf(at, image, node)
			switch {
			case !there:
				missing = append(missing, &batchv1.Job{ObjectMeta: pl.jobMeta(at, image, node)})
			case !jobEnded(job):
				room--
			}
		}
	}
	now := missing[:max(0, min(room, len(missing)))]
	return len(now) < len(missing), pl.createJobs(ctx, at, now)
}

func (pl *puller) jobOf(at *pullTarget, image, node string) (*batchv1.Job, bool) {
	return pl.lazy.jobs.ifStarted().get(pl.auxiliaryNamespace(), at.name(image, node))
}

func (pl *puller) jobMeta(at *pullTarget, image, node string) metav1.ObjectMeta {
	meta := pl.meta(at.stepID, at.owners, at.name(image, node))
	meta.Annotations = map[string]string{imageAnnotation: image, nodeAnnotation: node}
	return meta
}

// createJobs creates Jobs, each of which pulls one image on one node.
func (pl *puller) createJobs(ctx context.Context, at *pullTarget, list []*batchv1.Job) error {
	if len(list) == 0 {
		return nil
	}
	pull, err := pl.podTemplate(at)
	if err != nil {
		return err
	}
	for _, job := range list {
		if err := setPullTemplate(pull, job); err != nil {
			return err
		}
		if _, _, err := pl.createJob(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// setPullTemplate lets a Job pull its image on its node.
func setPullTemplate(pull kruise.PullPod, job *batchv1.Job) error {
	pull.Labels = job.Labels
	if _, err := tree.Decode(pull.Template(job.Annotations[imageAnnotation]), &job.Spec.Template); err != nil {
		return err
	}
	job.Spec.Template.Spec.Affinity = nodeAffinity(job.Annotations[nodeAnnotation])
	job.Spec.BackoffLimit, job.Spec.TTLSecondsAfterFinished = new(int32(0)), new(int32(pullTTLSeconds))
	job.Spec.ActiveDeadlineSeconds = new(pullDeadlineSeconds())
	return nil
}

// podTemplate is what the pods of the Jobs of a target are made of.
func (pl *puller) podTemplate(at *pullTarget) (pull kruise.PullPod, err error) {
	pull.Helper = pl.opt.HelperImage
	if pull.Volumes, err = pl.servesImageVolumes(); err != nil {
		return pull, err
	}
	pull.Secrets, err = pl.secretsOf(at)
	return pull, err
}

// pullDeadlineSeconds is for how many seconds the kubelet tries: as long as Kruise would.
func pullDeadlineSeconds() int64 {
	job := &kruise.ImagePullJob{}
	kruise.Default(job)
	return kruise.PullDeadline(&job.Spec.ImagePullJobTemplate)
}

func nodeAffinity(name string) *corev1.Affinity {
	term := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}}}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}}}
}

// servesImageVolumes reports whether the server has them; by default it does since 1.35.
func (pl *puller) servesImageVolumes() (bool, error) {
	v, err := pl.core.Discovery().ServerVersion()
	if err != nil {
		return false, planError("the version of the server", err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	return err == nil && minor >= kruise.ImageVolumesServed || v.Major > "1", nil
}

// fillJobState adds the progress of the Jobs that pull. An image has been requested
// when every node has its Job, or this process still creates them.
func (pl *puller) fillJobState(s *plan.Snapshot, m stepID, p *plan.Pull) error {
	w, err := pl.observer.current()
	if err != nil || w.workload == nil {
		return err
	}
	at := pl.targetOf(m, w.workload)
	nodes, err := pl.nodesOf(at)
	if err != nil {
		return err
	}
	puller := pl.jobPulls.state(m)
	for _, image := range p.Images {
		state, asked := plan.PullState{Over: !puller.running}, 0
		for _, node := range nodes {
			job, there := pl.jobOf(at, image, node)
			if !there {
				if puller.failed != "" {
					state.Troubles = append(state.Troubles, plan.PullTrouble{Node: node, Why: puller.failed, Final: true})
				}
				continue
			}
			asked++
			if t, done := pl.nodeState(job, node, image); t != nil {
				state.Troubles, state.Over = append(state.Troubles, *t), state.Over && done
			} else if done {
				s.Pulled[image]++
			} else {
				state.Over = false
			}
		}
		s.Pulling[image] = puller.running || puller.failed != "" || asked == len(nodes)
		s.Pulls[image] = state
	}
	return nil
}

// nodeState is the state of one Job: its problem, and whether it has ended.
func (pl *puller) nodeState(job *batchv1.Job, node, image string) (t *plan.PullTrouble, done bool) {
	if end, ok := jobEnd(job); ok {
		if end.Type == batchv1.JobComplete {
			return nil, true
		}
		return &plan.PullTrouble{Node: node, Why: jobFailure(end), Final: true, Since: end.LastTransitionTime.Time}, true
	}
	pods := pl.lazy.jobPods.ifStarted()
	if pods == nil {
		return nil, false
	}
	list, _ := pods.list()
	i := slices.IndexFunc(list, func(p *corev1.Pod) bool { return p.Labels[batchv1.JobNameLabel] == job.Name })
	if i < 0 {
		return nil, false
	}
	if why := pullError(list[i], image); why != "" {
		return &plan.PullTrouble{Node: node, Why: why, Since: list[i].CreationTimestamp.Time}, false
	}
	return nil, false
}

// pullErrorReasons are the reasons of containers that wait for an image that cannot be
// pulled.
var pullErrorReasons = []string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable", "InvalidImageName"}

// pullError is why a pod's image cannot be pulled; empty while it may be.
func pullError(p *corev1.Pod, image string) string {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, s := range list {
			w := s.State.Waiting
			if w == nil || !slices.Contains(pullErrorReasons, w.Reason) {
				continue
			}
			if s.Image != image && !strings.Contains(w.Message, image) && !hasImageVolume(p, image) {
				return w.Reason + " for the helper image " + s.Image
			}
			return strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
		}
	}
	return ""
}

func hasImageVolume(p *corev1.Pod, image string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Image != nil && v.Image.Reference == image })
}
