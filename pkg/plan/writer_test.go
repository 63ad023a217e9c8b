package plan

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestLastWriter: whoever wrote the field counts, not whoever wrote the object.
func TestLastWriter(t *testing.T) {
	at := func(second int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 7, 1, 12, 0, second, 0, time.UTC)}
	}
	entry := func(manager string, second int, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Time: at(second), FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const (
		partition = `{"f:spec":{"f:updateStrategy":{"f:rollingUpdate":{"f:partition":{}}}}}`
		template  = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:image":{}}}}}}}`
		notes     = `{"f:metadata":{"f:annotations":{"f:a":{}}}}`
	)
	status := entry("controller", 9, partition)
	status.Subresource = "status"
	for name, c := range map[string]struct {
		fields []metav1.ManagedFieldsEntry
		of     ConditionType
		want   string
	}{
		"nobody":                {nil, HoldsPartition, ""},
		"the field's":           {[]metav1.ManagedFieldsEntry{entry("anna", 1, partition), entry("ben", 5, notes)}, HoldsPartition, "; anna wrote it last, at 2026-07-01T12:00:01Z"},
		"the last of two":       {[]metav1.ManagedFieldsEntry{entry("anna", 1, template), entry("ben", 5, template)}, HoldsTemplate, "; ben wrote it last, at 2026-07-01T12:00:05Z"},
		"within one second":     {[]metav1.ManagedFieldsEntry{entry("anna", 1, template), entry(ourName, 1, template)}, HoldsTemplate, "; anna wrote it last, at 2026-07-01T12:00:01Z"},
		"two within one second": {[]metav1.ManagedFieldsEntry{entry("ben", 1, template), entry(ourName, 1, template), entry("anna", 1, template), entry("anna", 1, template)}, HoldsTemplate, "; anna or ben wrote it last, at 2026-07-01T12:00:01Z"},
		"no one on record":      {[]metav1.ManagedFieldsEntry{entry("anna", 1, notes), entry("ben", 5, notes)}, HoldsPaused, "; ben wrote it last, at 2026-07-01T12:00:05Z"},
		"not by the status":     {[]metav1.ManagedFieldsEntry{entry("anna", 1, partition), status}, HoldsPartition, "; anna wrote it last, at 2026-07-01T12:00:01Z"},
		"broken, by itself":     {[]metav1.ManagedFieldsEntry{entry("anna", 1, "{")}, HoldsPartition, "; anna wrote it last, at 2026-07-01T12:00:01Z"},
		"not what it is for":    {[]metav1.ManagedFieldsEntry{entry("anna", 1, partition), entry("ben", 5, template)}, HoldsPartition, "; anna wrote it last, at 2026-07-01T12:00:01Z"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &cluster.Workload{Object: &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{ManagedFields: c.fields}}}
			if got := lastWriter(w, fieldsOf[c.of]); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
