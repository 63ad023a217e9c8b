package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// jobEnd compares one object of the area at the end of a step.
type jobEnd struct {
	*jobsRun
	at   key
	want map[string]any
	made *JobsRendering
	// spec is the object's as it was written, status the recorded one: a
	// mapping, "gone", or nil.
	spec   map[string]any
	status any
}

func (e *jobEnd) compare() error {
	switch e.at.kind {
	case kruise.KindBroadcastJob:
		return e.broadcast()
	case kruise.KindAdvancedCronJob:
		return e.cron()
	case kruise.KindImagePullJob, kruise.KindImageListPullJob:
		return e.pull()
	case kruise.KindContainerRecreateRequest:
		return e.recreate()
	default:
		return e.ephemeral()
	}
}

// lasting reports whether the job follows nodes for ever.
func (e *jobEnd) lasting() bool { return text(e.spec, "completionPolicy", "type") == "Never" }

// broadcast: a pod for each node that Kruise chose, made as Kruise made it, no
// more at once, with the end that Kruise saw.
func (e *jobEnd) broadcast() error {
	if e.status == "gone" {
		return e.gone(e.made.Objects)
	}
	if e.lasting() {
		return e.daemons()
	}
	templates, err := perNode(e.made.Objects)
	if err != nil {
		return err
	}
	if e.spec["paused"] == true || suspended(e.made.Objects) {
		return e.broadcastEnd(len(templates))
	}
	if desired, recorded := field(e.status, "desired").(int64); recorded && int(desired) != len(templates) {
		return fmt.Errorf("Jobs for %d nodes, recorded %d", len(templates), desired)
	}
	if err := e.podsOf(e.at.name, templates); err != nil {
		return err
	}
	if err := e.atOnce("broadcastjob/parallelism", len(templates), e.want["mostActiveAtOnce"]); err != nil {
		return err
	}
	return e.broadcastEnd(len(templates))
}

// gone: what Kruise has removed must go by itself, too.
func (e *jobEnd) gone(objects []map[string]any) error {
	if _, there := e.cluster[e.at]; !there {
		return nil // it was deleted
	}
	ttl := field(e.spec, "completionPolicy", "ttlSecondsAfterFinished")
	for _, o := range objects {
		if got := field(o, "spec", "ttlSecondsAfterFinished"); ttl == nil || got != ttl {
			return fmt.Errorf("%s %s lives on, with time to live %v", kindOf(o), nameOf(o), got)
		}
	}
	return nil
}

// perNode returns the pod templates of Jobs by the node they are bound to.
func perNode(jobs []map[string]any) (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	for _, j := range jobs {
		name, err := boundTo(field(j, "spec", "template"))
		if err != nil || kindOf(j) != "Job" {
			return nil, fmt.Errorf("%s %s: %w", kindOf(j), nameOf(j), err)
		}
		if out[name] != nil {
			return nil, fmt.Errorf("two Jobs for node %s", name)
		}
		out[name] = mapping(field(j, "spec", "template"))
	}
	return out, nil
}

// boundTo is the node that a pod template names.
func boundTo(template any) (string, error) {
	terms := items(field(template, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"))
	if len(terms) == 1 {
		fields := items(field(terms[0], "matchFields"))
		if len(fields) == 1 && text(fields[0], "key") == "metadata.name" && len(texts(field(fields[0], "values"))) == 1 {
			return texts(field(fields[0], "values"))[0], nil
		}
	}
	return "", errors.New("is bound to no node")
}

// podsOf compares the recorded pods of a job with the templates of the nodes.
func (e *jobEnd) podsOf(name string, templates map[string]map[string]any) error {
	seen := 0
	for _, p := range items(e.want["pods"]) {
		pod := mapping(field(p, "object"))
		if text(pod, "metadata", "labels", "broadcastjob-name") != name {
			continue
		}
		seen++
		on := text(pod, "spec", "nodeName")
		if templates[on] == nil {
			return fmt.Errorf("no Job for node %s", on)
		}
		if err := Different("the pod on "+on, Diff(samePod(pod, templates[on]))); err != nil {
			return err
		}
	}
	if e.onlyJob() {
		for _, on := range texts(e.want["nodesInCreationOrder"]) {
			if templates[on] == nil {
				return fmt.Errorf("no Job for node %s", on)
			}
		}
	}
	return nil
}

// onlyJob reports whether what is recorded without a name is about this job.
func (e *jobEnd) onlyJob() bool { return len(e.made.Objects) > 0 && len(e.jobsRun.made) == 1 }

// samePod brings a recorded pod and a template to the same form.
func samePod(pod, template map[string]any) (want, got map[string]any) {
	want = map[string]any{"metadata": map[string]any{}, "spec": copiedValue(pod["spec"])}
	for _, k := range []string{"labels", "annotations", "finalizers"} {
		mapping(want["metadata"])[k] = copiedValue(field(pod, "metadata", k))
	}
	for _, l := range []string{"broadcastjob-controller-uid", "broadcastjob-name"} {
		delete(mapping(field(want, "metadata", "labels")), l)
	}
	spec := mapping(want["spec"])
	delete(spec, "nodeName")
	spec["readinessGates"] = slices.DeleteFunc(items(spec["readinessGates"]), func(g any) bool { return text(g, "conditionType") == "KruisePodReady" })
	got = copied(template)
	pruned(got, want)
	settledZeros(got, want)
	pruned(want, got)
	return bareJob(want), bareJob(got)
}

// perTime finds how many Kruise would run at a time in what a finding says.
var perTime = regexp.MustCompile(`(\d+) at a time`)

// atOnce compares the parallelism that a finding names, all nodes where there is
// none, with the most that were seen.
func (e *jobEnd) atOnce(rule string, nodes int, most any) error {
	n, seen := most.(int64)
	if !seen || !e.onlyJob() || e.want["stable"] == false {
		return nil
	}
	limit := nodes
	if m := perTime.FindStringSubmatch(e.made.Findings[rule]); m != nil {
		limit, _ = strconv.Atoi(m[1])
	}
	if int(n) != min(limit, nodes) {
		return fmt.Errorf("%d at a time on %d nodes, recorded %d", limit, nodes, n)
	}
	return nil
}
