package references

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// onePerPiece recommends for each piece on its own.
type onePerPiece struct{}

func (onePerPiece) split(f *follower, l link) (pieces, bool) {
	objects, ok := f.perPiece(l, l.became)
	return pieces{objects, "references/per-piece", "one VerticalPodAutoscaler for each"}, ok
}

// sharedBudget lets a PodUnavailableBudget guard the pods of all pieces through
// the selector that its target had: the budget stays one for all of them.
type sharedBudget struct{}

func (sharedBudget) split(f *follower, l link) (pieces, bool) {
	target := f.c.Facts.Find(l.old)
	if target == nil || !tree.IsMap(tree.Get(target.Node(), "spec", "selector")) {
		return pieces{}, false
	}
	selector := tree.Clone(tree.Get(target.Node(), "spec", "selector"))
	tree.Replace(tree.Get(l.r.Edit(), "spec"), "targetRef", "selector", selector)
	return pieces{[]*resource.Resource{l.r}, "references/selector", "the budget takes their pods by selector"}, true
}

// limits are the fields in which an autoscaler holds how many replicas its target may have.
type limits struct {
	// below leads to the mapping that holds both.
	below []string
	// least and most are their names, leastDefault and mostDefault what they are when they
	// are left out; 0 as the default of most is none.
	least, most               string
	leastDefault, mostDefault int64
	// fallback is a number of replicas beside them, which is shared out likewise; name is a
	// name that only one autoscaler can have. Either may be nil.
	fallback, name []string
}

var (
	hpaLimits = limits{below: []string{"spec"}, least: "minReplicas", most: "maxReplicas", leastDefault: 1}
	// A ScaledObject scales its target from 0, too; it may have 100 replicas if it does not say.
	kedaLimits = limits{
		below: []string{"spec"}, least: "minReplicaCount", most: "maxReplicaCount", mostDefault: 100,
		fallback: []string{"spec", "fallback", "replicas"},
		name:     []string{"spec", "advanced", "horizontalPodAutoscalerConfig", "name"},
	}
	datadogLimits = limits{below: []string{"spec", "constraints"}, least: "minReplicas", most: "maxReplicas", leastDefault: 1}
)

// split gives each piece an autoscaler of its own, with the share that its subset takes of the
// limits of the whole.
func (x limits) split(f *follower, l link) (pieces, bool) {
	spec := tree.Get(l.r.Node(), x.below...)
	least, limited := tree.Int(tree.Get(spec, x.least))
	if !limited {
		least = x.leastDefault
	}
	most, bounded := tree.Int(tree.Get(spec, x.most))
	if !bounded {
		most = x.mostDefault
	}
	if least < 0 || least > most || most < 1 || most > math.MaxInt32 {
		return pieces{}, false
	}
	lowest := min(x.leastDefault, least) // 0 where the object scales to nothing
	upper, lower := f.c.Lineage.Shares(l.old, int32(most)), f.c.Lineage.Shares(l.old, int32(least))
	if len(upper) != len(l.became) || len(lower) != len(l.became) {
		return pieces{}, false // the replicas of its subsets are fixed
	}
	var targets []stage.Target
	var of []int
	for i, t := range l.became {
		if upper[i] > 0 {
			targets, of = append(targets, t), append(of, i)
		}
	}
	objects, ok := f.perPiece(l, targets)
	if !ok || len(objects) == 0 {
		return pieces{}, false
	}
	var sum int64
	for n, o := range objects {
		up := int64(upper[of[n]])
		sum += up
		tree.SetAt(o.Edit(), tree.Int64(up), append(slices.Clone(x.below), x.most)...)
		if limited {
			tree.SetAt(o.Edit(), tree.Int64(min(max(int64(lower[of[n]]), lowest), up)), append(slices.Clone(x.below), x.least)...)
		}
		if x.fallback != nil {
			if v, there := tree.Int(tree.Get(o.Node(), x.fallback...)); there {
				if share := f.c.Lineage.Shares(l.old, int32(min(max(v, 0), math.MaxInt32))); share != nil {
					tree.SetAt(o.Edit(), tree.Int64(int64(share[of[n]])), x.fallback...)
				}
			}
		}
		if x.name != nil {
			tree.DeleteAt(o.Edit(), x.name...)
		}
	}
	detail := fmt.Sprintf("one %s for each, which share %s %d and %s %d as the subsets do", l.r.Kind(), x.least, least, x.most, most)
	if sum < most {
		detail += fmt.Sprintf("; all together scale to %d at most", sum)
	}
	if idle := f.withoutReplicas(l, targets); lowest > 0 && len(idle) > 0 {
		detail += "; no autoscaler scales from 0, so scale to 1 once what has no replicas (" + strings.Join(idle, ", ") + "), or give the live replicas of the target with --with FILE or --live"
	}
	if !perPod(l.r) {
		detail += "; a metric that is no average over pods makes each of them scale for the whole load"
	}
	return pieces{objects, "references/per-piece-hpa", detail}, true
}

// perPod reports whether all metrics of an autoscaler are known to be averages over the
// pods of its target.
func perPod(r *resource.Resource) bool {
	if r.Annotation("autoscaling.alpha.kubernetes.io/metrics") != "" {
		return false
	}
	spec := tree.Get(r.Node(), "spec")
	for _, m := range slices.Concat(tree.Items(tree.Get(spec, "metrics")), tree.Items(tree.Get(spec, "triggers")), tree.Items(tree.Get(spec, "objectives"))) {
		if !slices.Contains([]string{"Resource", "ContainerResource", "Pods", "cpu", "memory", "PodResource"}, tree.StrAt(m, "type")) {
			return false
		}
	}
	return true
}

// withoutReplicas are the names of the targets that have no replicas in the output.
func (f *follower) withoutReplicas(l link, targets []stage.Target) (names []string) {
	for _, t := range targets {
		id := resource.ID{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: l.old.Namespace, Name: t.Name}
		for _, r := range f.in {
			if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok && n == 0 && r.ID() == id {
				names = append(names, t.Name)
			}
		}
	}
	return names
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
			if p, ok := l.ref.split.split(f, l); ok {
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
