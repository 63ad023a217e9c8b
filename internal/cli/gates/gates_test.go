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

// TestEveryGateHasAName: each field can be switched by itself.
func TestEveryGateHasAName(t *testing.T) {
	if n := reflect.TypeFor[cluster.Gates]().NumField() + 2; n != len(fields) {
		t.Errorf("%d gates, %d names", n, len(fields))
	}
	seen := map[Set]string{}
	for name, field := range fields {
		var g Set
		*field(&g) = true
		if other, ok := seen[g]; ok {
			t.Errorf("%s and %s are the same gate", name, other)
		}
		seen[g] = name
	}
}
