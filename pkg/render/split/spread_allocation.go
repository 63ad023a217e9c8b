package split

import (
	"fmt"
	"math"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// allocation is how many pods the target has and how they are shared out over the subsets.
type allocation struct {
	*spreadExpansion
	// pods is the number of pods that the target has at a time, limits the number of them
	// that each subset takes.
	pods   int
	limits []int
}

// allocate computes how many pods each subset takes.
func (s *spreadExpansion) allocate() (*allocation, error) {
	a := &allocation{spreadExpansion: s}
	var paths []string
	if f := s.spec.TargetFilter; f != nil {
		paths = f.ReplicasPathList
	}
	a.pods = a.replicas()
	of := a.pods
	if len(paths) > 0 {
		s.report("workloadspread/replicas-path", "spec.targetFilter.replicasPathList", "")
		var err error
		if of, err = spread.Replicas(s.target.hub, paths); err != nil {
			return nil, s.r.Wrap(err, "")
		}
	}
	if s.target.form.ordinals && a.pods > maxOrdinals {
		return nil, s.target.Fault("spec.replicas", "", "the ordinals of more than %d pods are not mapped to subsets", maxOrdinals)
	}
	a.limits = spread.Limits(s.spec.Subsets, of)
	a.closeUnschedulable()
	return a, nil
}

// maxOrdinals bounds the work for absurd numbers of replicas.
const maxOrdinals = 100_000

// closeUnschedulable limits a subset that is known to be unschedulable to the pods that it
// has. Rendering has no clock: it does not matter how long ago that was seen.
func (a *allocation) closeUnschedulable() {
	if a.spec.ScheduleStrategy.Type != kruise.AdaptiveWorkloadSpreadScheduleStrategyType {
		return
	}
	known := a.r.Node()
	if live := a.c.Facts.Existing(a.r); live != nil {
		known = live.Node()
	}
	var off []string
	for i, subset := range a.spec.Subsets {
		status, _ := tree.Find(tree.Get(known, "status", "subsetStatuses"), "name", subset.Name)
		condition, _ := tree.Find(tree.Get(status, "conditions"), "type", "Schedulable")
		if tree.StrAt(condition, "status") != "False" {
			continue
		}
		off = append(off, subset.Name)
		if a.limits[i] = int(count(tree.Get(status, "replicas"))); a.target.form.ordinals {
			a.limits[i] = 0
		}
	}
	a.reportAdaptive(off)
}

// replicas is how many pods the target has at a time. If an autoscaler owns the number, the input
// may not have it: it is that of the live objects, else the minimum of the autoscaler.
func (a *allocation) replicas() int {
	if a.target.form.job || tree.Get(a.target.hub, "spec", "replicas") != nil || a.target.scaler == nil {
		return spread.Pods(a.target.hub)
	}
	if n, known := a.liveReplicas(); known {
		a.report("workloadspread/replicas-live", "spec.subsets", counted.With(n, "replica is shared out, as many as there are now", "replicas are shared out, as many as there are now"))
		return n
	}
	least := 1
	for _, field := range []string{"minReplicas", "minReplicaCount"} {
		if n, ok := tree.Int(tree.Get(a.target.scaler.Node(), "spec", field)); ok {
			least = int(min(max(n, 1), math.MaxInt32))
		}
	}
	a.report("workloadspread/replicas-unknown", "spec.subsets",
		fmt.Sprintf("%s %s owns the replicas of %s %s, which the input leaves open: %s shared out, the least it permits", a.target.scaler.Kind(), a.target.scaler.Name(), a.target.Kind(), a.target.Name(), counted.With(least, "is", "are")))
	return least
}

// liveReplicas is how many replicas the target has in the cluster, or the workloads that
// an earlier rendering made of it.
func (a *allocation) liveReplicas() (n int, known bool) {
	if r := a.c.Facts.Existing(a.target.Resource); r != nil {
		return spread.Pods(r.Node()), true
	}
	for _, r := range rendered(a.c.Facts)[renderedOf{a.c.Facts.NamespaceOf(a.target.Resource), a.label()}] {
		n, known = n+spread.Pods(r.Node()), true
	}
	return n, known
}

// renderedOf names a WorkloadSpread in a namespace by the label of what was made of it.
type renderedOf struct{ namespace, label string }

// rendered are the workloads that exist and that an earlier rendering made of the targets
// of spreads, found once for all of them.
func rendered(f *resource.Facts) map[renderedOf][]*resource.Resource {
	return resource.Once(f, renderedOf{}, func() map[renderedOf][]*resource.Resource {
		out := map[renderedOf][]*resource.Resource{}
		for _, kind := range kinds {
			for _, r := range f.Context(kind.group, kind.kind) {
				if label := r.Label(kruise.SpreadLabel); label != "" {
					of := renderedOf{f.NamespaceOf(r), label}
					out[of] = append(out[of], r)
				}
			}
		}
		return out
	})
}

// piece is one workload that the target becomes.
type piece struct {
	// subset is its place among the subsets, [spread.None] for the pods that no
	// subset has room for.
	subset int
	title  string
	pods   int
	// first is the lowest ordinal, before how many of the target's pods come before
	// those of the piece.
	first, before int
	// completions are those of a Job.
	completions int64
	// leads is true if it is the first.
	leads bool
}

// restTitle is what the workload of pods without a subset is called.
const restTitle = "rest"

// pieces shares the target's pods out. A subset without pods has a workload all
// the same, except for Jobs: they run once.
func (a *allocation) pieces() []piece {
	var list []piece
	if a.target.form.ordinals {
		list = a.piecesByOrdinal()
	} else {
		list = a.piecesByCount()
	}
	before := 0
	out := list[:0]
	for _, p := range list {
		p.before = before
		before += p.pods
		if p.pods > 0 || p.subset != spread.None && !a.target.form.job {
			out = append(out, p)
		}
	}
	if a.target.form.job {
		a.completions(out, before)
	}
	if len(out) > 0 {
		out[0].leads = true
	}
	return out
}

func (a *allocation) piecesByCount() (list []piece) {
	n := a.pods
	if all, ok := tree.Int(tree.Get(a.target.hub, "spec", "completions")); ok && a.target.form.job {
		n = int(min(int64(n), max(all, 0)))
	}
	counts, rest := spread.Fill(a.limits, n)
	for i, n := range counts {
		list = append(list, piece{subset: i, title: a.spec.Subsets[i].Name, pods: n})
	}
	return append(list, piece{subset: spread.None, title: restTitle, pods: rest})
}

// piecesByOrdinal maps ordinals, which no piece shares with another.
func (a *allocation) piecesByOrdinal() (list []piece) {
	shares, rest := spread.FillOrdinals(a.limits, rules.Ordinals(a.target.firstOrdinal(), a.pods, a.target.reservedOrdinals()))
	next := a.target.firstOrdinal()
	for i, ordinals := range shares {
		p := piece{subset: i, title: a.spec.Subsets[i].Name, pods: len(ordinals), first: next}
		if len(ordinals) > 0 {
			p.first = ordinals[0]
			next = ordinals[len(ordinals)-1] + 1
		}
		list = append(list, p)
	}
	p := piece{subset: spread.None, title: restTitle, pods: len(rest), first: next}
	if len(rest) > 0 {
		p.first = rest[0]
	}
	return append(list, p)
}

// completions shares those of a Job out by the pods that run at a time; the sum
// stays.
func (a *allocation) completions(list []piece, pods int) {
	all, ok := tree.Int(tree.Get(a.target.hub, "spec", "completions"))
	if all = min(max(all, 0), math.MaxInt32); !ok || pods == 0 {
		return
	}
	share := func(n int) int64 { return all * int64(n) / int64(pods) }
	for i, p := range list {
		list[i].completions = share(p.before+p.pods) - share(p.before)
	}
}
