package compare

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// problems asks lint what is wrong with the new state that was not wrong with the
// old one: what Kruise would refuse, and what users regret.
func (c *comparison) problems(ctx context.Context, pairs []pair) {
	var objects, old, removed, rest []*resource.Resource
	regrouped := c.selectionChanged()
	for _, p := range pairs {
		switch changed := c.byID[p.id] != nil; {
		case p.now == nil:
			removed = append(removed, p.old)
		case changed || regrouped && dependsOnOthers(p.now):
			objects = append(objects, p.now)
			if p.old != nil && p.old.Name() == p.now.Name() {
				old = append(old, p.old)
			}
		default:
			rest = append(rest, p.now)
		}
	}
	beside := slices.Concat(rest, c.opt.Context)
	known := map[problemKey]bool{}
	for _, p := range lint.Run(ctx, lint.Request{Kruise: c.opt.Kruise, Kept: true, Objects: old, Context: slices.Concat(beside, removed), Namespace: c.opt.Namespace}) {
		known[keyOfProblem(p)] = true
	}
	c.addProblems(lint.Run(ctx, lint.Request{Kruise: c.opt.Kruise, Kept: true, Objects: objects, Old: old, Context: beside, Namespace: c.opt.Namespace, Progress: c.opt.Progress.Within(compared, 1)}), known)
	c.addProblems(lint.Run(ctx, lint.Request{Kruise: c.opt.Kruise, Kept: true, Objects: removed, Context: slices.Concat(objects, beside), Namespace: c.opt.Namespace, Operation: check.Delete}), nil)
}

// selectionChanged reports whether any selector may find other pods, or other namespaces,
// than before.
func (c *comparison) selectionChanged() bool {
	if len(c.old.carriers) != len(c.now.carriers) {
		return true
	}
	for _, is := range c.now.carriers {
		if i, ok := c.old.at[is.id]; !ok || !maps.Equal(c.old.carriers[i].labels, is.labels) {
			return true
		}
	}
	return slices.ContainsFunc(c.changes, func(ch *Change) bool { return ch.ID.Kind == "Namespace" && ch.ID.Group == "" })
}

// dependsOnOthers reports whether the rules for an object look at others, so that it
// may be wrong now without a change of its own.
func dependsOnOthers(r *resource.Resource) bool {
	return r.Is(kruise.PolicyGroup, kruise.KindPodUnavailableBudget) || r.Is(kruise.Group, kruise.KindSidecarSet)
}

// problemKey identifies a problem on either side.
type problemKey struct {
	object            resource.ID
	rule, field, text string
}

func keyOfProblem(p lint.Problem) problemKey {
	return problemKey{p.Object, p.Rule, p.Field, p.Err.Error()}
}

// describedElsewhere are rules whose matter the comparison has words of its own for.
var describedElsewhere = []string{
	"podunavailablebudget/never-allows", "sidecarset/not-upgradable", "statefulset/claim-templates", "workload/in-place-with-surge",
	"workload/not-in-place", "workload/paused",
}

var levels = map[lint.Severity]Level{lint.Error: Refused, lint.Warning: Warning, lint.Info: Note}

func (c *comparison) addProblems(list []lint.Problem, known map[problemKey]bool) {
	for _, p := range list {
		if known[keyOfProblem(p)] || slices.Contains(describedElsewhere, p.Rule) {
			continue
		}
		id := p.Object
		if id.Namespace == "" {
			id.Namespace = c.now.facts.Namespace()
		}
		ch := c.byID[id]
		if ch == nil {
			r := c.now.byID[id]
			if r == nil {
				continue
			}
			ch = c.affected(r)
		}
		if p.Severity == lint.Error && p.Field != "" && ch.refused(p.Field) {
			continue
		}
		ch.Effects = slices.DeleteFunc(ch.Effects, func(e Effect) bool { return e.Level == Warning && e.Rule == "" && e.Field == p.Field && p.Field != "" })
		ch.Effects = append(ch.Effects, Effect{Level: levels[p.Severity], Rule: p.Rule, Field: p.Field, Text: p.Err.Error(), Hint: p.Hint})
	}
}
