package finding_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
)

// covered are the newest versions of all kinds that are rendered.
var covered = map[string]any{
	"AdvancedCronJob":          kruise.AdvancedCronJob{},
	"BroadcastJob":             kruise.BroadcastJob{},
	"ContainerRecreateRequest": kruise.ContainerRecreateRequest{},
	"EphemeralJob":             kruise.EphemeralJob{},
	"ImageListPullJob":         kruise.ImageListPullJob{},
	"ImagePullJob":             kruise.ImagePullJob{},
	"CloneSet":                 kruise.CloneSet{},
	"DaemonSet":                kruise.DaemonSet{},
	"NodeImage":                kruise.NodeImage{},
	"NodePodProbe":             kruise.NodePodProbe{},
	"PersistentPodState":       kruise.PersistentPodState{},
	"PodProbeMarker":           kruise.PodProbeMarker{},
	"PodUnavailableBudget":     kruise.PodUnavailableBudget{},
	"ResourceDistribution":     kruise.ResourceDistribution{},
	"SidecarSet":               kruise.SidecarSet{},
	"StatefulSet":              kruise.StatefulSet{},
	"UnitedDeployment":         kruise.UnitedDeployment{},
	"WorkloadSpread":           kruise.WorkloadSpread{},
}

// TestFields_HaveARule walks the newest version of every kind that is rendered: a field without a
// rule was forgotten.
func TestFields_HaveARule(t *testing.T) {
	for kind, object := range covered {
		t.Run(kind, func(t *testing.T) {
			for _, path := range unanswered(reflect.TypeOf(object), rulesOf(kind)) {
				t.Errorf("no rule in the catalogue answers for %s of %s", path, kind)
			}
		})
	}
}

// TestRules_HaveAField finds rules whose field is misspelt: it must exist in
// the types, down to where our types end.
func TestRules_HaveAField(t *testing.T) {
	for kind, object := range covered {
		for _, r := range finding.Rules() {
			for _, f := range r.Fields {
				if r.Kind == kind && !strings.HasPrefix(f, "metadata") && !known(reflect.TypeOf(object), tree.Steps(f)) {
					t.Errorf("%s: %s has no field %s", r.ID, kind, f)
				}
			}
		}
	}
}

func rulesOf(kind string) []string {
	var fields []string
	for _, r := range finding.Rules() {
		if r.Kind == kind {
			fields = append(fields, r.Fields...)
		}
	}
	return fields
}

// unanswered returns the paths below the object's type that no field covers.
// Metadata, status and type are no part of the promise.
func unanswered(object reflect.Type, fields []string) []string {
	w := walker{fields: fields}
	for f := range exported(object) {
		if name := jsonName(f); name == "spec" {
			w.walk(f.Type, name)
		}
	}
	return w.missing
}

type walker struct {
	fields  []string
	missing []string
}

// walk goes down as long as the types are Kruise's own; what Kubernetes
// defines (templates, selectors, containers) is one field.
func (w *walker) walk(t reflect.Type, path string) {
	if w.answered(path) {
		return
	}
	t, path = element(t, path)
	if w.answered(path) {
		return
	}
	if !ours(t) {
		w.missing = append(w.missing, path)
		return
	}
	for f := range exported(t) {
		switch name := jsonName(f); {
		case name != "":
			w.walk(f.Type, path+"."+name)
		case ours(f.Type):
			w.walk(f.Type, path) // inlined
		}
	}
}

// answered reports whether a rule names the path or something above it.
func (w *walker) answered(path string) bool {
	return slices.ContainsFunc(w.fields, func(f string) bool {
		rest, ok := strings.CutPrefix(path, f)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// element looks through pointers, lists and maps of structs.
func element(t reflect.Type, path string) (reflect.Type, string) {
	for {
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Slice:
			if !ours(t.Elem()) {
				return t, path
			}
			t, path = t.Elem(), path+"[]"
		default:
			return t, path
		}
	}
}

// ours reports whether t (or what it points to) is a struct of Kruise's API.
func ours(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && strings.HasSuffix(t.PkgPath(), "/pkg/kruise")
}

func exported(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for f := range t.Fields() {
			if f.IsExported() && !yield(f) {
				return
			}
		}
	}
}

// jsonName is the field's key, "" for an inlined one.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// known reports whether steps lead to a field; below types that are not ours
// anything goes.
func known(t reflect.Type, steps []string) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if len(steps) == 0 || !ours(t) {
		return true
	}
	name, _, _ := strings.Cut(steps[0], "[")
	for f := range exported(t) {
		if jsonName(f) == name {
			return known(f.Type, steps[1:])
		}
	}
	for f := range exported(t) {
		inlined := jsonName(f) == "" && f.Type != reflect.TypeFor[metav1.TypeMeta]()
		if inlined && (!ours(f.Type) || known(f.Type, steps)) {
			return true
		}
	}
	return false
}

// The walk itself must be able to fail.
func TestUnanswered_FindsAFieldWithoutRule(t *testing.T) {
	object := reflect.TypeFor[kruise.CloneSet]()
	got := unanswered(object, []string{"spec.scaleStrategy.podsToDelete", "spec.updateStrategy", "spec.repl"})
	for _, path := range []string{"spec.replicas", "spec.scaleStrategy.maxUnavailable", "spec.selector", "spec.template"} {
		if !slices.Contains(got, path) {
			t.Errorf("%s was not missed in %v", path, got)
		}
	}
	for _, path := range got {
		if strings.HasPrefix(path, "spec.updateStrategy") || strings.HasPrefix(path, "status") {
			t.Errorf("%s was missed although it is answered for", path)
		}
	}
	if diff := cmp.Diff([]string(nil), unanswered(object, []string{"spec"})); diff != "" {
		t.Error(diff)
	}
	if known(object, []string{"spec", "updateStrategy", "partition"}) {
		t.Error("a field of v1alpha1 is taken for one of v1beta1")
	}
}
