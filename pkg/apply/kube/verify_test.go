package kube

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestVerify_OnlyItsOwnJobAnswers: who may create Jobs can guess the name of the next attempt of a check. A Job that runs
// something else, or that takes the place of the one that was created, passes no check; the one of before a crash does.
func TestVerify_OnlyItsOwnJobAnswers(t *testing.T) {
	done := batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}
	for name, c := range map[string]struct {
		change func(*batchv1.Job)
		want   string
	}{
		"found again":      {func(*batchv1.Job) {}, ""},
		"as the server":    {func(j *batchv1.Job) { j.Spec.Template.Labels["job-name"] = j.Name }, ""},
		"another program":  {func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Command = []string{"true"} }, "another Job"},
		"nothing to do":    {func(j *batchv1.Job) { j.Spec.Completions = new(int32) }, "another Job"},
		"pods of others":   {func(j *batchv1.Job) { j.Spec.ManualSelector = new(true) }, "another Job"},
		"another account":  {func(j *batchv1.Job) { j.Spec.Template.Spec.ServiceAccountName = "other" }, "another Job"},
		"it was replaced":  {nil, "was deleted before it ended"},
		"it was not there": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, kruiseOwn)
			given := map[string]any{"spec": map[string]any{"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
				"spec":     map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "check", "image": "check:1", "command": []any{"check"}}}},
			}}}
			verify := &plan.Verify{Job: given}
			_, pods := newStatefulSet("web-0")
			cl := openAt(t, s, plan.Step{Kind: plan.StepVerify, Verify: verify}, pods...)
			vf := cl.verifier
			if _, err := vf.lazy.jobs.start(); err != nil {
				t.Fatal(err)
			}
			m, w, err := vf.currentStep()
			if err != nil {
				t.Fatal(err)
			}
			job, err := vf.verifyJob(m, w, "check", given, 2)
			if err != nil {
				t.Fatal(err)
			}
			there := job.DeepCopy()
			if c.change != nil {
				c.change(there)
				s.put(t, jobs, there)
			}
			uid, err := vf.createOwnJob(t.Context(), job)
			var text string
			if err == nil {
				there.Status = done
				if name == "it was replaced" {
					there.UID = "another"
				} else {
					there.UID = uid
				}
				s.put(t, jobs, there)
				text = vf.awaitJob(t.Context(), job.Namespace, job.Name, uid).Text
			} else {
				text = err.Error()
			}
			if good := strings.HasSuffix(text, " succeeded"); good != (c.want == "") || !strings.Contains(text, c.want) {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}
