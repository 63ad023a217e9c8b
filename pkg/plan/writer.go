package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

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
// no one is on record, who wrote the object last. Times have whole seconds: of writes
// within one, somebody else's counts, and more than one of those are all named.
func lastWriter(w *cluster.Workload, fields []string) string {
	list := slices.DeleteFunc(slices.Clone(metaOf(w).GetManagedFields()), func(f metav1.ManagedFieldsEntry) bool {
		return f.Subresource != "" || f.Time == nil
	})
	of := slices.DeleteFunc(slices.Clone(list), func(f metav1.ManagedFieldsEntry) bool { return !owns(f.FieldsV1, fields) })
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
		return others(a) - others(b)
	})
	var names []string
	for _, f := range list {
		if f.Time.Equal(last.Time) && others(f) == others(last) && !slices.Contains(names, f.Manager) {
			names = append(names, f.Manager)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("; %s wrote it last, at %s", strings.Join(names, " or "), last.Time.UTC().Format(time.RFC3339))
}

// others is 1 for what is not ours.
func others(f metav1.ManagedFieldsEntry) int {
	if f.Manager == ourName {
		return 0
	}
	return 1
}

// owns reports whether one of the fields is among those of a set, within the spec.
func owns(set *metav1.FieldsV1, fields []string) bool {
	if set == nil {
		return false
	}
	var all map[string]any
	if json.Unmarshal(set.GetRawBytes(), &all) != nil {
		return false
	}
	spec, _ := all["f:spec"].(map[string]any)
	return holds(spec, fields)
}

func holds(set map[string]any, fields []string) bool {
	for key, below := range set {
		if slices.Contains(fields, key) {
			return true
		}
		if below, ok := below.(map[string]any); ok && key != "f:template" && holds(below, fields) {
			return true
		}
	}
	return false
}
