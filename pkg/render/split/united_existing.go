package split

import (
	"math"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// existingObjects is what the facts hold about workloads and pods of subsets, by
// namespace; what exists in the cluster comes before what is in the input.
type existingObjects struct {
	// labelled workloads name a subset, the others can be known by their name.
	labelled map[string][]candidate
	named    map[resource.ID]*candidate
	pods     map[string][]*resource.Resource
}

// candidate is a workload that may belong to a UnitedDeployment.
type candidate struct {
	r      *resource.Resource
	id     resource.ID
	labels map[string]string
	// owner is what controls it, the zero ID when nothing does.
	owner resource.ID
}

// kinds that a subset's workload can have: those of the template, and what a
// CloneSet is lowered to.
var kinds = []struct{ group, kind string }{
	{kruise.Group, kruise.KindCloneSet},
	{kruise.Group, kruise.KindStatefulSet},
	{"apps", kruise.KindDeployment},
	{"apps", kruise.KindStatefulSet},
	{"apps", kruise.KindReplicaSet},
}

func observe(c *stage.Context) *existingObjects {
	o := &existingObjects{labelled: map[string][]candidate{}, named: map[resource.ID]*candidate{}, pods: map[string][]*resource.Resource{}}
	for _, k := range kinds {
		for _, r := range append(c.Facts.Context(k.group, k.kind), c.Facts.Stream(k.group, k.kind)...) {
			o.workload(candidate{r: r, id: c.Facts.IDOf(r), labels: r.Labels(), owner: controller(r.Node())})
		}
	}
	for _, r := range c.Facts.Context("", "Pod") {
		if r.Label(kruise.SubsetNameLabel) != "" {
			ns := c.Facts.NamespaceOf(r)
			o.pods[ns] = append(o.pods[ns], r)
		}
	}
	return o
}

func (o *existingObjects) workload(w candidate) {
	if w.labels[kruise.SubsetNameLabel] != "" {
		o.labelled[w.id.Namespace] = append(o.labelled[w.id.Namespace], w)
	}
	if _, twice := o.named[w.id]; !twice {
		o.named[w.id] = &w
	}
}

// controller returns what controls the object; its namespace is left out.
func controller(n *tree.Node) resource.ID {
	for _, ref := range tree.Items(tree.Get(n, "metadata", "ownerReferences")) {
		if tree.Bool(tree.Get(ref, "controller")) {
			return resource.ID{Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"), Name: tree.StrAt(ref, "name")}
		}
	}
	return resource.ID{}
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

// find gathers what o knows of x: workloads by label and selector as Kruise
// does, else one that is called as we call it.
func (o *existingObjects) find(x *expansion) *found {
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
	for _, s := range tree.Items(tree.Get(x.knownObject(), "status", "subsetStatuses")) {
		f.status[tree.StrAt(s, "name")] = s
	}
	return f
}

// knownObject is the UnitedDeployment with the controller's view in its status: the
// cluster's, else the input's own.
func (x *expansion) knownObject() *tree.Node {
	if live := x.c.Facts.Existing(x.r); live != nil {
		return live.Node()
	}
	return x.r.Node()
}

// owns reports whether w is of a kind that x makes, or has been lowered to, and it has no sign of
// another owner.
func (x *expansion) owns(w *candidate) bool {
	source := w.labels[kruise.SourceLabel]
	same := w.id.Group == x.form.group && w.id.Kind == x.form.kind
	lowered := x.form.kind == kruise.KindCloneSet && w.id.Group == "apps" && source == x.source
	if !same && !lowered || source != "" && source != x.source {
		return false
	}
	return w.owner == resource.ID{} || w.owner == resource.ID{Group: kruise.Group, Kind: kind, Name: x.r.Name()}
}

// state is the state of a subset for its allocation (docs/kruise/distribution.md#which-allocator).
// Rendering has no clock: an unschedulable condition or pod is taken as recent or as overdue,
// whichever counts.
func (f *found) state(subset string) spread.SubsetState {
	var s spread.SubsetState
	if w := f.workloads[subset]; w != nil {
		s.Current = 1 // what every kind of workload defaults to
		if n := tree.Get(w.Node(), "spec", "replicas"); n != nil {
			s.Current = count(n)
		}
		s.Ready = count(tree.Get(w.Node(), "status", "readyReplicas"))
	}
	condition, _ := tree.Find(tree.Get(f.status[subset], "conditions"), "type", "Schedulable")
	s.Unschedulable = tree.StrAt(condition, "status") == "False" || slices.ContainsFunc(f.pods[subset], pending)
	s.Reserved = f.reserved(subset)
	return s
}

// pending is Kruise's test of a pod, without its age.
func pending(p *resource.Resource) bool {
	n := p.Node()
	scheduled, _ := tree.Find(tree.Get(n, "status", "conditions"), "type", "PodScheduled")
	return tree.StrAt(n, "status", "phase") == "Pending" &&
		tree.StrAt(n, "spec", "nodeName") == "" &&
		tree.Get(n, "metadata", "deletionTimestamp") == nil &&
		tree.StrAt(scheduled, "status") == "False" && tree.StrAt(scheduled, "reason") == "Unschedulable"
}

// reserved counts the subset's pods that are, or are about to be, replaced
// elsewhere; where no pod is known the status has the number.
func (f *found) reserved(subset string) int32 {
	pods, known := f.pods[subset]
	if !known {
		return count(tree.Get(f.status[subset], "reservedPods"))
	}
	var n int32
	for _, p := range pods {
		if p.Label(kruise.UnitedDeploymentReservedPodLabel) == "true" || pending(p) {
			n++
		}
	}
	return n
}

// count reads a number of pods; an invalid one counts as 0.
func count(n *tree.Node) int32 {
	v, _ := tree.Int(n)
	return int32(min(max(v, 0), math.MaxInt32))
}
