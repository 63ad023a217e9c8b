package render_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
)

// TestStop_EndsWithItsReason: a render, and a conversion of kinds, ends with the reason that it is given, whenever that
// is; a conversion with nothing around it.
func TestStop_EndsWithItsReason(t *testing.T) {
	const web = "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: 'web:1'}]}}}\n"
	native, err := convert.ParseTargets([]string{"native"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ends   func(context.Context) error
		bare   bool
		fewest int // questions
	}{
		"render": {func(ctx context.Context) error {
			_, err := render.Render(ctx, golden.Parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), render.Options{Workers: 1})
			return err
		}, false, 1},
		"convert": {func(ctx context.Context) error {
			_, err := convert.ToKinds(ctx, golden.Parse(t, web), convert.Options{Targets: native, Namespace: "shop"})
			return err
		}, true, 6},
	} {
		t.Run(name, func(t *testing.T) {
			questions := 0
			for n, asked := 0, 0; n == 0 || asked >= n; n++ {
				ctx := &ending{Context: t.Context(), after: n}
				err := c.ends(ctx)
				asked = ctx.asked
				stopped := err == context.Canceled || !c.bare && errors.Is(err, context.Canceled) //nolint:errorlint // nothing may be around it
				if asked > n && !stopped || asked <= n && err != nil {
					t.Fatalf("stopped at question %d: %v", n, err)
				}
				if questions = max(questions, asked); n > 1000 {
					t.Fatal("it never ends")
				}
			}
			if questions < c.fewest {
				t.Errorf("asked only %d times", questions)
			}
		})
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
