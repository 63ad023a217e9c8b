package convert_test

import (
	"context"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
)

// TestToKinds_EndsWithTheReasonOfItsContext: a conversion ends with the reason that it is given, whenever that is, and
// with nothing around it.
func TestToKinds_EndsWithTheReasonOfItsContext(t *testing.T) {
	const web = "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: 'web:1'}]}}}\n"
	questions := 0
	for n, asked := 0, 0; n == 0 || asked >= n; n++ {
		ctx := &ending{Context: t.Context(), after: n}
		_, err := convert.ToKinds(ctx, golden.Parse(t, web), options(t, "native"))
		asked = ctx.asked
		if asked > n && err != context.Canceled || asked <= n && err != nil { //nolint:errorlint // nothing may be around it
			t.Fatalf("stopped at question %d: %v", n, err)
		}
		questions = max(questions, asked)
	}
	if questions < 6 {
		t.Errorf("asked only %d times", questions)
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
