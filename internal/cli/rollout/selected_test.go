package rollout

import (
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

var errBroken = errors.New("broken")

func TestWorse(t *testing.T) {
	order := []error{command.ErrInterrupted, errBroken, command.ErrFailed, command.ErrTimedOut, command.ErrPaused, nil}
	for i, a := range order {
		for j, b := range order {
			if want := order[min(i, j)]; !errors.Is(worse(a, b), want) {
				t.Errorf("%v and %v: %v, want %v", a, b, worse(a, b), want)
			}
		}
	}
}
