package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// verifier runs the checks of verify steps.
type verifier struct {
	*stepObjects
	results verifyResults
}

// verify starts a check; the result comes later, in a snapshot. An earlier check of the
// same step ends.
func (vf *verifier) verify(_ context.Context, step string, v *plan.Verify) error {
	m, w, err := vf.currentStep()
	if err != nil {
		return err
	}
	once := func(ctx context.Context, _ int) verify.Answer { return verify.Once(ctx, v, vf.opt.VerifyPermissions) }
	if v.Job != nil {
		if _, err := vf.lazy.jobs.start(); err != nil {
			return err
		}
		once = func(ctx context.Context, n int) verify.Answer { return vf.runJob(ctx, m, w, step, v.Job, n) }
	}
	ctx, cancel := context.WithCancel(vf.ctx)
	vf.results.start(step, cancel)
	// A clock that lags behind the one that started the step must not have the check
	// repeated without end.
	began := vf.Now()
	if rec, err := vf.record.current(); err == nil && rec.Progress.Started.After(began) {
		began = rec.Progress.Started
	}
	// What was answered is for the user of this process alone: the record, events and notifications
	// have others as readers.
	answer := func(done bool, a verify.Answer) {
		if ctx.Err() != nil {
			return
		}
		if !a.Good && a.Text != a.Reason {
			vf.warn("step %s: %s", step, a.Text)
		}
		vf.results.store(step, plan.Result{Done: done, Good: a.Good, Text: a.Reason, At: began})
	}
	answer(false, verify.Answer{})
	go func() {
		defer cancel()
		answer(true, verify.Until(ctx, v, once, func(a verify.Answer) { answer(false, a) }))
	}()
	return nil
}

// runJob runs a Job; one of an earlier try that was made before a crash is found
// again.
func (vf *verifier) runJob(ctx context.Context, m stepID, w *cluster.Workload, step string, given map[string]any, n int) verify.Answer {
	const notCreated = "the Job could not be created"
	job, err := vf.verifyJob(m, w, step, given, n)
	if err != nil {
		return verify.Answer{Text: err.Error(), Reason: notCreated}
	}
	if w.Namespace == "" {
		if err := vf.createStateNamespace(ctx); err != nil {
			return verify.Answer{Text: err.Error(), Reason: notCreated}
		}
	}
	var uid types.UID
	for {
		version, _ := vf.changes.current()
		if uid, err = vf.createOwnJob(ctx, job); err == nil {
			break
		}
		if !errors.Is(err, plan.ErrUnavailable) || vf.changes.wait(ctx, version, time.Now().Add(time.Second)) != nil {
			return verify.Answer{Text: err.Error(), Reason: notCreated}
		}
	}
	return vf.awaitJob(ctx, job.Namespace, job.Name, uid)
}

// createOwnJob creates a Job, or finds the one that was created before a crash. The name of the next attempt can be
// guessed by all who see the one before: a Job that is not the one that would be created answers for nothing.
func (vf *verifier) createOwnJob(ctx context.Context, job *batchv1.Job) (types.UID, error) {
	got, found, err := vf.createJob(ctx, job)
	if err != nil {
		return "", err
	}
	if !found {
		return got.UID, nil
	}
	would := job.DeepCopy()
	would.Name, would.GenerateName = "", "kubectl-kruise-verify-"
	would, err = vf.core.BatchV1().Jobs(job.Namespace).Create(ctx, would, metav1.CreateOptions{FieldManager: FieldManager, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return "", planError("Job "+job.Name, err)
	}
	if !equality.Semantic.DeepEqual(ownSpec(would), ownSpec(got)) {
		return "", fmt.Errorf("another Job %s is there, which the step has not created: delete it", job.Name)
	}
	return got.UID, nil
}

// ownSpec is what a Job runs, without what the server makes up for each.
func ownSpec(job *batchv1.Job) batchv1.JobSpec {
	s := job.Spec.DeepCopy()
	s.Selector, s.Suspend = nil, nil // a queue of Jobs lets them start
	for _, label := range []string{batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name"} {
		delete(s.Template.Labels, label)
	}
	return *s
}

// verifyJob is the Job of one attempt.
func (vf *verifier) verifyJob(m stepID, w *cluster.Workload, step string, given map[string]any, n int) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, job); err != nil {
		return nil, fmt.Errorf("the job is not a batch/v1 Job: %w", err)
	}
	meta := vf.meta(m, vf.ownersOf(w), m.objectName(w.Name+"-verify", step, strconv.Itoa(n)))
	meta.Annotations = job.Annotations
	for k, v := range job.Labels {
		if _, ours := meta.Labels[k]; !ours {
			meta.Labels[k] = v
		}
	}
	job.ObjectMeta, job.Status = meta, batchv1.JobStatus{}
	if job.Spec.TTLSecondsAfterFinished == nil {
		job.Spec.TTLSecondsAfterFinished = new(int32(verifyTTLSeconds))
	}
	return job, nil
}

// verifyTTLSeconds is for how many seconds a finished Job is kept.
const verifyTTLSeconds = 60 * 60

// awaitJob waits for the end of a Job.
func (vf *verifier) awaitJob(ctx context.Context, namespace, name string, uid types.UID) verify.Answer {
	ended := func(good bool, how string) verify.Answer {
		return verify.Answer{Good: good, Text: "Job " + name + how, Reason: "Job " + name + how}
	}
	for {
		version, _ := vf.changes.current()
		job, there := vf.lazy.jobs.ifStarted().get(namespace, name)
		if !there || job.UID != uid {
			return ended(false, " was deleted before it ended")
		}
		if end, ok := jobEnd(job); ok {
			if end.Type == batchv1.JobComplete {
				return ended(true, " succeeded")
			}
			a := ended(false, " failed"+knownJobReason(end.Reason))
			a.Text = "Job " + name + " failed: " + jobFailure(end)
			return a
		}
		if err := vf.changes.wait(ctx, version, time.Time{}); err != nil {
			return ended(false, " has not ended")
		}
	}
}

// knownJobReason is a reason for which Kubernetes ends Jobs.
func knownJobReason(text string) string {
	known := []string{
		batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonPodFailurePolicy,
		batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes,
	}
	if slices.Contains(known, text) {
		return ": " + text
	}
	return ""
}

// verifyResults are the results of checks, which no object of the cluster shows.
type verifyResults struct {
	changes *changeSignal

	mu       sync.Mutex
	verified map[string]plan.Result
	// asking ends the running checks, by step.
	asking map[string]context.CancelFunc
}

// store keeps the result of a check.
func (a *verifyResults) store(key string, r plan.Result) {
	a.mu.Lock()
	if a.verified == nil {
		a.verified = map[string]plan.Result{}
	}
	a.verified[key] = r
	a.mu.Unlock()
	a.changes.broadcast()
}

// start ends an earlier check of the same step that still runs.
func (a *verifyResults) start(step string, cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asking == nil {
		a.asking = map[string]context.CancelFunc{}
	}
	if before := a.asking[step]; before != nil {
		before()
	}
	a.asking[step] = cancel
}

// all are the results so far.
func (a *verifyResults) all() map[string]plan.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.verified)
}
