package split

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// observed is what the facts hold about workloads and pods, by namespace; what
// exists in the cluster stands before what is in the input.
type observed struct {
	workloads map[string][]*resource.Resource
	pods      map[string][]*resource.Resource
}

// kinds that a subset's workload can have: those of the template, and what a
// CloneSet is lowered to.
var kinds = []struct{ group, kind string }{
	{kruise.Group, "CloneSet"},
	{kruise.Group, "StatefulSet"},
	{"apps", "Deployment"},
	{"apps", "StatefulSet"},
	{"apps", "ReplicaSet"},
}

func observe(c *stage.Context) *observed {
	o := &observed{workloads: map[string][]*resource.Resource{}, pods: map[string][]*resource.Resource{}}
	for _, k := range kinds {
		for _, r := range append(c.Facts.Context(k.group, k.kind), c.Facts.Stream(k.group, k.kind)...) {
			ns := c.Facts.NamespaceOf(r)
			o.workloads[ns] = append(o.workloads[ns], r)
		}
	}
	for _, r := range c.Facts.Context("", "Pod") {
		if r.Labels()[kruise.SubsetNameLabel] != "" {
			ns := c.Facts.NamespaceOf(r)
			o.pods[ns] = append(o.pods[ns], r)
		}
	}
	return o
}

// found is what is known of one UnitedDeployment, by subset name.
type found struct {
	workloads map[string]*resource.Resource
	pods      map[string][]*resource.Resource
	// status are the entries of status.subsetStatuses.
	status map[string]*tree.Node
}

// empty reports whether nothing is known.
func (f *found) empty() bool { return len(f.workloads)+len(f.pods)+len(f.status) == 0 }

// find gathers what o knows of x.
func (o *observed) find(x *expansion) *found {
	f := &found{workloads: map[string]*resource.Resource{}, pods: map[string][]*resource.Resource{}, status: map[string]*tree.Node{}}
	named := map[string]string{}
	for _, s := range x.spec.Topology.Subsets {
		named[x.form.name(x.r.Name(), s.Name)] = s.Name
	}
	for _, w := range o.workloads[x.namespace] {
		subset := x.subsetOf(w, named)
		if _, twice := f.workloads[subset]; subset != "" && !twice {
			f.workloads[subset] = w
		}
	}
	for _, p := range o.pods[x.namespace] {
		if labels := p.Labels(); x.selects(labels) {
			subset := labels[kruise.SubsetNameLabel]
			f.pods[subset] = append(f.pods[subset], p)
		}
	}
	for _, s := range tree.Items(tree.Get(x.known(), "status", "subsetStatuses")) {
		f.status[tree.StrAt(s, "name")] = s
	}
	return f
}

// known is the UnitedDeployment with the controller's view in its status: the
// cluster's, else the input's own.
func (x *expansion) known() *tree.Node {
	id := x.r.ID()
	id.Namespace = x.namespace
	if live := x.c.Facts.Existing(id); live != nil {
		return live.Node()
	}
	return x.r.Node()
}

// subsetOf returns the subset that w is the workload of, "" when it is none of
// this UnitedDeployment's: by label and selector as Kruise does, or because it
// is called as we call it.
func (x *expansion) subsetOf(w *resource.Resource, named map[string]string) string {
	labels := w.Labels()
	same := w.Is(x.form.group, x.form.kind)
	lowered := x.form.kind == "CloneSet" && w.Group() == "apps" && labels[kruise.SourceLabel] == x.source
	if !same && !lowered || !x.owns(w, labels) {
		return ""
	}
	if subset := labels[kruise.SubsetNameLabel]; subset != "" && x.selects(labels) {
		return subset
	}
	return named[w.Name()]
}

// owns reports whether nothing says that w belongs to another object.
func (x *expansion) owns(w *resource.Resource, labels map[string]string) bool {
	if s := labels[kruise.SourceLabel]; s != "" && s != x.source {
		return false
	}
	return !slices.ContainsFunc(tree.Items(tree.Get(w.Node(), "metadata", "ownerReferences")), func(ref *tree.Node) bool {
		return tree.Bool(tree.Get(ref, "controller")) && (tree.StrAt(ref, "kind") != kind ||
			tree.StrAt(ref, "name") != x.r.Name() || resource.GroupOf(tree.StrAt(ref, "apiVersion")) != kruise.Group)
	})
}
