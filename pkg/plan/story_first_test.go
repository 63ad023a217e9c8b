package plan_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const web = `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: InPlaceIfPossible}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

func TestStory(t *testing.T) {
	w, ref := world(t, simulate.Usual(), web)
	p := built(t, w, ref, strings.Replace(web, "web:1", "web:2", 1), plan.Policy{})
	for _, s := range p.Steps {
		t.Logf("%+v", s)
	}
	t.Log(p.Warnings)
	d, story := drive(t, w, ref, p, nil)
	t.Log(strings.Join(story, "\n"))
	if d.Verb != plan.Done {
		t.Error(d)
	}
}
