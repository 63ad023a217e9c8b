package ui

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestLiveActions_HaveAllVerbs: each key that changes the cluster does so on a cluster.
func TestLiveActions_HaveAllVerbs(t *testing.T) {
	for _, verb := range world.Verbs() {
		if offers[verb] == nil {
			t.Errorf("offers has no %s", verb)
		}
	}
	if len(offers) != len(world.Verbs()) {
		t.Errorf("offers has %d verbs, world.Verbs %d", len(offers), len(world.Verbs()))
	}
}
