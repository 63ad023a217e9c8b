package split

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// expansion is one UnitedDeployment on its way to its workloads.
type expansion struct {
	c         *stage.Context
	r         *resource.Resource
	namespace string
	// hub is the object in the newest version. It is only read: what a
	// workload takes from it is cloned.
	hub  *tree.Node
	spec kruise.UnitedDeploymentSpec
	form form
	// template is the workload template, with metadata and spec.
	template *tree.Node
	selector labels.Selector
	// source is the label by which the workloads are found again.
	source string
	facts  *found
	// counts are the replicas of each subset.
	counts []int32
}

// expand returns the workloads of the UnitedDeployment r in the order of its
// subsets.
func expand(c *stage.Context, seen *existingObjects, r *resource.Resource) ([]*resource.Resource, error) {
	x, err := newExpansion(c, r)
	if err != nil {
		return nil, err
	}
	x.facts = seen.find(x)
	if err := x.allocate(); err != nil {
		return nil, err
	}
	// Each workload has the template; what patches of subsets put in was in the input.
	if err := c.Fits(r, "spec.topology.subsets", tree.Weigh(x.template), len(x.spec.Topology.Subsets), "subsets"); err != nil {
		return nil, err
	}
	out := make([]*resource.Resource, len(x.spec.Topology.Subsets))
	var errs resource.Errors
	for i := range out {
		n, err := x.workload(i)
		errs.Add(err)
		out[i] = resource.Derived(n, r)
		out[i].SetSubset(x.spec.Topology.Subsets[i].Name)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	x.reportFields()
	c.Lineage.Split(r.ID(), x, out...)
	return out, nil
}

func newExpansion(c *stage.Context, r *resource.Resource) (*expansion, error) {
	var ud kruise.UnitedDeployment
	if _, err := kruise.Decode(r.Node(), &ud); err != nil {
		return nil, r.Wrap(err, "")
	}
	kruise.Default(&ud)
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return nil, r.Wrap(err, "")
	}
	if r.Name() == "" {
		return nil, r.Fault("metadata.name", "the workloads are called NAME-SUBSET, so generateName cannot be used", "a UnitedDeployment to render needs a name")
	}
	x := &expansion{c: c, r: r, namespace: c.Facts.NamespaceOf(r), hub: hub, spec: ud.Spec, source: kruise.SourceValue(kind, r.Name())}
	var ok bool
	if x.form, x.template, ok = formOf(tree.Get(hub, "spec")); !ok || !tree.IsMap(tree.Get(x.template, "spec", "template")) {
		return nil, r.Fault("spec.template", "give one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate, deploymentTemplate", "no workload template with a pod template")
	}
	if x.selector, err = metav1.LabelSelectorAsSelector(x.spec.Selector); err != nil {
		return nil, r.Fault("spec.selector", "", "%v", err)
	}
	return x, nil
}

// allocate shares the replicas out (docs/kruise/distribution.md#which-allocator).
func (x *expansion) allocate() error {
	in := x.allocation(x.spec.Replicas)
	counts, err := spread.Allocate(in)
	if err != nil {
		return faultsOf(x.r, err)
	}
	x.counts = counts
	x.reportAllocation(in)
	return nil
}

// At is how total replicas are shared out over the subsets, nil where they cannot be.
func (x *expansion) At(total int32) []int32 {
	counts, err := spread.Allocate(x.allocation(&total))
	if err != nil {
		return nil
	}
	return counts
}

func (x *expansion) allocation(replicas *int32) spread.Allocation {
	adaptive, reserve := x.adaptive()
	in := spread.Allocation{Replicas: replicas, Adaptive: adaptive, Reserve: reserve}
	for _, s := range x.spec.Topology.Subsets {
		in.Subsets = append(in.Subsets, spread.Subset{
			Name: s.Name, Replicas: s.Replicas, Min: s.MinReplicas, Max: s.MaxReplicas, SubsetState: x.facts.state(s.Name),
		})
	}
	return in
}

// adaptive reports scheduleStrategy.type Adaptive and its
// reserveUnschedulablePods.
func (x *expansion) adaptive() (adaptive, reserve bool) {
	s := x.spec.Topology.ScheduleStrategy
	adaptive = s.Type == kruise.AdaptiveUnitedDeploymentScheduleStrategyType
	return adaptive, adaptive && s.Adaptive != nil && s.Adaptive.ReserveUnschedulablePods
}

// faultsOf puts faults of the leaves into r's file, one by one.
func faultsOf(r *resource.Resource, err error) error {
	var parts, out resource.Errors
	parts.Add(err)
	for _, e := range parts {
		out.Add(r.Wrap(e, ""))
	}
	return out.Err()
}

// selects reports whether the UnitedDeployment's selector takes these labels.
func (x *expansion) selects(set map[string]string) bool { return x.selector.Matches(labels.Set(set)) }

// form is one of the four kinds of workload that a UnitedDeployment can hold.
type form struct {
	// field is the key below spec.template.
	field      string
	apiVersion string
	group      string
	kind       string
	// paced is how a partition reaches the workload.
	paced pacing
	// nameLimit is the longest name with which the workload's pods come into
	// being.
	nameLimit int
	// hostnames is true if pods are called after the workload, so that its name
	// may not hold dots.
	hostnames bool
}

type pacing int

const (
	// never: the kind has no partition, Kruise ignores what is given.
	never pacing = iota
	// unlessOnDelete: written unless the template's type is OnDelete.
	unlessOnDelete
	// always: written whatever the template's type.
	always
)

// A pod of a StatefulSet or CloneSet carries the label
// controller-revision-hash = NAME-HASH with ten characters of hash, and a label
// value ends at 63. A Deployment's own limit is a DNS subdomain of 253 with the
// eleven characters that its ReplicaSets add.
const (
	revisionLimit   = 63 - 11
	deploymentLimit = 253 - 11
)

// forms in the order of the API type.
var forms = []form{
	{field: "statefulSetTemplate", apiVersion: "apps/v1", group: "apps", kind: kruise.KindStatefulSet, paced: unlessOnDelete, nameLimit: revisionLimit, hostnames: true},
	{field: "advancedStatefulSetTemplate", apiVersion: kruise.Group + "/v1beta1", group: kruise.Group, kind: kruise.KindStatefulSet, paced: unlessOnDelete, nameLimit: revisionLimit, hostnames: true},
	{field: "cloneSetTemplate", apiVersion: kruise.Group + "/v1beta1", group: kruise.Group, kind: kruise.KindCloneSet, paced: always, nameLimit: revisionLimit},
	{field: "deploymentTemplate", apiVersion: "apps/v1", group: "apps", kind: kruise.KindDeployment, paced: never, nameLimit: deploymentLimit},
}

// formOf returns the form that spec.template of the UnitedDeployment gives,
// with the workload template itself; ok is false when there is none.
func formOf(spec *tree.Node) (f form, template *tree.Node, ok bool) {
	for _, f := range forms {
		t := tree.Get(spec, "template", f.field)
		if !tree.IsMap(t) {
			continue
		}
		if f.kind == kruise.KindCloneSet && len(tree.Items(tree.Get(t, "spec", "volumeClaimTemplates"))) > 0 {
			f.hostnames = true // it can only be lowered to a StatefulSet
		}
		return f, t, true
	}
	return form{}, nil, false
}

// name returns the name of a subset's workload.
func (f form) name(owner, subset string) string {
	return stage.PieceName(owner, subset, f.nameLimit, f.hostnames)
}
