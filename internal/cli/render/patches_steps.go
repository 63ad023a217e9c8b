package render

import (
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
	m := &patchMaker{PatchStates: s, live: resourcesByID(s.Context, s.Namespace), scaled: autoscaledIn(s)}
	old, updated := resourcesByID(s.Old, s.Namespace), resourcesByID(s.New, s.Namespace)
	var set patches.Set
	var faults resource.Errors
	var from []*resource.Resource
	for _, r := range s.New {
		was := old[m.id(r)]
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
		if updated[m.id(r)] == nil {
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

	// live are the objects of the context, scaled the workloads whose replicas an
	// autoscaler owns.
	live   map[resource.ID]*resource.Resource
	scaled map[resource.ID]bool
}

func (s *PatchStates) id(r *resource.Resource) resource.ID {
	id := r.ID()
	if id.Namespace == "" {
		id.Namespace = s.namespace()
	}
	return id
}

func (s *PatchStates) namespace() string {
	if s.Namespace == "" {
		return resource.DefaultNamespace
	}
	return s.Namespace
}

func resourcesByID(list []*resource.Resource, namespace string) map[resource.ID]*resource.Resource {
	s := &PatchStates{Namespace: namespace}
	out := make(map[resource.ID]*resource.Resource, len(list))
	for _, r := range list {
		if _, twice := out[s.id(r)]; !twice {
			out[s.id(r)] = r
		}
	}
	return out
}

// autoscaledIn are the workloads of the new state that an autoscaler names.
func autoscaledIn(s PatchStates) map[resource.ID]bool {
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

func patchTarget(r *resource.Resource) patches.Target {
	return patches.Target{APIVersion: r.APIVersion(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()}
}

// together orders the changes of what was rendered from one Kruise workload: a
// stable workload gives up pods only once the canary beside it has them.
func (m *patchMaker) together(set *patches.Set) {
	created := map[string][]*resource.Resource{}
	old := resourcesByID(m.Old, m.Namespace)
	for _, r := range m.New {
		if source := m.source(r); source != "" && old[m.id(r)] == nil {
			created[source] = append(created[source], r)
		}
	}
	updated := resourcesByID(m.New, m.Namespace)
	for i := range set.Sequences {
		q := &set.Sequences[i]
		r := updated[m.idOf(q.Object)]
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
	return m.id(r).Namespace + "/" + label
}

func (m *patchMaker) idOf(t patches.Target) resource.ID {
	id := resource.ID{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
	if id.Namespace == "" {
		id.Namespace = m.namespace()
	}
	return id
}
