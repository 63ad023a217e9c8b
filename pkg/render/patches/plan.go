package patches

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Known is what is known of the pods that a plan was made for.
type Known struct {
	// Pods is true where they are those of a cluster, so their names mean
	// something.
	Pods bool
	// Count is true if at least the number of pods is known: manifests have it, and nothing else
	// sets it. Without it steps are percentages.
	Count bool
}

// FromPlan renders a plan as sequences of patches. Steps that the client driver carries out pod by
// pod describe what it does; see [ByPod] for what it sends.
func FromPlan(p *plan.Plan, k Known) Sequence {
	s := Sequence{Object: named(&p.Target), Driver: string(p.Driver), Warnings: p.Warnings}
	if p.Target.Carrier != nil {
		own := s.Object
		s.Object, s.For = named(p.Target.Carrier), &own
	}
	s.What = planSummary(p)
	if len(p.Steps) == 0 {
		return s
	}
	w := &writer{plan: p, object: s.Object, known: k}
	for i := range p.Steps {
		s.Steps = append(s.Steps, w.step(&p.Steps[i])...)
	}
	w.counted(&s)
	return s
}

// named is a target without its uid: an address to send to.
func named(t *plan.Target) Target {
	return Target{APIVersion: t.APIVersion, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
}

// modeWords are what happens to pods.
var modeWords = map[rules.UpdateMode]string{
	rules.ModeUnchanged:    "no pod changes",
	rules.ModeInPlace:      "pods are updated in place",
	rules.ModeMetadataOnly: "pods only get new labels and annotations",
	rules.ModeRecreate:     "pods are deleted and recreated",
	rules.ModeNotAllowed:   "pods must not change: the update policy forbids it",
}

// planSummary sums a plan up.
func planSummary(p *plan.Plan) []string {
	if len(p.Steps) == 0 {
		return []string{p.Change.Why}
	}
	out := []string{cmp.Or(modeWords[p.Change.Mode], string(p.Change.Mode))}
	if why := p.Reason(); why != "" {
		out[0] += ": " + why
	}
	for i, f := range p.Change.Fields {
		if i == maxFields {
			return append(out, "and "+counted.Of(len(p.Change.Fields)-i, "more field"))
		}
		out = append(out, "changes "+f.Path)
	}
	return out
}

// maxFields is how many changed fields are listed.
const maxFields = 8

// writer writes the steps of one plan.
type writer struct {
	plan   *plan.Plan
	object Target
	known  Known
}

// step writes one step of a plan: one for each patch that it sends.
func (w *writer) step(s *plan.Step) []Step {
	before, after := w.before(s), w.after(s)
	switch {
	case len(s.Patches) == 0:
		return []Step{{Name: s.Name, Title: w.title(s), Commands: commands(s), Before: before, After: after, Notes: w.notes(s)}}
	case len(s.Patches) == 1:
		return []Step{{Name: s.Name, Title: w.title(s), Patch: w.patch(&s.Patches[0]), Before: before, After: after, Notes: w.notes(s)}}
	}
	var out []Step
	for i := range s.Patches {
		p := &s.Patches[i]
		next := Step{Name: s.Name, Title: w.title(s), Patch: w.patch(p), Before: before}
		if i > 0 {
			next.Name, next.Title, next.Before = s.Name+"-"+continued(i), "stop there", w.stepConditions(p.Reached, s)
		}
		if i == len(s.Patches)-1 {
			next.After, next.Notes = after, w.notes(s)
		}
		out = append(out, next)
	}
	return out
}

// continued names the patches of a step after its first: a Deployment stops.
func continued(i int) string {
	if i == 1 {
		return "stop"
	}
	return fmt.Sprintf("stop-%d", i)
}

func (w *writer) patch(p *plan.Patch) *Patch {
	out := &Patch{Target: w.object, Type: cmp.Or(p.Type, plan.PatchMerge), Subresource: p.Subresource, Body: p.Body}
	if p.Target != nil {
		out.Target = named(p.Target)
	}
	return out
}

// title is that of the plan. It counts pods, and where it is not known how many there
// are a percentage takes the place of the count.
func (w *writer) title(s *plan.Step) string {
	if w.known.Count {
		return s.Title
	}
	share := ""
	if total := s.Updated + s.Kept; total > 0 {
		share = fmt.Sprintf(": %d%% of the pods", s.Updated*100/total)
	}
	switch s.Kind {
	case plan.StepUpdate:
		return "write the new template; pods are updated as far as the partition allows" + share
	case plan.StepPartition:
		return "update more pods" + share
	case plan.StepInPlace:
		return "update more pods in place" + share
	case plan.StepRecreate:
		return "recreate more pods" + share
	}
	return s.Title
}

// commands are what to run for a step that sends nothing.
func commands(s *plan.Step) []string {
	if s.Pause != nil && s.Pause.For > 0 {
		return []string{fmt.Sprintf("sleep %d", int(time.Duration(s.Pause.For).Seconds()))}
	}
	if v := s.Verify; v != nil && len(v.Command) > 0 {
		words := make([]string, len(v.Command))
		for i, word := range v.Command {
			words[i] = Quote(word)
		}
		return []string{strings.Join(words, " ")}
	}
	return nil
}

// notes are what else to know about a step.
func (w *writer) notes(s *plan.Step) []string {
	var out []string
	if w.known.Pods && len(s.Pods) > 0 {
		names := make([]string, len(s.Pods))
		for i, p := range s.Pods {
			names[i] = p.Name
		}
		out = append(out, "touches "+strings.Join(names, ", ")+interchangeableNote(s.Pods))
	}
	if s.Kind == plan.StepPullImages && s.Pull != nil {
		out = append(out, "have these images on the nodes, for instance with an ImagePullJob: "+strings.Join(s.Pull.Images, ", "))
	}
	if s.Kind == plan.StepInPlace || s.Kind == plan.StepRecreate {
		out = append(out, w.byClient(s)...)
	}
	return out
}

func interchangeableNote(pods []plan.PodStep) string {
	for _, p := range pods {
		if p.Tie > 0 {
			return "; Kruise can choose other pods that are equivalent"
		}
	}
	return ""
}

// byClient reports what the client driver does where no pod is known.
func (w *writer) byClient(s *plan.Step) []string {
	if w.known.Pods {
		return nil
	}
	out := []string{
		"no pods are known (give them with --with FILE), so there is nothing to send by hand yet",
		fmt.Sprintf("kubectl kruise, as the driver client, does this pod by pod, in the order in which Kruise would, with at most %s unavailable at a time:", counted.Of(w.plan.Limits.MaxUnavailable, "pod")),
	}
	if s.Kind == plan.StepRecreate {
		return append(out, "it evicts the pod, which asks every PodDisruptionBudget, and waits until the new one is ready")
	}
	if w.plan.Drain == plan.DrainLabel {
		out = append(out, "it removes the label "+kruise.InServiceLabel+" from the pod"+graceText(w.plan))
	}
	out = append(out, "it writes the new images into the pod, and the label of the new revision, in one patch", "it waits until the new containers are ready")
	if w.plan.Drain == plan.DrainLabel {
		out = append(out, "it adds the label again")
	}
	return out
}

func graceText(p *plan.Plan) string {
	if p.Grace <= 0 {
		return ""
	}
	return " and waits " + p.Grace.String()
}
