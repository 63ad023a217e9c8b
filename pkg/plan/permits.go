package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// permits asks budgets on behalf of the client, and remembers what one decision
// has taken of them.
type permits struct {
	budgets     []*rules.Budget
	disruptions []*rules.DisruptionBudget
	counts      map[string]*rules.BudgetCounts
}

func newPermits(s *Snapshot) *permits { return s.permits(s.Budgets) }

func (s *Snapshot) permits(budgets []*rules.Budget) *permits {
	return &permits{budgets: budgets, disruptions: s.Disruptions, counts: map[string]*rules.BudgetCounts{}}
}

// heeded are the PodUnavailableBudgets that somebody asks when a driver has pods
// replaced: one that was rendered is asked by the client alone.
func (s *Snapshot) heeded(d Driver) []*rules.Budget {
	if d == DriverClient {
		return s.Budgets
	}
	var out []*rules.Budget
	for _, b := range s.Budgets {
		if !b.Rendered {
			out = append(out, b)
		}
	}
	return out
}

func (l *permits) of(name string, count func() rules.BudgetCounts) *rules.BudgetCounts {
	n := l.counts[name]
	if n == nil {
		n = new(count())
		l.counts[name] = n
	}
	return n
}

func (l *permits) unavailable(b *rules.Budget) *rules.BudgetCounts {
	return l.of("unavailable/"+b.Name, b.Counts)
}

// allow asks the PodUnavailableBudgets that cover a pod. Where there is no Kruise
// no webhook has written their name on it, so that is made up for.
func (l *permits) allow(p *cluster.Pod, op kruise.PubOperation) (why string, ok bool) {
	for _, b := range l.budgets {
		if !slices.ContainsFunc(b.Pods, samePod(p)) {
			continue
		}
		n := l.unavailable(b)
		v := b.DecideAt(*n, rules.Request{Pod: related(p, b.Name), Operation: op})
		if !v.Allowed {
			return v.Why, false
		}
		if v.Record {
			n.Allowed--
		}
	}
	return "", true
}

// evict asks the PodDisruptionBudgets.
func (l *permits) evict(p *cluster.Pod) (why string, ok bool) {
	for _, b := range l.disruptions {
		if !slices.ContainsFunc(b.Pods, samePod(p)) {
			continue
		}
		n := l.of("disruption/"+b.Name, b.Counts)
		v := b.EvictAt(*n, p)
		if !v.Allowed {
			return v.Why, false
		}
		if v.Record {
			n.Allowed--
		}
	}
	return "", true
}

func samePod(p *cluster.Pod) func(*cluster.Pod) bool {
	return func(other *cluster.Pod) bool { return other == p || other.UID == p.UID && p.UID != "" }
}

// related is the pod with its budget's name on it.
func related(p *cluster.Pod, budget string) *cluster.Pod {
	if p.Annotations[kruise.RelatedBudgetAnnotation] != "" {
		return p
	}
	out := *p
	out.Annotations = map[string]string{kruise.RelatedBudgetAnnotation: budget}
	maps.Copy(out.Annotations, p.Annotations)
	return &out
}
