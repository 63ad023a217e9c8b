package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// doneTo is what happens to pods in each mode.
var doneTo = map[rules.UpdateMode]string{
	rules.ModeInPlace: "updated in place", rules.ModeMetadataOnly: "given new labels and annotations, without a restart", rules.ModeRecreate: "recreated",
}

// podsText describes what pods go through, in one line; empty when nothing happens.
func podsText(r *compare.Rollout) string {
	if r == nil {
		return ""
	}
	var parts []string
	if text := followText(r); text != "" {
		parts = append(parts, text)
	}
	if r.From != r.To && r.From >= 0 && r.To >= 0 {
		parts = append(parts, fmt.Sprintf("%d become %d", r.From, r.To))
	}
	return strings.Join(parts, "; ")
}

// followText reports how many pods follow a new template, and how many at a time.
func followText(r *compare.Rollout) string {
	done, known := doneTo[r.Mode], r.Down >= 0
	switch {
	case r.Mode == rules.ModeUnchanged && r.Recreated > 0:
		return fmt.Sprintf("%d of %d %s %s", r.Recreated, r.Total, counted.Word(r.Recreated, "is", "are"), doneTo[rules.ModeRecreate])
	case r.Mode == rules.ModeUnchanged:
		return ""
	case r.Mode == rules.ModeNotAllowed:
		return "none is updated: the policy forbids what the change needs"
	case r.ByHand:
		return "each is " + done + " only when it is deleted"
	case r.Paused:
		return "none is " + done + " while the update is paused"
	case known && r.Total == 0:
		return ""
	case known && r.Reach == 0:
		kept := "pods that are not ready, or budgets, keep the update from going on"
		if r.Partitioned {
			kept = "the partition keeps them"
		}
		return fmt.Sprintf("0 of %d are %s: %s", r.Total, done, kept)
	case !known:
		return "all are " + done + restartText(r) + writtenText(r)
	}
	text := reachedText(r, done)
	if r.Mode != rules.ModeMetadataOnly {
		text += fmt.Sprintf(", at most %d unavailable at a time", min(r.Down, r.Reach))
		if r.Surge > 0 {
			text += fmt.Sprintf(", up to %d more beside them", r.Surge)
		}
	}
	if r.Driver == plan.DriverNative {
		text += ", by Kubernetes' own controllers"
	}
	return text
}

// reachedText counts the pods that follow, those apart that others replace although the change is possible in place.
func reachedText(r *compare.Rollout, done string) string {
	kept, recreated := r.Reach-r.Recreated, r.Recreated
	if r.Mode == rules.ModeRecreate {
		kept, recreated = r.Reach, 0
	}
	text := fmt.Sprintf("%d of %d %s %s%s", kept, r.Total, counted.Word(kept, "is", "are"), done, restartText(r))
	if recreated == 0 {
		return text
	}
	why := "recreated"
	if r.Surge > 0 {
		why += ", since surge pods take their place"
	}
	if kept == 0 {
		return fmt.Sprintf("%d of %d %s %s", recreated, r.Total, counted.Word(recreated, "is", "are"), why)
	}
	return fmt.Sprintf("%s, %d %s %s", text, recreated, counted.Word(recreated, "is", "are"), why)
}

// restartText names the containers that restart inside their pods.
func restartText(r *compare.Rollout) string {
	if r.Mode != rules.ModeInPlace || len(r.Restarts) == 0 {
		return ""
	}
	return " (" + namesText(r.Restarts) + " " + counted.Word(len(r.Restarts), "restarts", "restart") + ")"
}

// writtenText is the pace where the number of pods is not known.
func writtenText(r *compare.Rollout) string {
	if r.Uncounted != "" {
		return "; how many is not known: " + r.Uncounted
	}
	text := "; how many there are is not written here"
	if r.MaxUnavailable != "" {
		text += ", maxUnavailable is " + r.MaxUnavailable
	}
	if r.MaxSurge != "" && r.MaxSurge != "0" {
		text += ", maxSurge is " + r.MaxSurge
		if r.Mode == rules.ModeInPlace {
			text += ": up to that many of them are recreated, since surge pods take their place"
		}
	}
	return text
}

// becauseText names what decides.
func becauseText(r *compare.Rollout) string {
	if r == nil || r.Mode == rules.ModeUnchanged {
		return ""
	}
	const most = 3
	list := r.Because
	text := strings.Join(list[:min(most, len(list))], ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	switch {
	case text == "":
		return r.Why
	case r.Mode == rules.ModeRecreate && r.Driver == plan.DriverNative:
		return text + " " + counted.Word(len(list), "changes", "change")
	}
	if field, why, ok := strings.Cut(r.Why, ": "); ok && !strings.Contains(field, " ") {
		return text + ": " + why // without the field that it begins with
	}
	return text + ": " + r.Why
}

func subsetText(s compare.Subset) string {
	text := s.Name
	switch {
	case s.Verb == compare.Added:
		text += ": new" + limited(s.To)
	case s.Verb == compare.Removed:
		text += ": gone" + limited(s.From)
	case s.Rollout == nil:
		text += fmt.Sprintf(": %s, now %s", limitText(s.From), limitText(s.To))
	default:
		text += ": " + podsText(s.Rollout)
	}
	return strings.TrimSuffix(text, ": ")
}

func limited(n int) string {
	if n < 0 {
		return ""
	}
	return ", " + counted.Of(n, "pod")
}

func limitText(n int) string {
	if n < 0 {
		return "no limit"
	}
	return "at most " + counted.Of(n, "pod")
}

// mostNames is how many names are listed in a line.
const mostNames = 6

// reachText lists the workloads that a SidecarSet reaches.
func reachText(list []compare.Reached) string {
	if len(list) == 0 {
		return ""
	}
	var names []string
	pods, unknown := 0, false
	for _, w := range list {
		names = append(names, targetText(plan.Target{Kind: w.Workload.Kind, Namespace: w.Workload.Namespace, Name: w.Workload.Name})+map[compare.Verb]string{compare.Added: " (new)", compare.Removed: " (not any more)"}[w.Verb])
		if w.Verb == compare.Removed {
			continue
		}
		pods += max(w.Pods, 0)
		unknown = unknown || w.Pods < 0
	}
	text := counted.Of(len(list), "workload")
	if pods > 0 {
		text += " with " + map[bool]string{true: "at least ", false: ""}[unknown] + counted.Of(pods, "pod")
	}
	return text + ": " + namesText(names)
}

func namesText(names []string) string {
	if len(names) > mostNames+1 {
		return strings.Join(names[:mostNames], ", ") + fmt.Sprintf(" and %d more", len(names)-mostNames)
	}
	return strings.Join(names, ", ")
}

// copiesText describes what happens to the copies of a ResourceDistribution.
func copiesText(c *compare.Copies) string {
	if c == nil {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		verb  string
		names []string
	}{{"removed from", c.Removed}, {"added in", c.Added}, {"changed in", c.Changed}} {
		if len(p.names) > 0 {
			parts = append(parts, p.verb+" "+namesText(p.names))
		}
	}
	if c.Kept > 0 {
		parts = append(parts, fmt.Sprintf("the same in %d", c.Kept))
	}
	if c.Unknown {
		parts = append(parts, "in namespaces that are not known here (--with names them)")
	}
	if len(parts) == 0 {
		return "copies of " + c.Kind + " " + c.Name + ": none"
	}
	return "copies of " + c.Kind + " " + c.Name + ": " + strings.Join(parts, "; ")
}

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
		t.inPlace += r.Reach - r.Recreated
		t.moreInPlace = t.moreInPlace || unknown
	}
	if r.Mode != rules.ModeRecreate {
		t.recreated += r.Recreated
	}
}

// Summary says in one line what it all comes to.
func (c Changes) Summary() string {
	if len(c.Changes) == 0 {
		return fmt.Sprintf("no differences between %s and %d", counted.Of(c.Objects[0], "object"), c.Objects[1])
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
		switch text := counted.Of(n.pods, "pod"); {
		case n.pods > 0 && n.more:
			parts = append(parts, text+" and more "+n.done)
		case n.pods > 0:
			parts = append(parts, text+" "+n.done)
		case n.more:
			parts = append(parts, "some pods "+n.done)
		}
	}
	if len(parts) > 0 {
		out = append(out, strings.Join(parts, ", "))
	}
	if n := t.levels[compare.Loss]; n > 0 {
		out = append(out, fmt.Sprintf("%d %s data or service", n, counted.Word(n, "loses", "lose")))
	}
	if n := t.levels[compare.Refused]; n > 0 {
		out = append(out, fmt.Sprintf("%d will be refused", n))
	}
	return strings.Join(out, "; ")
}
