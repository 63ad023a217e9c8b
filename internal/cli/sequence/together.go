package sequence

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// together has what stands for one Kruise workload change in the right order: a
// stable workload gives up pods only once the canary beside it has them.
func (m *maker) together(set *patches.Set) {
	created := map[string][]*resource.Resource{}
	old := byID(m.Old, m.Namespace)
	for _, r := range m.New {
		if source := m.source(r); source != "" && old[m.id(r)] == nil {
			created[source] = append(created[source], r)
		}
	}
	updated := byID(m.New, m.Namespace)
	for i := range set.Sequences {
		q := &set.Sequences[i]
		r := updated[m.idOf(q.Object)]
		if r == nil {
			continue
		}
		for _, beside := range created[m.source(r)] {
			t := targetOf(beside)
			q.Steps[0].Before = append(q.Steps[0].Before, patches.Condition{Text: t.String() + " is applied, and its pods are available", Check: t.Available()})
		}
	}
}

// source names the Kruise workload that a workload was rendered from, in its
// namespace.
func (m *maker) source(r *resource.Resource) string {
	label := r.Labels()[kruise.SourceLabel]
	if label == "" || !cluster.IsWorkload(r.Group(), r.Kind()) {
		return ""
	}
	return m.id(r).Namespace + "/" + label
}

func (m *maker) idOf(t patches.Target) resource.ID {
	id := resource.ID{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
	if id.Namespace == "" {
		id.Namespace = m.namespace()
	}
	return id
}
