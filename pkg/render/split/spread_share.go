package split

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// limit works out how many pods each subset takes.
func (s *spreading) limit() error {
	var paths []string
	if f := s.spec.TargetFilter; f != nil {
		paths = f.ReplicasPathList
	}
	s.pods = s.replicas()
	of := s.pods
	if len(paths) > 0 {
		s.report("workloadspread/replicas-path", "spec.targetFilter.replicasPathList", "")
		var err error
		if of, err = spread.Replicas(s.whole, paths); err != nil {
			return s.r.Wrap(err, "")
		}
	}
	if s.form.ordinals && s.pods > mostOrdinals {
		return s.target.Fault("spec.replicas", "", "the ordinals of more than %d pods are not mapped to subsets", mostOrdinals)
	}
	s.limits = spread.Limits(s.spec.Subsets, of)
	s.close()
	return nil
}

// mostOrdinals bounds the work for absurd numbers of replicas.
const mostOrdinals = 100_000

// close has a subset that is known to be unschedulable keep what it has and get no
// more. Rendering has no clock: however long ago that was seen, it counts.
func (s *spreading) close() {
	if s.spec.ScheduleStrategy.Type != kruise.AdaptiveWorkloadSpreadScheduleStrategyType {
		return
	}
	known := s.r.Node()
	if live := s.c.Facts.Existing(s.r); live != nil {
		known = live.Node()
	}
	var off []string
	for i, subset := range s.spec.Subsets {
		status, _ := tree.Find(tree.Get(known, "status", "subsetStatuses"), "name", subset.Name)
		condition, _ := tree.Find(tree.Get(status, "conditions"), "type", "Schedulable")
		if tree.StrAt(condition, "status") != "False" {
			continue
		}
		off = append(off, subset.Name)
		if s.limits[i] = int(count(tree.Get(status, "replicas"))); s.form.ordinals {
			s.limits[i] = 0
		}
	}
	s.reportAdaptive(off)
}

// replicas is how many pods the target has at a time. Where an autoscaler owns the
// number, the input may not have it: the live objects say it, else the least that
// the autoscaler permits.
func (s *spreading) replicas() int {
	if s.form.job || tree.Get(s.whole, "spec", "replicas") != nil || s.scaler == nil {
		return spread.Pods(s.whole)
	}
	if n, known := s.live(); known {
		s.report("workloadspread/replicas-live", "spec.subsets", fmt.Sprintf("%d replicas are shared out, as many as there are now", n))
		return n
	}
	least := 1
	for _, field := range []string{"minReplicas", "minReplicaCount"} {
		if n, ok := tree.Int(tree.Get(s.scaler.Node(), "spec", field)); ok {
			least = int(min(max(n, 1), math.MaxInt32))
		}
	}
	s.report("workloadspread/replicas-unknown", "spec.subsets",
		fmt.Sprintf("%s %s owns the replicas of %s %s, which the input leaves open: %d are shared out, the least it permits", s.scaler.Kind(), s.scaler.Name(), s.target.Kind(), s.target.Name(), least))
	return least
}

// live is how many replicas the target has in the cluster, or the workloads that
// an earlier rendering made of it.
func (s *spreading) live() (n int, known bool) {
	if r := s.c.Facts.Existing(s.target); r != nil {
		return spread.Pods(r.Node()), true
	}
	for _, r := range rendered(s.c.Facts)[renderedOf{s.c.Facts.NamespaceOf(s.target), s.label()}] {
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
	// leads says that it is the first.
	leads bool
}

// restTitle is what the workload of pods without a subset is called.
const restTitle = "rest"

// pieces shares the target's pods out. A subset without pods has a workload all
// the same, except for Jobs: they run once.
func (s *spreading) pieces() []piece {
	var list []piece
	if s.form.ordinals {
		list = s.numbered()
	} else {
		list = s.counted()
	}
	before := 0
	out := list[:0]
	for _, p := range list {
		p.before = before
		before += p.pods
		if p.pods > 0 || p.subset != spread.None && !s.form.job {
			out = append(out, p)
		}
	}
	if s.form.job {
		s.completions(out, before)
	}
	if len(out) > 0 {
		out[0].leads = true
	}
	return out
}

func (s *spreading) counted() (list []piece) {
	n := s.pods
	if all, ok := tree.Int(tree.Get(s.whole, "spec", "completions")); ok && s.form.job {
		n = int(min(int64(n), max(all, 0)))
	}
	counts, rest := spread.Fill(s.limits, n)
	for i, n := range counts {
		list = append(list, piece{subset: i, title: s.spec.Subsets[i].Name, pods: n})
	}
	return append(list, piece{subset: spread.None, title: restTitle, pods: rest})
}

// numbered maps ordinals, which no piece shares with another.
func (s *spreading) numbered() (list []piece) {
	shares, rest := spread.FillOrdinals(s.limits, rules.Ordinals(s.start(), s.pods, s.reserved()))
	next := s.start()
	for i, ordinals := range shares {
		p := piece{subset: i, title: s.spec.Subsets[i].Name, pods: len(ordinals), first: next}
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

// start is the target's first ordinal.
func (s *spreading) start() int {
	n, _ := tree.Int(tree.Get(s.whole, "spec", "ordinals", "start"))
	return int(min(max(n, 0), math.MaxInt32))
}

// reserved are the ordinals that an Advanced StatefulSet leaves out.
func (s *spreading) reserved() []intstr.IntOrString {
	var list []intstr.IntOrString
	if n := tree.Get(s.whole, "spec", "reserveOrdinals"); n != nil {
		if _, err := tree.Decode(n, &list); err != nil {
			return nil // the check has refused it
		}
	}
	return list
}

// completions shares those of a Job out by the pods that run at a time; the sum
// stays.
func (s *spreading) completions(list []piece, pods int) {
	all, ok := tree.Int(tree.Get(s.whole, "spec", "completions"))
	if all = min(max(all, 0), math.MaxInt32); !ok || pods == 0 {
		return
	}
	share := func(n int) int64 { return all * int64(n) / int64(pods) }
	for i, p := range list {
		list[i].completions = share(p.before+p.pods) - share(p.before)
	}
}
