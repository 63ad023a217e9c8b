package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/golden"
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
