package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// tally counts what a report says.
type tally struct {
	verbs  map[compare.Verb]int
	levels map[compare.Level]int
	// recreated and inPlace are pods; more is set when there are others whose
	// number is not known.
	recreated, inPlace         int
	moreRecreated, moreInPlace bool
}

func (c Changes) tally() tally {
	t := tally{verbs: map[compare.Verb]int{}, levels: map[compare.Level]int{}}
	for _, ch := range c.Changes {
		t.verbs[ch.Verb]++
		t.levels[ch.Level]++
		t.rollout(ch.Rollout)
		for _, s := range ch.Subsets {
			t.rollout(s.Rollout)
		}
	}
	return t
}

func (t *tally) rollout(r *compare.Rollout) {
	if r == nil || r.ByHand || r.Paused {
		return
	}
	unknown := r.Down < 0
	switch r.Mode {
	case rules.ModeRecreate:
		t.recreated += r.Reach
		t.moreRecreated = t.moreRecreated || unknown
	case rules.ModeInPlace:
		t.inPlace += r.Reach
		t.moreInPlace = t.moreInPlace || unknown
	}
}

// Summary says in one line what it all comes to.
func (c Changes) Summary() string {
	if len(c.Changes) == 0 {
		return fmt.Sprintf("no differences between %s and %d", plural(c.Objects[0], "object"), c.Objects[1])
	}
	t := c.tally()
	var parts []string
	for _, v := range []compare.Verb{compare.Changed, compare.Added, compare.Removed, compare.Affected} {
		if n := t.verbs[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	out := []string{strings.Join(parts, ", ")}
	parts = nil
	for _, n := range []struct {
		pods int
		more bool
		done string
	}{{t.recreated, t.moreRecreated, "recreated"}, {t.inPlace, t.moreInPlace, "updated in place"}} {
		if n.pods > 0 || n.more {
			parts = append(parts, countedText(n.pods, n.more)+" "+n.done)
		}
	}
	if len(parts) > 0 {
		out = append(out, strings.Join(parts, ", "))
	}
	if n := t.levels[compare.Loss]; n > 0 {
		out = append(out, fmt.Sprintf("%d %s data or service", n, verb(n, "loses", "lose")))
	}
	if n := t.levels[compare.Refused]; n > 0 {
		out = append(out, fmt.Sprintf("%d will be refused", n))
	}
	return strings.Join(out, "; ")
}

func countedText(pods int, more bool) string {
	switch {
	case pods == 0:
		return "some pods"
	case more:
		return plural(pods, "pod") + " and more"
	}
	return plural(pods, "pod")
}
