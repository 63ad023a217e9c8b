package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// checkDrift halts where template, partition or pause are neither what the plan has
// found nor what it has made of them.
func (r *run) checkDrift(s *Step) (Decision, bool) {
	for _, guarded := range []ConditionType{HoldsTemplate, HoldsPartition, HoldsPaused} {
		want := r.expectedValues(s, guarded)
		have, gate := r.guardedValue(guarded)
		if gate == "" || len(want) == 0 || slices.Contains(want, have) {
			continue
		}
		why := fmt.Sprintf("%s is %s, not %s", guarded, have, want[0])
		if guarded == HoldsTemplate {
			why = cmp.Or(r.templateDrift(want[0]), why)
		}
		return r.halt(Blocker{Gate: gate, Why: why + lastWriter(r.object(), fieldsOf[guarded])}), true
	}
	return Decision{}, false
}

// guardedValue reads what only the rollout may change while it runs; gate is empty where the object
// has no such thing.
func (r *rollout) guardedValue(c ConditionType) (value, gate string) {
	switch c {
	case HoldsTemplate:
		return hashOf(r.object()), GateTemplate
	case HoldsPaused:
		return strconv.FormatBool(rules.PausedOf(r.object().Object)), GatePaused
	}
	if v, ok := cluster.Of(r.object().Object).Partition(); ok {
		return v.String(), GatePartition
	}
	return "", ""
}

// templateDrift names the first field in which the live template differs from the one of a hash, with
// both values, and how many more there are; "" where that template is not stored.
func (r *rollout) templateDrift(hash string) string {
	want, have := r.templateOfHash(hash), templateOf(r.object())
	if want == nil {
		return ""
	}
	at := "spec.template."
	if _, whole := have["spec"]; !whole {
		at = "spec." // of a SidecarSet
	} else {
		want, have = comparedTemplate(want), comparedTemplate(have)
	}
	list := tree.Differences(nil, want, have)
	if len(list) == 0 {
		return ""
	}
	d := list[0]
	text := fmt.Sprintf("%s%s is %s, not %s", at, rules.PathText(d.Path), shortValue(redact.Value(d.Path, d.New, have)), shortValue(redact.Value(d.Path, d.Old, want)))
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf(", and %s%s", counted.Of(more, "more field"), counted.Word(more, " differs", " differ"))
	}
	return text
}

// comparedTemplate is a template as revisions are compared by it.
func comparedTemplate(template map[string]any) map[string]any {
	return map[string]any{"metadata": rules.TemplateMetadata(template), "spec": template["spec"]}
}

// templateOfHash finds a template that is stored: of a revision, the one that the rollout started from, or
// what its first write makes of that one before the controller has stored a revision.
func (r *rollout) templateOfHash(hash string) map[string]any {
	for _, revision := range r.snap.Revisions {
		if TemplateHash(revision.Template) == hash {
			return revision.Template
		}
	}
	if r.snap.Base == nil {
		return nil
	}
	if TemplateHash(r.snap.Base) == hash {
		return r.snap.Base
	}
	before, err := WithTemplate(r.object(), r.snap.Base)
	if err != nil {
		return nil
	}
	after, err := r.plan.Outcome(before)
	if err != nil || hashOf(after) != hash {
		return nil
	}
	return templateOf(after)
}

// shortValue is a value in a message, in a bounded length.
func shortValue(v any) string {
	if v == nil {
		return "absent"
	}
	text, ok := v.(string)
	if !ok {
		encoded, err := json.Marshal(v)
		if err != nil {
			return "another value"
		}
		text = string(encoded)
	}
	if r := []rune(text); len(r) > maxValue {
		text = string(r[:maxValue]) + "…"
	}
	return text
}

// maxValue is how many characters of a value a message has.
const maxValue = 120

// FailureHint is what a user can do about a rollout of this plan that has failed, with the commands for verbs of rollouts.
// What others wrote fails it again until it is set back; a rollback is not rolled back.
func (p *Plan) FailureHint(failed string, command func(verb string) string) string {
	if p.RollbackReason != "" {
		return fmt.Sprintf("fix the cause, then '%s'; for another template: '%s -f FILE' with the manifest that has it", command("retry"), command("run"))
	}
	switch ParseBlocker(failed).Gate {
	case GateTemplate:
		return fmt.Sprintf("'%s --rollback' rolls back; to roll out the template that was written instead: '%s -f FILE' with the manifest that has it", command("abort"), command("run"))
	case GatePartition, GatePaused:
		return fmt.Sprintf("set the field back, then '%s'; to roll back: '%s --rollback'", command("retry"), command("abort"))
	}
	return fmt.Sprintf("fix the cause, then '%s'; to roll back: '%s --rollback'", command("retry"), command("abort"))
}

// expectedValues are the values that a field may have now: what the present step has
// written, or, as long as its patches were not all seen in force, also what it
// was before.
func (r *rollout) expectedValues(s *Step, c ConditionType) []string {
	if r.progress.Sent < len(s.Patches) {
		before, ok := conditionValue(s.Before, c)
		if !ok {
			before, ok = r.earlierValue(c)
		}
		after, changes := conditionValue(s.After, c)
		switch {
		case !ok:
			return nil
		case !changes:
			return []string{before}
		case c == HoldsPaused:
			return nil
		}
		return []string{before, after}
	}
	if v, ok := conditionValue(s.After, c); ok {
		return []string{v}
	}
	if v, ok := conditionValue(s.Before, c); ok {
		return []string{v}
	}
	if v, ok := r.earlierValue(c); ok {
		return []string{v}
	}
	return nil
}

// earlierValue is the value that the steps before have written.
func (r *rollout) earlierValue(c ConditionType) (string, bool) {
	for i := r.progress.Step - 1; i >= 0; i-- {
		if v, ok := conditionValue(r.plan.Steps[i].After, c); ok {
			return v, true
		}
	}
	return "", false
}

func conditionValue(list []Condition, c ConditionType) (string, bool) {
	for _, have := range list {
		if have.Type == c {
			return have.Value, true
		}
	}
	return "", false
}

// fieldsOf are the fields that something is written with, in any kind. A SidecarSet
// has no template: its containers are fields of the spec.
var fieldsOf = map[ConditionType][]string{
	HoldsTemplate:  {"f:template", "f:containers", "f:initContainers", "f:volumes"},
	HoldsPartition: {"f:partition"},
	HoldsPaused:    {"f:paused"},
}

// ourName is the manager that rollouts write as.
const ourName = "kubectl-kruise"

// lastWriter names who wrote one of the fields last, as the cluster recorded it; where
// none is recorded, who wrote the object last. Times have whole seconds: of writes
// within one, those of other managers count, and all of them are named.
func lastWriter(w *cluster.Workload, fields []string) string {
	list := slices.DeleteFunc(slices.Clone(metaOf(w).GetManagedFields()), func(f metav1.ManagedFieldsEntry) bool {
		return f.Subresource != "" || f.Time == nil
	})
	of := slices.DeleteFunc(slices.Clone(list), func(f metav1.ManagedFieldsEntry) bool { return !ownsAny(f.FieldsV1, fields) })
	if len(of) > 0 {
		list = of
	}
	if len(list) == 0 {
		return ""
	}
	last := slices.MaxFunc(list, func(a, b metav1.ManagedFieldsEntry) int {
		if order := a.Time.Compare(b.Time.Time); order != 0 {
			return order
		}
		return foreignWriter(a) - foreignWriter(b)
	})
	var names []string
	for _, f := range list {
		if f.Time.Equal(last.Time) && foreignWriter(f) == foreignWriter(last) && !slices.Contains(names, f.Manager) {
			names = append(names, f.Manager)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("; %s wrote it last, at %s", strings.Join(names, " or "), last.Time.UTC().Format(time.RFC3339))
}

// foreignWriter is 1 for managers other than this program.
func foreignWriter(f metav1.ManagedFieldsEntry) int {
	if f.Manager == ourName {
		return 0
	}
	return 1
}

// ownsAny reports whether one of the fields is among those of a set, within the spec.
func ownsAny(set *metav1.FieldsV1, fields []string) bool {
	if set == nil {
		return false
	}
	var all map[string]any
	if json.Unmarshal(set.GetRawBytes(), &all) != nil {
		return false
	}
	spec, _ := all["f:spec"].(map[string]any)
	return hasAny(spec, fields)
}

func hasAny(set map[string]any, fields []string) bool {
	for key, below := range set {
		if slices.Contains(fields, key) {
			return true
		}
		if below, ok := below.(map[string]any); ok && key != "f:template" && hasAny(below, fields) {
			return true
		}
	}
	return false
}
