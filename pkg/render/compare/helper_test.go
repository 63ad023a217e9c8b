package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// run compares two streams, with what exists beside them.
func run(t *testing.T, old, now, with string) compare.Report {
	t.Helper()
	return compare.Run(t.Context(), parse(t, old), parse(t, now), compare.Options{Context: parse(t, with), Gates: cluster.DefaultGates()})
}

func parse(t *testing.T, stream string) []*resource.Resource {
	t.Helper()
	if strings.TrimSpace(stream) == "" {
		return nil
	}
	return golden.Parse(t, stream)
}

// outline is a report in a few lines: one for each object, with its level, its
// rollout, and its effects and fields below.
func outline(r compare.Report) string {
	var out strings.Builder
	for _, ch := range r.Changes {
		fmt.Fprintf(&out, "%s %s %s%s\n", ch.Level, ch.Verb, ch.ID, rollout(ch.Rollout))
		for _, e := range ch.Effects {
			fmt.Fprintf(&out, "  %s: %s\n", e.Level, strings.TrimPrefix(e.Field+": "+e.Text, ": "))
		}
		for _, f := range ch.Fields {
			fmt.Fprintf(&out, "  %s: %s -> %s %s\n", f.Path, value(f.Old), value(f.New), f.Effect)
		}
		for _, s := range ch.Subsets {
			fmt.Fprintf(&out, "  subset %s %s %d -> %d%s\n", s.Name, s.Verb, s.From, s.To, rollout(s.Rollout))
		}
		if c := ch.Copies; c != nil {
			fmt.Fprintf(&out, "  copies of %s %s: +%v -%v ~%v =%d unknown %v\n", c.Kind, c.Name, c.Added, c.Removed, c.Changed, c.Kept, c.Unknown)
		}
		for _, w := range ch.Reach {
			fmt.Fprintf(&out, "  reach %s %s %d\n", w.Verb, w.Workload, w.Pods)
		}
	}
	return strings.ReplaceAll(out.String(), " \n", "\n")
}

func rollout(r *compare.Rollout) string {
	if r == nil {
		return ""
	}
	text := fmt.Sprintf(" | %s %d->%d reach %d/%d down %d surge %d by %s", r.Mode, r.From, r.To, r.Reach, r.Total, r.Down, r.Surge, r.Driver)
	if r.Recreated > 0 {
		text += fmt.Sprintf(" recreated %d", r.Recreated)
	}
	if r.Uncounted != "" {
		text += " uncounted: " + r.Uncounted
	}
	return text
}

func value(v any) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(v)
}
