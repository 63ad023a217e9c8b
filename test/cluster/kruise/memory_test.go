package kruise_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/memory/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

// TestServerInMemory_AnswersAsThisOne: the suite that the API server in memory passes holds for a real one.
func TestServerInMemory_AnswersAsThisOne(t *testing.T) {
	t.Parallel()
	c, _ := cluster.Shared(t, kruise.API())
	conformance.Run(t, c.Config(), func(t *testing.T) string {
		t.Helper()
		return c.Namespace(t)
	})
}
