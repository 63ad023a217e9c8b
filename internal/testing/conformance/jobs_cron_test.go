package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// cron: a CronJob for each Job of one run, with the same schedule and limits; its
// template makes the children that were recorded.
func (e *jobEnd) cron() error {
	if len(e.made.Objects) == 0 {
		return errors.New("becomes nothing")
	}
	var jobs []map[string]any
	for _, o := range e.made.Objects {
		if kindOf(o) != "CronJob" {
			return fmt.Errorf("becomes a %s", kindOf(o))
		}
		if err := e.schedule(mapping(o["spec"])); err != nil {
			return err
		}
		jobs = append(jobs, mapping(with(with(field(o, "spec", "jobTemplate"), "kind", "Job"), "apiVersion", "batch/v1")))
	}
	switch template := mapping(e.spec["template"]); {
	case template["broadcastJobTemplate"] != nil:
		return e.cronBroadcast(jobs)
	case template["imageListPullJobTemplate"] != nil:
		return e.cronImages(jobs, mapping(field(template, "imageListPullJobTemplate", "spec")))
	}
	return e.cronJobs(jobs)
}

// schedule compares when a CronJob runs, and what it keeps, with the stored object.
func (e *jobEnd) schedule(spec map[string]any) error {
	stored, err := e.Stored(e.cluster[e.at], nil, "v1beta1")
	if err != nil {
		return err
	}
	want := mapping(stored["spec"])
	zone, schedule := text(want, "timeZone"), text(want, "schedule")
	if first, rest, ok := strings.Cut(schedule, " "); ok && strings.Contains(first, "TZ=") {
		_, zone, _ = strings.Cut(first, "=")
		schedule = rest
	}
	if text(spec, "schedule") != schedule || text(spec, "timeZone") != zone {
		return fmt.Errorf("runs at %q in %q, not at %q in %q", spec["schedule"], spec["timeZone"], schedule, zone)
	}
	for _, k := range []string{"concurrencyPolicy", "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "startingDeadlineSeconds"} {
		got := spec[k]
		if got == nil {
			got = cronDefaults[k]
		}
		if got != want[k] {
			return fmt.Errorf("%s is %v, not %v", k, got, want[k])
		}
	}
	if suspended := spec["suspend"] == true; suspended != (want["paused"] == true) || suspended && len(items(e.want["childrenSeen"])) > 0 {
		return fmt.Errorf("suspend is %v, and recorded were %v", spec["suspend"], e.want["childrenSeen"])
	}
	return nil
}

// cronDefaults are those of a CronJob.
var cronDefaults = map[string]any{"concurrencyPolicy": "Allow", "successfulJobsHistoryLimit": int64(3), "failedJobsHistoryLimit": int64(1)}

// children are the recorded objects of a kind that this AdvancedCronJob made.
func (e *jobEnd) children(kind string) []map[string]any {
	var out []map[string]any
	for _, o := range items(e.want["objects"]) {
		child := mapping(o)
		for _, ref := range items(field(child, "metadata", "ownerReferences")) {
			if kindOf(child) == kind && text(ref, "kind") == e.at.kind && text(ref, "name") == e.at.name {
				out = append(out, child)
			}
		}
	}
	return out
}

func (e *jobEnd) cronJobs(jobs []map[string]any) error {
	if len(jobs) != 1 {
		return fmt.Errorf("%d CronJobs", len(jobs))
	}
	children := e.children("Job")
	for _, child := range children {
		if err := Different(nameOf(child), Diff(sameJob(child, jobs[0]))); err != nil {
			return err
		}
	}
	if limit, _ := field(e.made.Objects[0], "spec", "successfulJobsHistoryLimit").(int64); e.made.Objects[0] != nil && limit > 0 && len(children) > int(limit)+1 {
		return fmt.Errorf("%d Jobs were kept, the limit is %d", len(children), limit)
	}
	return nil
}

// sameJob brings a recorded Job and a template of Jobs to the same form: without
// what the Job controller and the AdvancedCronJob write on it.
func sameJob(job, template map[string]any) (want, got map[string]any) {
	want = map[string]any{"metadata": map[string]any{}, "spec": copiedValue(job["spec"])}
	got = map[string]any{"metadata": copiedValue(template["metadata"]), "spec": copiedValue(template["spec"])}
	for _, k := range []string{"labels", "annotations"} {
		mapping(want["metadata"])[k] = copiedValue(field(job, "metadata", k))
	}
	delete(mapping(field(want, "metadata", "annotations")), "apps.kruise.io/scheduled-at")
	delete(mapping(want["spec"]), "selector")
	for _, labels := range []any{field(want, "metadata", "labels"), field(want, "spec", "template", "metadata", "labels")} {
		for _, l := range []string{"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"} {
			delete(mapping(labels), l)
		}
	}
	pruned(got, want)
	settledZeros(got, want)
	pruned(want, got)
	return bareJob(want), bareJob(got)
}

// cronBroadcast: a run is that of a BroadcastJob.
func (e *jobEnd) cronBroadcast(jobs []map[string]any) error {
	templates, err := perNode(jobs)
	if err != nil {
		return err
	}
	for _, child := range e.children(kruise.KindBroadcastJob) {
		desired, recorded := field(e.want, "status", "BroadcastJob/"+nameOf(child), "desired").(int64)
		if recorded && int(desired) != len(templates) {
			return fmt.Errorf("CronJobs for %d nodes, recorded %d", len(templates), desired)
		}
		if err := e.podsOf(nameOf(child), templates); err != nil {
			return err
		}
	}
	return nil
}

// cronImages: a run is that of an ImageListPullJob.
func (e *jobEnd) cronImages(jobs []map[string]any, spec map[string]any) error {
	pulls, err := pullsOf(jobs, nil)
	if err != nil {
		return err
	}
	for _, child := range e.children(kruise.KindImageListPullJob) {
		p := &jobEnd{jobsRun: e.jobsRun, at: key{kruise.KindImageListPullJob, e.at.namespace, nameOf(child)}, want: e.want, made: e.made, spec: spec}
		p.status = field(e.want, "status", "ImageListPullJob/"+nameOf(child))
		if err := p.pulled(pulls); err != nil {
			return err
		}
	}
	return nil
}
