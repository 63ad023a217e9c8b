package render

import (
	"cmp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// PatchStates are what sequences lead from and to, both rendered in the same way.
type PatchStates struct {
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

// MakePatches returns the sequences of all workloads that differ. The error holds, joined,
// the fault of every workload that no patches lead to its new state.
func MakePatches(s PatchStates) (patches.Set, error) {
	facts := func(list ...*resource.Resource) *resource.Facts { return resource.NewFacts(list, nil, s.Namespace) }
	m := &patchMaker{PatchStates: s, old: facts(s.Old...), updated: facts(s.New...), live: facts(s.Context...)}
	m.scaled = autoscaledIn(resource.NewFacts(s.New, s.Context, s.Namespace))
	var set patches.Set
	var faults resource.Errors
	var from []*resource.Resource
	for _, r := range s.New {
		was := m.old.Find(m.id(r))
		switch {
		case was == nil:
			set.Created = append(set.Created, patchTarget(r))
		case tree.Equal(tree.Root(was.Node()), tree.Root(r.Node())):
		case !cluster.IsWorkload(r.Group(), r.Kind()):
			set.Changed = append(set.Changed, patchTarget(r))
		default:
			q, err := m.sequence(was, r)
			faults.Add(err)
			if err == nil && len(q.Steps) > 0 {
				set.Sequences, from = append(set.Sequences, q), append(from, r)
			}
		}
	}
	for _, r := range s.Old {
		if m.updated.Find(m.id(r)) == nil {
			set.Deleted = append(set.Deleted, patchTarget(r))
		}
	}
	for i, name := range emit.Names(from) {
		set.Sequences[i].Directory = name
	}
	m.together(&set)
	return set, faults.Err()
}

// patchMaker makes the sequences of one run.
type patchMaker struct {
	PatchStates

	// old and updated have the objects of both states, live those of the context; scaled are the
	// workloads whose replicas an autoscaler owns.
	old, updated, live *resource.Facts
	scaled             map[resource.ID]bool
}

func (m *patchMaker) id(r *resource.Resource) resource.ID { return m.updated.IDOf(r) }

// autoscaledIn are the workloads that an autoscaler names.
func autoscaledIn(f *resource.Facts) map[resource.ID]bool {
	out := map[resource.ID]bool{}
	for _, r := range slices.Concat(f.All("autoscaling", "HorizontalPodAutoscaler"), f.All("keda.sh", "ScaledObject")) {
		ref := tree.Get(r.Node(), "spec", "scaleTargetRef")
		out[resource.ID{
			Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"), Namespace: f.NamespaceOf(r), Name: tree.StrAt(ref, "name"),
		}] = true
	}
	return out
}

func patchTarget(r *resource.Resource) patches.Target {
	return patches.Target{APIVersion: r.APIVersion(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()}
}

// together orders the changes of what was rendered from one Kruise workload: a
// stable workload gives up pods only once the canary beside it has them.
func (m *patchMaker) together(set *patches.Set) {
	created := map[string][]*resource.Resource{}
	for _, r := range m.New {
		if source := m.source(r); source != "" && m.old.Find(m.id(r)) == nil {
			created[source] = append(created[source], r)
		}
	}
	for i := range set.Sequences {
		q := &set.Sequences[i]
		r := m.updated.Find(resource.ID{
			Group: resource.GroupOf(q.Object.APIVersion), Kind: q.Object.Kind, Namespace: cmp.Or(q.Object.Namespace, m.updated.Namespace()), Name: q.Object.Name,
		})
		if r == nil {
			continue
		}
		for _, beside := range created[m.source(r)] {
			t := patchTarget(beside)
			q.Steps[0].Before = append(q.Steps[0].Before, patches.Condition{Text: patches.Named(t) + " is applied, and its pods are available", Check: patches.Available(t)})
		}
	}
}

// source names the Kruise workload that a workload was rendered from, in its
// namespace.
func (m *patchMaker) source(r *resource.Resource) string {
	label := r.Labels()[kruise.SourceLabel]
	if label == "" || !cluster.IsWorkload(r.Group(), r.Kind()) {
		return ""
	}
	return m.updated.NamespaceOf(r) + "/" + label
}
