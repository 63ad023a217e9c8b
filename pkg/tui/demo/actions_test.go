package demo

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestActions_HaveAllVerbs: each key that changes the cluster does so in the demo.
func TestActions_HaveAllVerbs(t *testing.T) {
	for _, verb := range world.Verbs() {
		if verbs[verb] == nil {
			t.Errorf("verbs has no %s", verb)
		}
	}
}
