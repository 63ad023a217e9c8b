package plan_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestBuild_Paused: a plan for a paused workload says so.
func TestBuild_Paused(t *testing.T) {
	paused := clones(", paused: true")
	p, err := plan.Build(read(t, strings.ReplaceAll(paused, "web:1", "web:2")), plan.Snapshot{Workload: read(t, paused), Pods: pods(10, "a")}, plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(p.Warnings, "\n"); !p.Paused || !strings.Contains(text, "CloneSet shop/web is paused") {
		t.Errorf("paused %t, warnings: %s", p.Paused, text)
	}
}
