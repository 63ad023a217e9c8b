package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
	answer := func(done, good bool, text string) {
		if ctx.Err() == nil {
			vf.results.store(step, plan.Result{Done: done, Good: good, Text: text, At: began})
		}
	}
	answer(false, false, "")
	go func() {
		defer cancel()
		a := verify.Until(ctx, v, once, func(text string) { answer(false, false, text) })
		answer(true, a.Good, a.Text)
	}()
	return nil
}

// runJob runs a Job; one of an earlier try that was made before a crash is found
// again.
func (vf *verifier) runJob(ctx context.Context, m stepID, w *cluster.Workload, step string, given map[string]any, n int) verify.Answer {
	job, err := vf.verifyJob(m, w, step, given, n)
	if err != nil {
		return verify.Answer{Text: err.Error()}
	}
	if w.Namespace == "" {
		if err := vf.createStateNamespace(ctx); err != nil {
			return verify.Answer{Text: err.Error()}
		}
	}
	for {
		version, _ := vf.changes.current()
		err := vf.createJob(ctx, job)
		if err == nil {
			break
		}
		if !errors.Is(err, plan.ErrUnavailable) || vf.changes.wait(ctx, version, vf.Now().Add(time.Second)) != nil {
			return verify.Answer{Text: err.Error()}
		}
	}
	return vf.awaitJob(ctx, job.Namespace, job.Name)
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
func (vf *verifier) awaitJob(ctx context.Context, namespace, name string) verify.Answer {
	for {
		version, _ := vf.changes.current()
		job, there := vf.lazy.jobs.ifStarted().get(namespace, name)
		if !there {
			return verify.Answer{Text: "Job " + name + " was deleted before it ended"}
		}
		if end, ok := jobEnd(job); ok {
			if end.Type == batchv1.JobComplete {
				return verify.Answer{Good: true, Text: "Job " + name + " succeeded"}
			}
			return verify.Answer{Text: "Job " + name + " failed: " + jobFailure(end)}
		}
		if err := vf.changes.wait(ctx, version, time.Time{}); err != nil {
			return verify.Answer{Text: "Job " + name + " has not ended"}
		}
	}
}

// verifyResults are the results of checks, which no object of the cluster shows.
type verifyResults struct {
	changed func()

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
	a.changed()
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
