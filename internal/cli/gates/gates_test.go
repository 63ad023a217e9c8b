package gates

import (
	"errors"
	"reflect"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestParse(t *testing.T) {
	g, err := Parse([]string{"StatefulSetStartOrdinal=true", "InPlaceUpdateEnvFromMetadata=false"})
	if err != nil || g != (Set{Gates: cluster.Gates{StatefulSetStartOrdinal: true}}) {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := Parse(nil); err != nil || g != (Set{Gates: cluster.DefaultGates()}) {
		t.Errorf("%+v, %v", g, err)
	}
	for _, given := range []string{"StatefulSetStartOrdinal", "StatefulSetStartOrdinal=maybe", "Nope=true", "", "=true"} {
		var bad *usage.Error
		if _, err := Parse([]string{given}); !errors.As(err, &bad) || bad.Hint == "" {
			t.Errorf("%q: %v", given, err)
		}
	}
}

// TestFields_NameEachGateOnce switches every gate of the set by its name, and only that one.
func TestFields_NameEachGateOnce(t *testing.T) {
	named := map[string]string{}
	for name, field := range fields {
		var g Set
		*field(&g) = true
		switched := on(reflect.ValueOf(g))
		if len(switched) != 1 {
			t.Fatalf("%s switches %v", name, switched)
		}
		if other, ok := named[switched[0]]; ok {
			t.Errorf("%s and %s are the same gate, %s", name, other, switched[0])
		}
		named[switched[0]] = name
	}
	for _, gate := range reflect.VisibleFields(reflect.TypeFor[Set]()) {
		if !gate.Anonymous && named[gate.Name] == "" {
			t.Errorf("gate %s has no name", gate.Name)
		}
	}
}

// on lists the fields that are true. A field of another type than bool fails.
func on(set reflect.Value) []string {
	var out []string
	for _, f := range reflect.VisibleFields(set.Type()) {
		if !f.Anonymous && set.FieldByIndex(f.Index).Bool() {
			out = append(out, f.Name)
		}
	}
	return out
}
