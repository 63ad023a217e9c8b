package references

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// splitVPA recommends for each piece on its own.
func splitVPA(f *follower, l link) (pieces, bool) {
	objects, ok := f.perPiece(l, l.became)
	return pieces{objects, "references/per-piece", "one VerticalPodAutoscaler for each"}, ok
}

// splitBudget lets a PodUnavailableBudget guard the pods of all pieces through
// the selector that its target had: the budget stays one for all of them.
func splitBudget(f *follower, l link) (pieces, bool) {
	target := f.c.Facts.Find(l.old)
	if target == nil || !tree.IsMap(tree.Get(target.Node(), "spec", "selector")) {
		return pieces{}, false
	}
	selector := tree.Clone(tree.Get(target.Node(), "spec", "selector"))
	tree.Replace(tree.Get(l.r.Edit(), "spec"), "targetRef", "selector", selector)
	return pieces{[]*resource.Resource{l.r}, "references/selector", "the budget takes their pods by selector"}, true
}

// splitHPA gives each piece an autoscaler of its own, whose limits are its
// share of the whole. That holds where all metrics are averages per pod: a
// metric of something else would make every piece scale for the whole load.
func splitHPA(f *follower, l link) (pieces, bool) {
	spec := tree.Get(l.r.Node(), "spec")
	lower, limited := tree.Int(tree.Get(spec, "minReplicas"))
	if !limited {
		lower = 1
	}
	upper, _ := tree.Int(tree.Get(spec, "maxReplicas"))
	targets, weights := f.scaled(l)
	n := int64(len(targets))
	if !perPod(l.r) || lower < 1 || lower > upper || upper < n || n == 0 || upper > math.MaxInt32 {
		return pieces{}, false
	}
	objects, ok := f.perPiece(l, targets)
	if !ok {
		return pieces{}, false
	}
	most := shares(upper, weights)
	least := shares(max(lower, n), weights)
	for i, o := range objects {
		tree.SetAt(o.Edit(), tree.Int64(most[i]), "spec", "maxReplicas")
		if limited {
			tree.SetAt(o.Edit(), tree.Int64(min(least[i], most[i])), "spec", "minReplicas")
		}
	}
	detail := fmt.Sprintf("one HorizontalPodAutoscaler for each, which share minReplicas %d and maxReplicas %d by their replicas", lower, upper)
	if len(targets) < len(l.became) {
		detail += "; a piece without replicas gets none, as it would not scale from there (give the live replicas of the target with --with FILE or --live)"
	}
	return pieces{objects, "references/per-piece-hpa", detail}, true
}

// perPod reports whether all metrics of an autoscaler are averages over the
// pods of its target.
func perPod(r *resource.Resource) bool {
	if r.Annotation("autoscaling.alpha.kubernetes.io/metrics") != "" {
		return false
	}
	for _, m := range tree.Items(tree.Get(r.Node(), "spec", "metrics")) {
		if !slices.Contains([]string{"Resource", "ContainerResource", "Pods"}, tree.StrAt(m, "type")) {
			return false
		}
	}
	return true
}

// scaled returns the pieces that run pods, with their replicas; all of them,
// alike, when none does.
func (f *follower) scaled(l link) (targets []stage.Target, weights []int64) {
	for _, t := range l.became {
		id := resource.ID{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: l.old.Namespace, Name: t.Name}
		if w := f.now.of(f.in, id); w > 0 {
			targets, weights = append(targets, t), append(weights, w)
		}
	}
	if len(targets) == 0 {
		return l.became, slices.Repeat([]int64{1}, len(l.became))
	}
	return targets, weights
}

// replicas looks up the replica counts of the present objects; the table is
// only made when a split asks for it.
type replicas struct {
	once  sync.Once
	count map[resource.ID]int64
}

func (p *replicas) of(in []*resource.Resource, id resource.ID) int64 {
	p.once.Do(func() {
		p.count = make(map[resource.ID]int64, len(in))
		for _, r := range in {
			n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas"))
			if !ok {
				n = 1
			}
			p.count[r.ID()] = min(n, math.MaxInt32)
		}
	})
	return p.count[id]
}

// shares divides total by weights with the largest remainders, each at least
// 1; total must not be less than the number of weights. Ties go to the first.
func shares(total int64, weights []int64) []int64 {
	var sum int64
	for _, w := range weights {
		sum += w
	}
	out, order, left := make([]int64, len(weights)), make([]int, len(weights)), total
	for i, w := range weights {
		out[i], order[i] = total*w/sum, i
		left -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(total*weights[b]%sum, total*weights[a]%sum)
	})
	for _, i := range order[:left] {
		out[i]++
	}
	for i := range out {
		if out[i] == 0 {
			richest := slices.Index(out, slices.Max(out))
			out[richest]--
			out[i]++
		}
	}
	return out
}

// pieces is what a referrer becomes when its target was split: objects that take its place, and
// the finding about it.
type pieces struct {
	objects    []*resource.Resource
	id, detail string
}

// handleUnresolved handles a reference that no single object can take over.
func (f *follower) handleUnresolved(l link) []*resource.Resource {
	switch {
	case len(l.became) == 0:
		f.drop("references/gone", l)
	case len(l.became) == 1:
		f.drop("references/unfit", l)
	default:
		if l.ref.split != nil {
			if p, ok := l.ref.split(f, l); ok {
				f.c.Findings.Add(p.id, l.r, l.at.path, l.outcomeText()+": "+p.detail)
				return p.objects
			}
		}
		f.drop("references/split", l)
	}
	return nil
}

// drop reports that the referrer leaves the output.
func (f *follower) drop(id string, l link) {
	f.c.Findings.Add(id, l.r, l.at.path, l.outcomeText()+": this "+l.r.Kind()+" cannot name that and is left out")
}

// outcomeText reports what became of the target.
func (l link) outcomeText() string {
	if len(l.became) == 0 {
		return l.old.Kind + " " + l.old.Name + " is no longer there"
	}
	now := make([]string, len(l.became))
	for i, t := range l.became {
		now[i] = t.Kind + " " + t.Name
	}
	return l.old.Kind + " " + l.old.Name + " became " + strings.Join(now, ", ")
}

// perPiece returns one copy of the referrer for each of targets, named after
// it; ok is false when such a name is taken already.
func (f *follower) perPiece(l link, targets []stage.Target) (copies []*resource.Resource, ok bool) {
	for _, t := range targets {
		suffix := t.Name
		if rest, cut := strings.CutPrefix(t.Name, l.old.Name+"-"); cut {
			suffix = rest
		}
		id := l.r.ID()
		id.Name += "-" + suffix
		if f.c.Facts.Find(id) != nil {
			return nil, false
		}
		n := tree.Clone(tree.Root(l.r.Node()))
		tree.SetAt(n, tree.String(id.Name), "metadata", "name")
		stage.ForgetOrigin(n)
		ref, _ := tree.At(n, l.at.path)
		point(ref, t)
		copies = append(copies, resource.Derived(n, l.r))
	}
	return copies, true
}
