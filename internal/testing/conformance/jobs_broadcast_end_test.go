package conformance

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// broadcastEnd compares how the pods end and what that means for the job, as the
// Jobs and the findings have it.
func (e *jobEnd) broadcastEnd(nodes int) error {
	status := mapping(e.status)
	if len(status) == 0 {
		return nil
	}
	if active, _ := status["active"].(int64); active > 0 && !late(e.made.Objects) {
		return e.underway(nodes, int(active))
	}
	phase, failed := e.broadcastPhase(nodes)
	if got := text(status, "phase"); got != phase {
		return fmt.Errorf("the job is %s, recorded %s", phase, got)
	}
	succeeded, _ := status["succeeded"].(int64)
	if phase == "completed" && !failed && int(succeeded) != nodes {
		return fmt.Errorf("%d pods succeed, recorded %d", nodes, succeeded)
	}
	if failed && succeeded != 0 {
		return fmt.Errorf("all pods fail, recorded %d that succeed", succeeded)
	}
	return nil
}

// late reports whether the pods of the Jobs outlive their deadline.
func late(jobs []map[string]any) bool {
	return slices.ContainsFunc(jobs, func(j map[string]any) bool {
		_, late := fails(mapping(j["spec"]))
		return late
	})
}

// underway: the recording ends while pods run, and so do those of our Jobs.
func (e *jobEnd) underway(nodes, active int) error {
	switch {
	case active > nodes:
		return fmt.Errorf("%d pods are recorded as active, ours are on %d nodes", active, nodes)
	case suspended(e.made.Objects):
		return errors.New("nothing runs, and pods are recorded as active")
	}
	return Different("the phase", Diff(text(e.status, "phase"), "running"))
}

// broadcastPhase is where the job ends: the Jobs say whether their pods fail, the
// findings what a failed pod does to the others.
func (e *jobEnd) broadcastPhase(nodes int) (phase string, failed bool) {
	if nodes == 0 {
		return "running", false
	}
	job := mapping(e.made.Objects[0]["spec"])
	failed, late := fails(job)
	switch {
	case job["suspend"] == true && e.spec["paused"] == true:
		return "paused", false
	case job["suspend"] == true:
		return "running", true // and nothing runs
	case late:
		return "failed", true
	case !failed:
		return "completed", false
	case e.found("broadcastjob/fail-fast"):
		return "failed", true
	case e.found("broadcastjob/pause"):
		return "paused", true
	case e.found("broadcastjob/restart-limit"):
		return "running", true // it goes on restarting
	}
	return "completed", true
}

func (e *jobEnd) found(rule string) bool {
	_, found := e.made.Findings[rule]
	return found
}

// fails reports how the pods of a Job end on the simulated nodes, which do what the
// annotations of the pod say.
func fails(job map[string]any) (failed, late bool) {
	annotations := field(job, "template", "metadata", "annotations")
	run, _ := time.ParseDuration(text(annotations, "lab.test/run"))
	deadline, limited := job["activeDeadlineSeconds"].(int64)
	late = limited && run > time.Duration(deadline)*time.Second
	code := text(annotations, "lab.test/exit-code")
	return late || code != "" && code != "0", late
}

// suspended reports whether Jobs are not to begin.
func suspended(jobs []map[string]any) bool {
	return len(jobs) > 0 && field(jobs[0], "spec", "suspend") == true
}

// daemons: a job that never completes is a DaemonSet, whose pods do the work before
// they settle down.
func (e *jobEnd) daemons() error {
	if active, _ := field(e.status, "active").(int64); active == 0 && len(e.made.Objects) == 0 && e.found("broadcastjob/paused-never") {
		return Different("pods of a job at rest", Diff([]string(nil), texts(e.want["nodesInCreationOrder"])))
	}
	if len(e.made.Objects) != 1 || kindOf(e.made.Objects[0]) != kruise.KindDaemonSet {
		return fmt.Errorf("%d objects, not a DaemonSet", len(e.made.Objects))
	}
	set := e.made.Objects[0]
	on, err := e.DaemonNodes(set, e.cluster.kind("Node"))
	if err != nil {
		return err
	}
	if desired, _ := field(e.status, "desired").(int64); int(desired) != len(on) {
		return fmt.Errorf("pods on %v, recorded on %d nodes", on, desired)
	}
	for _, p := range items(e.want["pods"]) {
		pod := mapping(field(p, "object"))
		if text(pod, "metadata", "labels", "broadcastjob-name") != e.at.name {
			continue
		}
		if name := text(pod, "spec", "nodeName"); !slices.Contains(on, name) {
			return fmt.Errorf("no pod on %s", name)
		}
		if err := Different("the pod", Diff(samePod(pod, task(mapping(field(set, "spec", "template")), pod)))); err != nil {
			return err
		}
	}
	return nil
}

// task is the template of a DaemonSet as that of the job whose containers it runs as
// init containers, on the pod's node.
func task(template, pod map[string]any) map[string]any {
	out := copied(template)
	delete(mapping(field(out, "metadata", "labels")), "kubectl-kruise.dev/source")
	spec := mapping(out["spec"])
	n := len(items(field(pod, "spec", "initContainers")))
	all := items(spec["initContainers"])
	spec["initContainers"], spec["containers"] = all[:n], all[n:]
	spec["restartPolicy"] = field(pod, "spec", "restartPolicy")
	spec["affinity"] = copiedValue(field(pod, "spec", "affinity"))
	return out
}
