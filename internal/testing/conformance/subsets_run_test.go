package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// RenderSubsets renders one UnitedDeployment, with the objects of a cluster as
// context, and returns the workloads that came out. An error is a refusal.
type RenderSubsets func(ud map[string]any, context []map[string]any) ([]map[string]any, error)

// Subsets runs a case of that area, all of its steps. What the case recorded
// after one step is what the cluster holds before the next. Whatever Kruise
// refuses, be it in a webhook, in the allocator or because its own webhook
// takes no such workload, must be an error of render.
func Subsets(c Case, render RenderSubsets) error {
	r := &subsetsRun{render: render, told: map[string]bool{}}
	return eachStep(c, r.step)
}

// subsetsRun is a case while it runs.
type subsetsRun struct {
	render RenderSubsets
	// ud is the UnitedDeployment that the cluster holds, live its workloads,
	// status what its controller last wrote.
	ud     map[string]any
	live   []map[string]any
	status map[string]any
	// told are the events that earlier steps recorded already.
	told map[string]bool
}

// step applies documents and compares with what was recorded.
func (r *subsetsRun) step(docs []map[string]any, want map[string]any) error {
	s := &subsetsStep{subsetsRun: r, want: want, previous: r.live}
	for _, d := range docs {
		if more, err := s.apply(d); err != nil || !more {
			return s.end(err)
		}
	}
	if !s.rendered && s.ud != nil {
		return s.end(s.look())
	}
	return s.end(nil)
}

// look renders once more what was not changed: the surroundings did.
func (s *subsetsStep) look() (err error) {
	s.got, err = s.render(s.ud, s.context(s.ud))
	return err
}

// subsetsStep is one step of a case.
type subsetsStep struct {
	*subsetsRun
	want map[string]any
	// previous are the workloads that were recorded before the step.
	previous []map[string]any
	// got are the workloads of the last rendering, if there was one.
	got      []map[string]any
	rendered bool
	// refused is the object that was refused by a webhook, failed the error
	// of a change that Kruise took and could not carry out.
	refused string
	failed  error
}

// apply does what one document says; more is false after a refusal.
func (s *subsetsStep) apply(d map[string]any) (more bool, err error) {
	next, changed, err := s.changed(d)
	if err != nil || !changed {
		return err == nil, err
	}
	if next == nil {
		s.ud, s.live, s.previous, s.status, s.got = nil, nil, nil, nil, nil
		return true, nil
	}
	got, err := s.render(next, s.context(next))
	s.rendered = true
	switch {
	case err == nil:
		s.got, s.live, s.failed = got, got, nil
	case s.want["result"] == "rejected" && kindOf(d) != "Scale":
		s.refused = kindOf(next) + "/" + nameOf(next)
		return false, nil
	default:
		s.failed = err
	}
	s.ud = next
	return true, nil
}

// changed returns the UnitedDeployment as the document leaves it (nil when it
// deletes it), and whether the document speaks of it at all.
func (s *subsetsStep) changed(d map[string]any) (next map[string]any, changed bool, err error) {
	of := strings.Fields(text(d, "of"))
	if len(of) == 0 {
		of = strings.Fields(text(d, "metadata", "annotations", "of"))
	}
	about := len(of) > 0 && of[len(of)-1] == kruise.KindUnitedDeployment
	if about && s.ud == nil { // it was refused, so there is none
		if object := text(s.want, "refusal", "object"); strings.HasSuffix(object, "/"+nameOf(d)) {
			s.refused = object
		}
		return nil, false, nil
	}
	switch kind := kindOf(d); {
	case kind == kruise.KindUnitedDeployment:
		return d, true, nil
	case !about:
		return nil, false, nil // other objects concern no workload
	case kind == "Scale":
		return with(s.ud, "spec", with(s.ud["spec"], "replicas", field(d, "spec", "replicas"))), true, nil
	case kind == "MergePatch":
		return mapping(mergePatch(s.ud, d["patch"])), true, nil
	case kind == "DeleteObject":
		return nil, true, nil
	}
	return nil, false, fmt.Errorf("a %v of %v is not understood", kindOf(d), of)
}

// context is what the cluster holds while the UnitedDeployment next is looked
// at. The adaptive allocators look at it again and again until nothing moves:
// they see what was recorded in the end.
func (s *subsetsStep) context(next map[string]any) []map[string]any {
	ud, live, status := s.ud, s.live, s.status
	if text(next, "spec", "topology", "scheduleStrategy", "type") == "Adaptive" && s.want["objects"] != nil {
		live, status = recorded(s.want)
		if ud == nil {
			ud = next
		}
	}
	out := slices.Clone(live)
	if ud != nil {
		out = append(out, with(ud, "status", status))
	}
	return out
}

// end compares, and leaves the recorded state for the next step.
func (s *subsetsStep) end(err error) error {
	if err != nil {
		return err
	}
	if err := Different("refusal", Diff(text(s.want, "refusal", "object"), s.refused)); err != nil {
		return err
	}
	if s.want["result"] == "rejected" {
		return nil
	}
	failure := s.failure()
	switch {
	case failure != "" && s.failed == nil:
		return fmt.Errorf("rendered, though Kruise failed: %s", failure)
	case failure == "" && s.failed != nil:
		return s.failed
	case failure == "":
		if err := s.compare(); err != nil {
			return err
		}
	}
	s.live, s.status = recorded(s.want)
	return nil
}

// failure is the event by which Kruise said that it could not do what the step
// asks for, "" when it could.
func (s *subsetsStep) failure() (message string) {
	events, _ := s.want["events"].([]any)
	objects, _ := s.want["objects"].([]any)
	for _, e := range events {
		reason, text := text(e, "reason"), text(e, "message")
		fresh := !s.told[text]
		s.told[text] = true
		if fresh && (reason == "Failed SpecifySubsetReplicas" || reason == "FailedUpdateSubset" && len(objects) == 0) {
			message = text
		}
	}
	return message
}
