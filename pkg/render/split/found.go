package split

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// found is what is known of one UnitedDeployment, by subset name.
type found struct {
	workloads map[string]*resource.Resource
	pods      map[string][]*resource.Resource
	// status are the entries of status.subsetStatuses.
	status map[string]*tree.Node
}

// empty reports whether nothing is known.
func (f *found) empty() bool { return len(f.workloads)+len(f.pods)+len(f.status) == 0 }

// find gathers what o knows of x: workloads by label and selector as Kruise
// does, else one that is called as we call it.
func (o *observed) find(x *expansion) *found {
	f := &found{workloads: map[string]*resource.Resource{}, pods: map[string][]*resource.Resource{}, status: map[string]*tree.Node{}}
	for _, w := range o.labelled[x.namespace] {
		subset := w.labels[kruise.SubsetNameLabel]
		if _, twice := f.workloads[subset]; !twice && x.owns(&w) && x.selects(w.labels) {
			f.workloads[subset] = w.r
		}
	}
	for _, s := range x.spec.Topology.Subsets {
		w := o.named[resource.ID{Group: x.form.group, Kind: x.form.kind, Namespace: x.namespace, Name: x.form.name(x.r.Name(), s.Name)}]
		if f.workloads[s.Name] == nil && w != nil && x.owns(w) {
			f.workloads[s.Name] = w.r
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
	if live := x.c.Facts.Existing(x.r); live != nil {
		return live.Node()
	}
	return x.r.Node()
}

// owns reports whether w is of a kind that x makes, or has been lowered to,
// and nothing says that it belongs to another object.
func (x *expansion) owns(w *candidate) bool {
	source := w.labels[kruise.SourceLabel]
	same := w.id.Group == x.form.group && w.id.Kind == x.form.kind
	lowered := x.form.kind == kruise.KindCloneSet && w.id.Group == "apps" && source == x.source
	if !same && !lowered || source != "" && source != x.source {
		return false
	}
	return w.owner == resource.ID{} || w.owner == resource.ID{Group: kruise.Group, Kind: kind, Name: x.r.Name()}
}
