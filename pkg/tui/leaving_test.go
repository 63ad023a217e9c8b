package tui

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestFlags_NameOnlyContextsOfAKubeconfig: the command to resume a rollout can be copied; the name of
// the cluster that a pod is in is no context elsewhere.
func TestFlags_NameOnlyContextsOfAKubeconfig(t *testing.T) {
	for want, where := range map[string]world.Where{
		" -n shop --context lab": {Context: "lab"},
		" -n shop":               {Context: "in-cluster", InCluster: true},
	} {
		if got := flags(where, "shop"); got != want {
			t.Errorf("flags in %+v: got %q, want %q", where, got, want)
		}
	}
}
