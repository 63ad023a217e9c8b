package render_test

import (
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// TestStop_EndsWithItsReason: a render ends with the reason that it is given, whenever that is.
func TestStop_EndsWithItsReason(t *testing.T) {
	stop := errors.New("stop")
	for n, asked := 0, 0; n == 0 || asked >= n; n++ {
		asked = 0
		_, err := render.Render(golden.Parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), render.Options{Workers: 1, Stop: func() error {
			if asked++; asked > n {
				return stop
			}
			return nil
		}})
		if asked > n && !errors.Is(err, stop) || asked <= n && err != nil {
			t.Fatalf("stopped at question %d: %v", n, err)
		}
		if n > 1000 {
			t.Fatal("it never ends")
		}
	}
}
