package view

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestStatusLines: each workload in a line; its namespace where one is given, and how many
// of all pods serve beside how many are new.
func TestStatusLines(t *testing.T) {
	rolling := RolloutStatus{
		Name: "cloneset/web", Plan: plan.Plan{Driver: plan.DriverKruise}, Tally: plan.Tally{Desired: 6, Total: 6, Ready: 5, Updated: 2, UpdatedReady: 1},
		Decision: plan.Decision{Verb: plan.Wait, Reason: "ready: 1 of 2"},
	}
	elsewhere := rolling
	elsewhere.Namespace, elsewhere.Decision = "shop", plan.Decision{Verb: plan.Halt, Reason: "crash web-3: it crashed"}
	for want, list := range map[string][]RolloutStatus{
		`WORKLOAD      DRIVER  STATUS       UPDATED  READY  REASON
cloneset/web  kruise  progressing  2/6      5/6    1 of 2
`: {rolling},
		`NAMESPACE  WORKLOAD      DRIVER  STATUS       UPDATED  READY  REASON
-          cloneset/web  kruise  progressing  2/6      5/6    1 of 2
shop       cloneset/web  kruise  failed       2/6      5/6    web-3: it crashed
`: {rolling, elsewhere},
	} {
		var out strings.Builder
		if err := StatusLines(&out, list, Style{}); err != nil || out.String() != want {
			t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
		}
	}
}
