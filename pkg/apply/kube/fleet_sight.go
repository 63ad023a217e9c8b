package kube

import (
	"slices"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// standing is a workload of a fleet.
type standing struct {
	seen

	created time.Time
}

// readStanding reads a workload and, where it was rendered from one of Kruise, that:
// both bare, since there may be thousands.
func readStanding(u *unstructured.Unstructured) (standing, error) {
	n := tree.FromValue(u.Object)
	w, err := cluster.ReadBare(n)
	if err != nil {
		return standing{}, err
	}
	out := standing{seen: seen{workload: w}, created: u.GetCreationTimestamp().Time}
	kind, name, ok := strings.Cut(w.Labels[kruise.SourceLabel], ".")
	if !ok || w.Annotations[kruise.StrategyAnnotation] == "" {
		return out, nil
	}
	for _, k := range fleetKinds {
		if k.Group == kruise.Group && strings.ToLower(k.Kind) == kind {
			out.source, err = cluster.ReadBareSource(n, k.Kind, name)
		}
	}
	return out, err
}

// Sight is one workload of a fleet as it stands. It never changes: a workload that has
// stayed as it was is the same Sight, by its pointer.
type Sight struct {
	// Workload is what people name; Carrier is the native object that stands for it
	// where there is no Kruise, nil elsewhere. Both may be bare ([cluster.ReadBare]);
	// those of a Snapshot are whole.
	Workload, Carrier *cluster.Workload
	Created           time.Time
	Pods              []*cluster.Pod
	// Record is its rollout, Begun whether there is one that is not over, Holder who
	// drives it.
	Record plan.Record
	Begun  bool
	Holder string

	owners      map[string]bool
	children    []*child
	nodes       []*cluster.Node
	budgets     []*kruise.PodUnavailableBudget
	disruptions []*policyv1.PodDisruptionBudget
	namespaces  map[string]map[string]string
	gates       cluster.Gates
	unread      string
}

// Snapshot is what is known of it, at a time. What only a rollout's driver asks for is
// missing: answers of checks, pulls of images.
func (s *Sight) Snapshot(now time.Time) (plan.Snapshot, error) {
	out := plan.Snapshot{Pods: s.Pods, Namespaces: s.namespaces, Gates: s.gates, GatesUnread: s.unread}
	if err := s.whole(&out); err != nil {
		return out, err
	}
	if s.Begun {
		out.Progress, out.Base = s.Record.Progress, s.Record.Base
	}
	for _, c := range s.children {
		if c.value.Template != nil {
			out.Revisions = append(out.Revisions, c.value)
		}
	}
	if len(s.nodes) > 0 {
		out.Nodes = make(map[string]*cluster.Node, len(s.nodes))
		for _, n := range s.nodes {
			out.Nodes[n.Name] = n
		}
	}
	w := out.Object()
	g := &controller.Guards{
		Now: now, Unavailable: s.budgets, Disruption: s.disruptions, Pods: s.Pods, Workloads: controller.OwnedBy(w, s.owners),
	}
	var err error
	out.Budgets, out.Disruptions, err = g.Rules()
	return out, err
}

// whole adds the workload, with what is left out while nobody asks for it.
func (s *Sight) whole(to *plan.Snapshot) (err error) {
	if to.Workload, err = s.Workload.Whole(); err != nil || s.Carrier == nil {
		return err
	}
	to.Carrier, err = s.Carrier.Whole()
	return err
}

// Plan is that of its rollout; without one, what its controller has to do.
func (s *Sight) Plan(now plan.Snapshot) plan.Plan {
	if s.Begun {
		return s.Record.Plan
	}
	return plan.Standing(now)
}

// same reports whether two are alike in all that can be told apart.
func (s *Sight) same(t *Sight) bool {
	return s.Workload == t.Workload && s.Carrier == t.Carrier && s.Record.Version == t.Record.Version && s.Holder == t.Holder &&
		slices.Equal(s.Pods, t.Pods) && slices.Equal(s.children, t.children) && slices.Equal(s.nodes, t.nodes) &&
		slices.Equal(s.budgets, t.budgets) && slices.Equal(s.disruptions, t.disruptions)
}

// Ref is its name.
func (s *Sight) Ref() cluster.Ref { return s.Workload.Ref }
