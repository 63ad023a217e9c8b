package render_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// TestStop_EndsWithItsReason: a render ends with the reason that it is given, whenever that is.
func TestStop_EndsWithItsReason(t *testing.T) {
	for n, asked := 0, 0; n == 0 || asked >= n; n++ {
		ctx := &ending{Context: t.Context(), after: n}
		_, err := render.Render(ctx, golden.Parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), render.Options{Workers: 1})
		asked = ctx.asked
		if asked > n && !errors.Is(err, context.Canceled) || asked <= n && err != nil {
			t.Fatalf("stopped at question %d: %v", n, err)
		}
		if n > 1000 {
			t.Fatal("it never ends")
		}
	}
}

// ending is a context that ends after the given number of questions.
type ending struct {
	context.Context
	asked, after int
}

func (e *ending) Err() error {
	if e.asked++; e.asked > e.after {
		return context.Canceled
	}
	return nil
}
