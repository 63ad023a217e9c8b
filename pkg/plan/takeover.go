package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// A rollout that was begun elsewhere is continued from its record, a ConfigMap that more
// people may write than may write the workload. This file says what a record alone may
// have done: nothing that changes what runs.

// Unproven returns what is left of the plan that needs a person's approval when the plan
// comes from a record alone, a line for each, and nothing if only harmless writes are left:
// the partition, the pause of the controller, restarts of containers, and pods that follow
// the template which the live object has already. s is what is in the cluster, with the
// progress on record. Commands are not in the list, see [Plan.Commands].
func (p *Plan) Unproven(s Snapshot) []string {
	var out []string
	object := s.Object()
	if object == nil || object.Object == nil {
		return nil
	}
	object = s.Progress.Stop.undone(object)
	for i := max(s.Progress.Step, 0); i < len(p.Steps); i++ {
		if why := p.unproven(&p.Steps[i], s, object); why != "" {
			out = append(out, fmt.Sprintf("step %s %s", p.Steps[i].Name, why))
		}
	}
	if goesBack(p, s) && !p.baseKept(s) {
		out = append(out, "a failed step goes back to a template that no revision of the workload has")
	}
	return out
}

// Stricter returns a plan that comes from a record alone, with the stricter of the limits on
// record and those that the live object comes to: an edited record takes no more pods down at
// a time, waits no shorter for them, and takes them out of service before they change.
func (p Plan) Stricter(s Snapshot) Plan {
	if object := s.Object(); object == nil || object.Object == nil || p.Target.Kind == "Pod" {
		p.Limits.MaxUnavailable, p.Limits.MaxSurge = min(p.Limits.MaxUnavailable, 1), 0
		return p
	}
	b := &builder{present: s.Object(), desired: s.Object(), snap: s}
	b.plan.Driver = p.Driver
	if p.Drain == DrainNone {
		p.Drain = b.drain()
	}
	if p.Driver == DriverClient {
		p.Grace = max(p.Grace, b.grace())
	}
	live := b.subject().limits
	p.Limits.MaxUnavailable = min(p.Limits.MaxUnavailable, live.MaxUnavailable)
	p.Limits.MaxSurge = min(p.Limits.MaxSurge, live.MaxSurge)
	p.Limits.MinReady = max(p.Limits.MinReady, live.MinReady)
	return p
}

// goesBack reports whether a step that is left may lead to a rollback.
func goesBack(p *Plan, s Snapshot) bool {
	if p.RollsBack != "" || s.Progress.Step >= len(p.Steps) {
		return false
	}
	return slices.ContainsFunc(p.Steps[max(s.Progress.Step, 0):], func(step Step) bool { return step.OnFailure == FailRollback })
}

// baseKept reports whether the cluster itself keeps the template that the plan started
// from.
func (p *Plan) baseKept(s Snapshot) bool {
	return p.Change.FromHash == p.Change.ToHash || keeps(s.Revisions, p.Change.FromHash)
}

func keeps(list []cluster.Revision, hash string) bool {
	return slices.ContainsFunc(list, func(r cluster.Revision) bool { return TemplateHash(r.Template) == hash })
}

// unproven is what one step does that needs approval.
func (p *Plan) unproven(step *Step, s Snapshot, object *cluster.Workload) string {
	switch step.Kind {
	case StepVerify:
		if step.Verify != nil && step.Verify.Job != nil {
			return "creates a Job"
		}
	case StepPullImages:
		if step.Pull == nil {
			break
		}
		if image := foreignImage(step.Pull.Images, object); image != "" {
			return "pulls the image " + image + " to the nodes"
		}
	case StepScale:
		return "changes the number of pods"
	case StepUpdate:
		for i := range step.Patches {
			if patch := &step.Patches[i]; !p.steers(patch) && !inForce(patch, object) && !p.restores(s, object) {
				return "writes the template or the strategy"
			}
		}
	}
	return ""
}

// steers reports whether a patch changes the partition or the pause and nothing else.
func (p *Plan) steers(patch *Patch) bool { return p.CheckPatch(StepPartition, patch) == nil }

// restores reports whether the plan leads back to a template that the cluster itself has
// kept as a revision of the workload, and changes nothing else but the partition and what
// stops the controller.
func (p *Plan) restores(s Snapshot, object *cluster.Workload) bool {
	if p.RollsBack == "" {
		return false
	}
	after, err := p.Outcome(object)
	if err != nil || !keeps(s.Revisions, hashOf(after)) {
		return false
	}
	b := &builder{present: startedAs(object, after), desired: after, snap: s}
	return b.compareSpecs() == nil && !b.respecified
}

// foreignImage is the first image that the live template does not have.
func foreignImage(images []string, object *cluster.Workload) string {
	have := map[string]bool{}
	for _, image := range templateImages(object) {
		have[image] = true
	}
	for _, image := range images {
		if !have[image] {
			return image
		}
	}
	return ""
}

// templateImages are the images of a workload's template, and of a SidecarSet's containers.
func templateImages(w *cluster.Workload) []string {
	spec, ok := w.Template["spec"].(map[string]any)
	if !ok {
		spec = w.Template
	}
	var out []string
	for _, field := range []string{"initContainers", "containers"} {
		list, _ := spec[field].([]any)
		for _, item := range list {
			container, _ := item.(map[string]any)
			if image, ok := container["image"].(string); ok {
				out = append(out, image)
			}
		}
	}
	return out
}

// Commands are the programs that the plan's verify steps would run on the machine of the
// person who carries it out, from a step on, each as one line.
func (p *Plan) Commands(from int) []string {
	var out []string
	for i := max(from, 0); i < len(p.Steps); i++ {
		if v := p.Steps[i].Verify; v != nil && len(v.Command) > 0 {
			out = append(out, fmt.Sprintf("step %s: %s", p.Steps[i].Name, strings.Join(v.Command, " ")))
		}
	}
	return out
}
