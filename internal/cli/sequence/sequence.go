// Package sequence finds what differs between two rendered states and has
// pkg/render/patches write it down as patches: it pairs old and new workloads,
// gathers what is known of their pods, and asks plan.Build for the steps. It reads
// no cluster and no file itself.
package sequence

import (
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// States are what sequences lead from and to, both rendered in the same way.
type States struct {
	Old, New []*resource.Resource
	// Context are objects that exist in the cluster: pods, nodes, revisions,
	// budgets, and workloads as they are, which then take the place of the old ones.
	Context []*resource.Resource
	// Namespace is where objects without one live.
	Namespace string
	// Driver is who replaces the pods of native workloads.
	Driver stage.Driver
	// Steps take the place of the policy that a workload has itself.
	Steps []plan.PolicyStep
	Gates installation.Gates
}

// Make returns the sequences of all workloads that differ. The error holds, joined,
// the fault of every workload that no patches lead to its new state.
func Make(s States) (patches.Set, error) {
	m := &maker{States: s, live: byID(s.Context, s.Namespace), scaled: autoscaled(s)}
	old, updated := byID(s.Old, s.Namespace), byID(s.New, s.Namespace)
	var set patches.Set
	var faults resource.Errors
	var from []*resource.Resource
	for _, r := range s.New {
		was := old[m.id(r)]
		switch {
		case was == nil:
			set.Created = append(set.Created, targetOf(r))
		case tree.Equal(tree.Root(was.Node()), tree.Root(r.Node())):
		case !cluster.IsWorkload(r.Group(), r.Kind()):
			set.Changed = append(set.Changed, targetOf(r))
		default:
			q, err := m.sequence(was, r)
			faults.Add(err)
			if err == nil && len(q.Steps) > 0 {
				set.Sequences, from = append(set.Sequences, q), append(from, r)
			}
		}
	}
	for _, r := range s.Old {
		if updated[m.id(r)] == nil {
			set.Deleted = append(set.Deleted, targetOf(r))
		}
	}
	for i, name := range emit.Names(from) {
		set.Sequences[i].Directory = name
	}
	m.together(&set)
	return set, faults.Err()
}

// maker makes the sequences of one run.
type maker struct {
	States

	// live are the objects of the context, scaled the workloads whose replicas an
	// autoscaler owns.
	live   map[resource.ID]*resource.Resource
	scaled map[resource.ID]bool
}

func (s *States) id(r *resource.Resource) resource.ID {
	id := r.ID()
	if id.Namespace == "" {
		id.Namespace = s.namespace()
	}
	return id
}

func (s *States) namespace() string {
	if s.Namespace == "" {
		return resource.DefaultNamespace
	}
	return s.Namespace
}

func byID(list []*resource.Resource, namespace string) map[resource.ID]*resource.Resource {
	s := &States{Namespace: namespace}
	out := make(map[resource.ID]*resource.Resource, len(list))
	for _, r := range list {
		if _, twice := out[s.id(r)]; !twice {
			out[s.id(r)] = r
		}
	}
	return out
}

// autoscaled are the workloads of the new state that an autoscaler names.
func autoscaled(s States) map[resource.ID]bool {
	out := map[resource.ID]bool{}
	for _, list := range [][]*resource.Resource{s.New, s.Context} {
		for _, r := range list {
			if !r.Is("autoscaling", "HorizontalPodAutoscaler") && !r.Is("keda.sh", "ScaledObject") {
				continue
			}
			ref := tree.Get(r.Node(), "spec", "scaleTargetRef")
			out[resource.ID{
				Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"),
				Namespace: s.id(r).Namespace, Name: tree.StrAt(ref, "name"),
			}] = true
		}
	}
	return out
}

func targetOf(r *resource.Resource) patches.Target {
	return patches.Target{APIVersion: r.APIVersion(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()}
}
