package plan

import (
	"encoding/json"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func template(t *testing.T, text string) map[string]any {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := tree.Value(n.YNode()).(map[string]any)
	return v
}

// TestTemplateHash_EqualsSameTemplate: two templates have the same hash exactly when
// they make the same revision.
func TestTemplateHash_EqualsSameTemplate(t *testing.T) {
	texts := []string{
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: b}, creationTimestamp: null}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: b}, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {n: 1.0, containers: [{image: i, name: m}]}}",
		"{metadata: {labels: {a: b}, annotations: null}, spec: {containers: [{name: m, image: i, env: null}], n: 1}}",
		"{metadata: {labels: {a: b}, annotations: {}}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: c}}, spec: {containers: [{name: m, image: i}], n: 1}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i, env: []}], n: 1}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: 2}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: '1'}}",
		"{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}], n: true}}",
		"{spec: {}}", "{}", "{metadata: {}}",
	}
	for i, a := range texts {
		for j, b := range texts {
			x, y := template(t, a), template(t, b)
			if same, hash := rules.SameTemplate(x, y), TemplateHash(x) == TemplateHash(y); same != hash && (i < 10 || j < 10) {
				t.Errorf("%s and %s: same %v, same hash %v", a, b, same, hash)
			}
		}
	}
}

// TestTemplateHash_IsStable: plans in Git are pinned by it.
func TestTemplateHash_IsStable(t *testing.T) {
	v := template(t, "{metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: 'i:1'}], terminationGracePeriodSeconds: 30}}")
	if got := TemplateHash(v); got != "563ac303a153d4e7" {
		t.Errorf("the hash of all times is now %s", got)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if TemplateHash(again) != TemplateHash(v) {
		t.Error("another decoder, another hash")
	}
}

func TestTemplateHash_OfEmptyTemplate(t *testing.T) {
	if TemplateHash(nil) != TemplateHash(map[string]any{}) {
		t.Error("nothing is not the same as empty")
	}
}

// TestTemplateHash_OfSidecarSet: a change of its strategy is no new template.
func TestTemplateHash_OfSidecarSet(t *testing.T) {
	w := &cluster.Workload{Object: &kruise.SidecarSet{}, Template: template(t, "{containers: [{name: m}], updateStrategy: {partition: 3}, volumes: null}")}
	before := hashOf(w)
	w.Template["updateStrategy"] = map[string]any{"partition": 0}
	if hashOf(w) != before {
		t.Error("the partition counts")
	}
	w.Template["containers"] = []any{}
	if hashOf(w) == before {
		t.Error("containers do not count")
	}
}

// TestLastWriter_NamesManagersOfFields: the manager of the field counts, not that of the object.
func TestLastWriter_NamesManagersOfFields(t *testing.T) {
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
