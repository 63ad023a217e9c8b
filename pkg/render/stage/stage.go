// Package stage is what every stage of the rendering pipeline is handed: the
// options, the facts, the findings and the record of what became of what. A
// stage is a plain function
//
//	func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error)
//
// that returns the list with every object it expands replaced, in its place,
// by what it became. It uses all cores through [Context.Each] and must give
// the same output whatever the order of goroutines. A stage knows no other
// stage, no file and no cluster.
package stage

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Driver defines who replaces the pods of what is rendered (docs/drivers.md).
type Driver string

// The drivers that rendering distinguishes.
const (
	// Native leaves the work to Kubernetes' own controllers.
	Native Driver = "native"
	// Client prepares for this tool to act on pods: ReplicaSets, OnDelete.
	Client Driver = "client"
)

// SidecarSetAs defines what SidecarSets become.
type SidecarSetAs string

// The forms of a SidecarSet.
const (
	// Injection puts the sidecars into the pod templates of the input.
	Injection SidecarSetAs = "inject"
	// Admission makes a policy of the set that the API server applies to all pods
	// when they are created.
	Admission SidecarSetAs = "admission"
)

// Options are what a caller decides about a [Context]; the zero value expands nothing.
type Options struct {
	// Findings receives what the stages report; nil means a new reporter.
	Findings *finding.Reporter
	// Explain gathers explanations; nil gathers nothing.
	Explain *Explain
	// Driver is Native when empty.
	Driver Driver
	// Expand reports whether objects of this Kruise kind are to be expanded; nil means that none are.
	Expand func(kind string) bool
	// TemplatePaths maps GROUP/KIND of further workloads to the dotted path of
	// their pod template.
	TemplatePaths map[string]string
	// Kruise is the release of Kruise whose behaviour is taken over; the zero value is one
	// that is not known.
	Kruise kruise.Release
	// Kubernetes is the minor version of the API server that the output is for,
	// 37 for 1.37; 0 means [NewestKubernetes].
	Kubernetes int
	// HelperImage is what pods of image pulls run, beside the image that is
	// pulled; empty for the default.
	HelperImage string
	// ProtectAll has policies of deletion protection written for all kinds, not
	// only for those that carry the label in the output.
	ProtectAll bool
	// SidecarSetAs is Injection when empty.
	SidecarSetAs SidecarSetAs
	// SpreadAs is SpreadSplit when empty.
	SpreadAs SpreadAs
	// OmitStrategy leaves out the annotation from which rollouts of this tool read the
	// spec of the source back.
	OmitStrategy bool
	// PreviewAPIs permits output in APIs that the API server has as alpha or beta,
	// off by default.
	PreviewAPIs bool
	// Patches is whether requests to running pods are written as patches; without it the findings
	// explain how to get them.
	Patches bool
	// LeaveOut is whether an object that cannot be rendered leaves the output, with a finding,
	// where no other object depends on it; otherwise it ends the render.
	LeaveOut bool
	// Limits bound what is made.
	Limits Limits
	// Running ends the render, between objects; nil means never.
	Running context.Context //nolint:containedctx // stages run within one call
	// Progress, when set, is told how much is done.
	Progress resource.Progress
	// Workers is the number of goroutines; 0 means one per core.
	Workers int
}

// Context is shared by all stages of one render. [New] makes it: its fields are those of embedded
// types without exported names, which no literal outside this package can set.
type Context struct {
	options
	state
}

type options = Options

// state is what the stages know and leave for each other.
type state struct {
	Facts *resource.Facts
	// Before are the objects of the state before, UnitedDeployments split; nil
	// where it was not given.
	Before  *resource.Facts
	Lineage *Lineage
	// Admitted are the SidecarSets, by name, that policies inject: no template gets
	// them.
	Admitted map[string]*resource.Resource
}

// New returns the context of one render: all that a stage may ask is there.
func New(facts *resource.Facts, o Options) *Context {
	if facts == nil {
		facts = resource.NewFacts(nil, nil, "")
	}
	if o.Findings == nil {
		o.Findings = &finding.Reporter{}
	}
	if o.Driver == "" {
		o.Driver = Native
	}
	if o.Expand == nil {
		o.Expand = func(string) bool { return false }
	}
	if o.Running == nil {
		o.Running = context.Background()
	}
	return &Context{options: o, state: state{Facts: facts, Lineage: newLineage()}}
}

// ExpandAll is an [Options.Expand] for every kind.
func ExpandAll(string) bool { return true }

// Stopped returns why the render must end, nil while it continues.
func (c *Context) Stopped() error { return c.Running.Err() }

// Each calls f for 0 to n-1 on all cores and gathers what fails, in order.
func (c *Context) Each(n int, f func(i int) error) error {
	var all resource.Errors
	if err := resource.InOrder(c.Running, c.Workers, n, c.Progress, f, func(err error) { all.Add(err) }); err != nil {
		return err
	}
	return all.Err()
}

// Replace calls f for every object on all cores and returns the list in which
// each object is replaced by what f made of it: itself, several, or none. It fails
// where that would be more objects, or more in them, than Limits allows.
func (c *Context) Replace(in []*resource.Resource, f func(*resource.Resource) ([]*resource.Resource, error)) ([]*resource.Resource, error) {
	parts := make([][]*resource.Resource, len(in))
	objects, room := NewBudget(c.Limits.OrDefault().Objects), c.Room()
	err := c.Each(len(in), func(i int) (err error) {
		if objects.Spend(0) && room.Take(tree.Weight{}) {
			parts[i], err = f(in[i])
			objects.Spend(len(parts[i]))
			for _, r := range parts[i] {
				room.Take(weightOf(r))
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := objects.Err("this would become more than %s", "object"); err != nil {
		return nil, &resource.Error{Err: err, Hint: "render parts of it separately, or raise the limit of objects"}
	}
	if err := room.Err("what the input becomes"); err != nil {
		return nil, err
	}
	out := make([]*resource.Resource, 0, len(in))
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// weightOf is the weight of an object, nothing for none.
func weightOf(r *resource.Resource) tree.Weight {
	if r == nil {
		return tree.Weight{}
	}
	return r.Weight()
}

// SpreadAs defines what becomes of the target of a WorkloadSpread.
type SpreadAs string

// The forms of a spread target.
const (
	// SpreadSplit makes a workload of each subset.
	SpreadSplit SpreadAs = "split"
	// SpreadConstraints leaves one workload, whose pods have preferences and
	// topology spread constraints.
	SpreadConstraints SpreadAs = "constraints"
)
