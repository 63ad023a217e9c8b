package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestNameRequired: reading refuses an object without a name, so only objects
// of another origin come here without one.
func TestNameRequired(t *testing.T) {
	for _, object := range []string{good, goodSet, united(clones)} {
		in := golden.Parse(t, object)
		tree.DeleteAt(in[0].Edit(), "metadata", "name")
		err := checkedList(in, nil)
		if err == nil || !strings.Contains(err.Error(), "metadata.name") || !strings.Contains(err.Error(), "required") {
			t.Errorf("%s: %v", in[0].Kind(), err)
		}
	}
}

// TestSameEachTime: what is wrong with labels and annotations comes in one order, though
// Kubernetes looks at them as a map gives them.
func TestSameEachTime(t *testing.T) {
	bad := strings.Replace(goodSet, "{name: agent}", "{name: agent, annotations: {a/b/c: x, ' ': x, _/d: x, e_: x, '-': x}, labels: {' ': x, -a: x, b-: x}}", 1)
	var first string
	for range 30 {
		err := checkedList(golden.Parse(t, bad), nil)
		if err == nil || strings.Count(err.Error(), "metadata.") < 8 {
			t.Fatal(err)
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("at first:\n%s\nthen:\n%s", first, err)
		}
	}
}
