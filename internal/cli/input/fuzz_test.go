package input

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzLimit: whatever --limit is given, it is refused, or a limit.
func FuzzLimit(f *testing.F) {
	distort.Fuzz(f, []string{"2000", "64Mi", "1e3", "1.5Gi", "9223372036854775807", "0x10"}, func(t *testing.T, text string) {
		t.Helper()
		for name := range new(LimitFlag).names() {
			l := LimitFlag{given: map[string]string{name: text}}
			if l.Complete() != nil {
				continue
			}
			switch at := l.names()[name].(type) {
			case *int64:
				if *at < 1 {
					t.Errorf("%s=%s is %d", name, text, *at)
				}
			case *int:
				if *at < 1 {
					t.Errorf("%s=%s is %d", name, text, *at)
				}
			}
		}
	})
}
