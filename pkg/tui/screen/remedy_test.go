package screen_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// TestRemedy_NamesTheKeys: what a key of the screens does is not told as a command.
func TestRemedy_NamesTheKeys(t *testing.T) {
	for _, c := range []struct {
		gate, hint, want string
	}{
		{plan.GatePartition, "lower the partition: 'kubectl kruise rollout run cloneset/web -f FILE', or kubectl edit", "e partition"},
		{plan.GatePaused, "'kubectl kruise rollout resume cloneset/web' removes the pause; remove it from the manifest too", "P removes the pause; remove it from the manifest too"},
		{plan.GateHeld, "kubectl kruise rollout resume cloneset/web", "P resume"},
	} {
		if got := screen.Remedy(diagnose.Cause{Gate: c.gate, Hint: c.hint}, func(s string) string { return s }); got != c.want {
			t.Errorf("%s: %q, want %q", c.hint, got, c.want)
		}
	}
}
