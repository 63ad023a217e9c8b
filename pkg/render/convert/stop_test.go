package convert_test

import (
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
)

// TestToKinds_EndsWithTheReasonOfItsContext: a conversion ends with the reason that it is given, whenever that is, and
// with nothing around it.
func TestToKinds_EndsWithTheReasonOfItsContext(t *testing.T) {
	stop := errors.New("stop")
	const web = "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: 'web:1'}]}}}\n"
	questions := 0
	for n, asked := 0, 0; n == 0 || asked >= n; n++ {
		asked = 0
		opt := options(t, "native")
		opt.Stop = func() error {
			if asked++; asked > n {
				return stop
			}
			return nil
		}
		_, err := convert.ToKinds(golden.Parse(t, web), opt)
		if asked > n && err != stop || asked <= n && err != nil { //nolint:errorlint // nothing may be around it
			t.Fatalf("stopped at question %d: %v", n, err)
		}
		questions = max(questions, asked)
	}
	if questions < 6 {
		t.Errorf("asked only %d times", questions)
	}
}
