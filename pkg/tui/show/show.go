// Package show has the words and pictures of the world that several screens share.
package show

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// ZoneLabel is the label of nodes that says where they are.
const ZoneLabel = "topology.kubernetes.io/zone"

// Health is the symbol of a health and its word.
func Health(t *theme.Theme, h world.Health) draw.Line {
	return draw.Text(HealthStyle(h), HealthSymbol(t, h)+" "+h.String())
}

// HealthSymbol is its symbol alone.
func HealthSymbol(t *theme.Theme, h world.Health) string {
	s := t.Symbols
	return [...]string{s.Unknown, s.Healthy, s.Busy, s.Aborted, s.Paused, s.Degraded, s.Blocked}[h]
}

// HealthStyle is its style.
func HealthStyle(h world.Health) theme.Style {
	return [...]theme.Style{theme.Faint, theme.Good, theme.Busy, theme.Outdated, theme.Wait, theme.Warn, theme.Bad}[h]
}

// Pods are the pods of a workload as a bar, in the symbols of the grid of pods: new ones,
// new ones that start, new ones that fail, old ones, old ones that are not ready, and those
// that are missing.
func Pods(s theme.Symbols, n plan.Tally, failing, width int) draw.Line {
	old := max(n.Total-n.Updated, 0)
	oldReady := min(max(n.Ready-n.UpdatedReady, 0), old)
	failing = min(failing, max(n.Updated-n.UpdatedReady, 0))
	return draw.Bar(
		width,
		draw.Part{Count: n.UpdatedReady, Symbol: s.New, Style: theme.Updated},
		draw.Part{Count: n.Updated - n.UpdatedReady - failing, Symbol: s.NewDown, Style: theme.Busy},
		draw.Part{Count: failing, Symbol: s.Blocked, Style: theme.Bad},
		draw.Part{Count: oldReady, Symbol: s.Old, Style: theme.Outdated},
		draw.Part{Count: old - oldReady, Symbol: s.Down, Style: theme.Down},
		draw.Part{Count: n.Desired - n.Total, Symbol: s.Empty, Style: theme.Faint},
	)
}

// Name is how a command line names a workload: cloneset/web.
func Name(r cluster.Ref) string { return strings.ToLower(r.Kind) + "/" + r.Name }

// Age is how long ago a time was, in a few characters; empty for no time.
func Age(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(then), 0))
}

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

// Remedy is what to do about a cause: keys of the interface where they do it, else the hint, which
// copyable completes.
func Remedy(c diagnose.Cause, copyable func(hint string) string) string {
	if text, ok := remedies[c.Gate]; ok && c.Hint != "" {
		return text
	}
	if c.Hint == "" {
		return ""
	}
	return "hint: " + copyable(c.Hint)
}
