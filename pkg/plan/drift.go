package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// checkDrift halts where template, partition or pause are neither what the plan has
// found nor what it has made of them.
func (r *run) checkDrift(s *Step) (Decision, bool) {
	for _, what := range guardedFields {
		want := r.expectedValues(s, what.condition)
		have, ok := what.read(&r.rollout)
		if !ok || len(want) == 0 || slices.Contains(want, have) {
			continue
		}
		why := fmt.Sprintf("%s is %s, not %s%s", what.condition, have, want[0], lastWriter(r.object(), fieldsOf[what.condition]))
		return r.halt(Blocker{Gate: what.gate, Why: why}), true
	}
	return Decision{}, false
}

// guardedFields are what only the rollout may change while it runs, and how to
// read it; ok is false where the object has no such thing.
var guardedFields = []struct {
	condition ConditionType
	gate      string
	read      func(*rollout) (value string, ok bool)
}{
	{HoldsTemplate, GateTemplate, func(r *rollout) (string, bool) { return r.templateHash(), true }},
	{HoldsPartition, GatePartition, func(r *rollout) (string, bool) {
		v, ok := cluster.Of(r.object().Object).Partition()
		return v.String(), ok
	}},
	{HoldsPaused, GatePaused, func(r *rollout) (string, bool) { return strconv.FormatBool(rules.PausedOf(r.object().Object)), true }},
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
