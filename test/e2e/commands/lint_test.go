package commands

import (
	"strings"
	"testing"
)

// budgetOf is a PodUnavailableBudget over the pods of an app.
func budgetOf(name, app, spec string) string {
	return `
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: ` + name + `, labels: {case: budgets}}
spec: {selector: {matchLabels: {app: ` + app + `}}, ` + spec + `}
---
`
}

// TestLintLive_ChecksObjectsByName: what the cluster holds is held against the same rules as files are, by
// name. Pods count, whatever has created them.
func TestLintLive_ChecksObjectsByName(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "")+budgetOf("good", "web", "maxUnavailable: 1")+budgetOf("bare", "bare", "maxUnavailable: 1")+`
apiVersion: v1
kind: Pod
metadata: {name: bare, labels: {app: bare}}
spec: {containers: [{name: main, image: registry.example.com/web:1}]}
`, webCloneSet)
	if a := b.call(t, "lint", "--live").ends(t, 0); a.out != "" {
		t.Errorf("nothing is wrong:\n%s%s", a.out, a.err)
	}
	b.Apply(t, b.namespace, budgetOf("astray", "missing", "maxUnavailable: 1"))
	a := b.call(t, "lint", "--live").ends(t, 0, "warning: PodUnavailableBudget "+b.namespace+"/astray: spec.selector: matches no pod template")
	if strings.Count(a.out, "PodUnavailableBudget") != 1 {
		t.Errorf("more than that:\n%s", a.out)
	}
	b.call(t, "lint", "--live", "--fail-on", "warning").ends(t, 1, "1 warning")
	b.call(t, "lint", "--live", "--fail-on", "warning", "-l", "case!=budgets").ends(t, 0)
	b.call(t, "lint", "--live", "--fail-on", "warning", "--disable", "podunavailablebudget/covers-nothing").ends(t, 0)
	b.call(t, "lint", "--live", "-o", "json").ends(t, 0, `"rule": "podunavailablebudget/covers-nothing"`, `"namespace": "`+b.namespace+`"`)
	b.call(t, "lint", "--live", "-l", "case=none").ends(t, 0, "there are no objects of Kruise in namespace "+b.namespace+" with labels case=none")
	b.call(t, "lint", "--live", "-f", "x.yaml").ends(t, 2, "--live excludes -f")
}
