// Package compare reports what changes between two states of a set of objects, and what that does
// in a cluster: to pods (in place, recreated, not at all, because of which field), to data, to
// distributions and budgets. It compares meaning, not text: defaults, order and the version of an
// API do not count. Package plan answers all questions about rollouts.
//
// Data in, data out: it opens no file and no connection, and values of Secrets
// never leave it.
package compare

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Options define what else is known.
type Options struct {
	// Namespace is where objects without one live ("" = default).
	Namespace string
	// Context are objects that exist on both sides and are not compared
	// themselves: namespaces, nodes, budgets, other sets.
	Context []*resource.Resource
	Gates   cluster.Gates
	// Kruise is the release of Kruise that takes the objects; the zero value is one that
	// is not known.
	Kruise kruise.Release
	// Observed returns what is known of the pods of a workload; nil, or ok false, if nothing is
	// known beyond the workload itself.
	Observed func(cluster.Ref) (s plan.Snapshot, ok bool)
	// Progress, when set, is told how much is done, by several goroutines.
	Progress resource.Progress
}

// comparison is one run.
type comparison struct {
	opt      Options
	old, now *side
	changes  []*Change
	// byID finds the change of an object of the new side, or of the old side
	// where the new one has none.
	byID map[resource.ID]*Change
	// pods are those that were observed, for SidecarSets.
	pods observedPods
	// work is what the runs of the model have cost, see [simulate.Work]; pairs are compared on all cores.
	work atomic.Int64
}

// Run compares two states. The resources stay as they are. When ctx ends, nothing is
// compared any more, and the report is not the whole.
func Run(ctx context.Context, old, now []*resource.Resource, opt Options) Report {
	c := &comparison{opt: opt, old: newSide(ctx, old, opt), now: newSide(ctx, now, opt), byID: map[resource.ID]*Change{}}
	pairs := pairObjects(c.old, c.now)
	c.differences(pairs)
	if len(c.changes) > 0 {
		c.sidecars()
		c.copies()
		c.budgets()
		c.spreads()
		c.readers()
		c.problems(ctx, pairs)
	}
	secrets := resource.SecretsOf(old, now)
	for _, ch := range c.changes {
		for i, f := range ch.Fields { // Secrets whose values something has copied into this object
			ch.Fields[i].Old, ch.Fields[i].New = secrets.Content(f.Old), secrets.Content(f.New)
		}
		for i, e := range ch.Effects {
			ch.Effects[i].Text, ch.Effects[i].Hint = secrets.Masked(e.Text), secrets.Masked(e.Hint)
		}
		ch.sortEffects()
	}
	out := Report{Changes: make([]Change, 0, len(c.changes)), Objects: [2]int{len(old), len(now)}}
	for _, ch := range c.changes {
		onlySeemed := ch.Verb == Affected && len(ch.Effects)+len(ch.Reach)+len(ch.Subsets) == 0 && ch.Copies == nil
		if !onlySeemed {
			out.Changes = append(out.Changes, *ch)
		}
	}
	slices.SortStableFunc(out.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Level.Rank(), b.Level.Rank()), cmp.Compare(a.order, b.order))
	})
	return out
}

// compared is which part of the work is done when all pairs are compared.
const compared = .9

// differences compares all pairs on all cores.
func (c *comparison) differences(pairs []pair) {
	all := make([]*Change, len(pairs))
	c.now.stage.Progress = c.opt.Progress.Within(0, compared)
	_ = c.now.stage.Each(len(pairs), func(i int) error {
		all[i] = c.difference(pairs[i])
		return nil
	})
	c.now.stage.Progress = nil
	for i, ch := range all {
		if ch != nil {
			ch.order = i
			c.changes = append(c.changes, ch)
			c.byID[pairs[i].id] = ch
		}
	}
}

// difference compares one pair; nil is no difference.
func (c *comparison) difference(p pair) *Change {
	switch {
	case p.now == nil:
		ch := &Change{Verb: Removed, ID: p.old.ID(), Old: p.old.Origin}
		c.describeRemoved(ch, p.old)
		return ch
	case p.old == nil:
		ch := &Change{Verb: Added, ID: p.now.ID(), New: p.now.Origin}
		c.describeAdded(ch, p.now)
		return ch
	case p.old.Raw() != nil && bytes.Equal(p.old.Raw(), p.now.Raw()):
		return nil
	}
	ch := &Change{Verb: Changed, ID: p.now.ID(), Old: p.old.Origin, New: p.now.Origin}
	if p.old.Name() != p.now.Name() {
		ch.Was = p.old.Name()
	}
	if !c.compare(ch, p) && len(ch.Effects) == 0 && ch.Was == "" {
		return nil
	}
	return ch
}

// affected returns the change of an object, a new one for an object that is the
// same on both sides.
func (c *comparison) affected(r *resource.Resource) *Change {
	id := c.now.facts.IDOf(r)
	if ch := c.byID[id]; ch != nil {
		return ch
	}
	ch := &Change{Verb: Affected, ID: r.ID(), New: r.Origin, order: len(c.byID) + r.Origin.Seq}
	c.byID[id] = ch
	c.changes = append(c.changes, ch)
	return ch
}

// newContext is what stages are handed that are asked about one side.
func newContext(ctx context.Context, facts *resource.Facts, release kruise.Release) *stage.Context {
	return stage.New(facts, stage.Options{Explain: &stage.Explain{}, Expand: stage.ExpandAll, Kruise: release, Running: ctx})
}
