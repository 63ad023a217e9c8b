package show

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// remedies are the keys that help at a gate, where the hint of the diagnosis is a command
// for a shell.
var remedies = map[string]string{
	plan.GatePromote:  "n promotes",
	plan.GateHeld:     "P resumes",
	plan.GateVerify:   "look at what was measured; then P retries, u rolls back",
	plan.GateDeadline: "P retries, u rolls back",
	plan.GateProgress: "P retries, u rolls back",
	plan.GateCrash:    "l, then p is the log before the last restart; u rolls back",
}

// Remedy is what to do about a cause, in the keys of the interface where they do it.
func Remedy(c diagnose.Cause) string {
	if text, ok := remedies[c.Gate]; ok && c.Hint != "" {
		return text
	}
	if c.Hint == "" {
		return ""
	}
	return "hint: " + c.Hint
}
