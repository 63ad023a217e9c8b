// Package render turns Kruise objects into native Kubernetes resources. It is
// a pipeline of stages over a list of resources: check, split, lower, inject, start,
// place, fan out, follow references, protect. Loading and emitting come before and after. Render
// itself opens no file and no connection: what it must know of a cluster is handed in as context
// objects. [Config] has its options as files write them.
package render

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/placement"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/references"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/sidecar"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Target defines what may be in the output.
type Target string

// The targets.
const (
	// Native replaces every Kruise object that can be.
	Native Target = "native"
	// Kruise keeps Kruise objects, except the kinds named in Options.Expand.
	Kruise Target = "kruise"
	// Auto is Kruise for each kind that the cluster serves, else Native.
	Auto Target = "auto"
)

// Options choose what Render does. The zero value renders to native objects.
type Options struct {
	// Target is Native when empty.
	Target Target
	// Expand names the kinds to expand although Target keeps Kruise objects.
	Expand []string
	// APIVersions are what the cluster serves, as group/version or
	// group/version/Kind; Auto needs them. nil means those of ClusterFacts.
	APIVersions []string
	// Driver is stage.Native when empty.
	Driver stage.Driver
	// Kruise is the release of Kruise whose behaviour the output has, and which takes
	// what stays Kruise's; the zero value means that of ClusterFacts, else the newest.
	Kruise kruise.Release
	// Kubernetes is the minor version of the API server that the output is for;
	// 0 means that of ClusterFacts, else the newest that is known.
	Kubernetes int
	// ProtectAll writes policies of deletion protection for all kinds.
	ProtectAll bool
	// SidecarSetAs is stage.Injection when empty.
	SidecarSetAs stage.SidecarSetAs
	// SpreadAs is stage.SpreadSplit when empty.
	SpreadAs stage.SpreadAs
	// OmitStrategy leaves out the annotation kubectl-kruise.dev/strategy; not with the
	// client driver, which reads it.
	OmitStrategy bool
	// PreviewAPIs permits output in APIs that Kubernetes has as alpha or beta, off by
	// default.
	PreviewAPIs bool
	// HelperImage is what pods of image pulls run; empty for the default.
	HelperImage string
	// Namespace is where objects without one live ("" = default).
	Namespace string
	// TemplatePaths maps GROUP/KIND to the dotted path of a pod template.
	TemplatePaths map[string]string
	// Context are objects that exist in the cluster: used, never emitted. ClusterFacts among them
	// describe the server.
	Context []*resource.Resource
	// Base is the state before: with it the partition of a CloneSet becomes two
	// workloads, a stable and a canary one. Render only reads it.
	Base []*resource.Resource
	// Patches is whether the caller writes Result.Sequences.
	Patches bool
	// Explain makes Render report why each SidecarSet was injected or not.
	Explain bool
	// LeaveOut is whether an object that cannot be rendered leaves the output, with a finding of
	// severity error, where no other object depends on it. For output that replaces what is in a
	// cluster it must not be set: what is left out would be deleted.
	LeaveOut bool
	// Limits bound what the input may become.
	Limits stage.Limits
	// Progress, when set, is told how much is done, by several goroutines.
	Progress resource.Progress
	// Workers is the number of goroutines; 0 means one per core.
	Workers int
}

// Result is what became of the input.
type Result struct {
	// Resources are in input order: what an object became is at the object's position.
	Resources []*resource.Resource
	// Sequences are what ContainerRecreateRequests and EphemeralJobs became, in input
	// order: steps that the reader carries out.
	Sequences []patches.Sequence
	// Findings are what the output keeps, approximates or loses.
	Findings []finding.Finding
	// Stale are what annotations accept and nothing is found of.
	Stale []finding.Finding
	// Explanations are filled when Options.Explain is set.
	Explanations []stage.Explanation
}

// Expandable are the kinds that this version expands, and the names of what Kruise
// does to pods without an object of its own.
var Expandable = func() []string {
	names := []string{"ContainerLaunchPriority", "DeletionProtection", "SidecarTerminator"}
	for _, k := range kruise.Kinds() {
		if k.Expansion != kruise.ExpansionNone && k.Expansion != kruise.ExpansionDropped {
			names = append(names, k.Kind)
		}
	}
	slices.Sort(names)
	return names
}()

// Render expands the Kruise objects of in, and leaves out what is no manifest. The resources of in belong to
// Render afterwards. The error holds every fault of the input that was found,
// joined, each a *resource.Error. Neither it nor a finding has a value of a Secret of the input.
func Render(ctx context.Context, in []*resource.Resource, opt Options) (*Result, error) {
	secrets := resource.SecretsOf(in, opt.Context, opt.Base)
	res, err := render(ctx, in, opt)
	if err != nil {
		return nil, secrets.MaskedErrors(err)
	}
	finding.Mask(res.Findings, secrets)
	return res, nil
}

func render(ctx context.Context, in []*resource.Resource, opt Options) (*Result, error) {
	opt, err := opt.WithFacts()
	if err != nil {
		return nil, err
	}
	expand, err := opt.expander()
	if err != nil {
		return nil, err
	}
	in, _ = SplitToolObjects(in)
	accepted, findings := finding.Annotated(in), &finding.Reporter{}
	if in, err = opt.asServed(in, expand, findings); err != nil {
		return nil, err
	}
	release := opt.writes(in)
	opt.Context, opt.Base = opt.read(opt.Context, expand, silent), opt.read(opt.Base, expand, silent)
	c := opt.context(ctx, in, findings, expand)
	if c.Before, err = opt.before(ctx, expand); err != nil {
		return nil, err
	}
	given := in
	c.Progress = opt.Progress.Within(0, checked)
	if in, err = check.Run(c, in); err != nil {
		return nil, err
	}
	c.Progress = opt.Progress.Within(checked, made)
	if in = opt.read(in, expand, findings.Add); !slices.Equal(in, given) {
		c.Facts = resource.NewFacts(in, opt.Context, opt.Namespace)
	}
	out, err := split.Run(c, in)
	if err != nil {
		return nil, err
	}
	if err := fit(c, given, out, release); err != nil {
		return nil, err
	}
	if err := check.Made(c, in, out); err != nil {
		return nil, err
	}
	out, sequences, err := patches.Requests(c, out)
	if err != nil {
		return nil, err
	}
	if out, err = stages(c, out, opt.Progress.Within(made, 1)); err != nil {
		return nil, err
	}
	if err := fit(c, given, out, release); err != nil {
		return nil, err
	}
	res := &Result{Resources: out, Sequences: sequences, Findings: c.Findings.Findings(), Explanations: c.Explain.List()}
	res.Stale = finding.Stale(accepted, res.Findings)
	return res, nil
}

// checked and made are which parts of the work are done when the input was checked, and when it was split.
const checked, made = .4, .5

// stages runs what expands objects one after another, until the context ends.
func stages(c *stage.Context, out []*resource.Resource, progress resource.Progress) ([]*resource.Resource, error) {
	all := []func(*stage.Context, []*resource.Resource) ([]*resource.Resource, error){
		lower.Run, admission.Run, sidecar.Run, sidecar.Start, placement.Run, fanout.Run, references.Run, admission.Protect,
	}
	for i, run := range all {
		c.Progress = progress.Within(float64(i)/float64(len(all)), float64(i+1)/float64(len(all)))
		if err := c.Stopped(); err != nil {
			return nil, err
		}
		var err error
		if out, err = run(c, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// context is what the stages are handed.
func (o Options) context(ctx context.Context, in []*resource.Resource, findings *finding.Reporter, expand func(string) bool) *stage.Context {
	choices := stage.Options{
		Findings:      findings,
		Driver:        o.Driver,
		Kruise:        o.Kruise,
		Kubernetes:    o.Kubernetes,
		HelperImage:   o.HelperImage,
		ProtectAll:    o.ProtectAll,
		SidecarSetAs:  o.SidecarSetAs,
		SpreadAs:      o.SpreadAs,
		OmitStrategy:  o.OmitStrategy,
		PreviewAPIs:   o.PreviewAPIs,
		Patches:       o.Patches,
		Expand:        expand,
		TemplatePaths: o.TemplatePaths,
		LeaveOut:      o.LeaveOut,
		Limits:        o.Limits,
		Workers:       o.Workers,
		Running:       ctx,
	}
	if o.Explain {
		choices.Explain = &stage.Explain{}
	}
	return stage.New(resource.NewFacts(in, o.Context, o.Namespace), choices)
}

// expander decides per kind. Auto is resolved here.
func (o Options) expander() (func(string) bool, error) {
	named := map[string]bool{}
	for _, k := range o.Expand {
		kind, err := expandable(k)
		if err != nil {
			return nil, err
		}
		named[kind] = true
	}
	target := o.Target
	switch target {
	case "":
		target = Native
	case Auto:
		stays := o.auto()
		return func(kind string) bool { return !stays(kind) || named[kind] }, nil
	case Native, Kruise:
	default:
		return nil, fmt.Errorf("unknown target %q: want native, kruise or auto", o.Target)
	}
	return func(kind string) bool { return target == Native || named[kind] }, nil
}

func expandable(kind string) (string, error) {
	i := sort.Search(len(Expandable), func(i int) bool { return strings.ToLower(Expandable[i]) >= strings.ToLower(kind) })
	if i < len(Expandable) && strings.EqualFold(Expandable[i], kind) {
		return Expandable[i], nil
	}
	return "", fmt.Errorf("cannot expand %q: this version expands %s", kind, strings.Join(Expandable, ", "))
}

// before returns the state before as the stages look things up in it: what was
// split then is split, so that the workload of each subset is found. It is nil
// without one. Its findings are dropped: an earlier render had them.
func (o Options) before(ctx context.Context, expand func(string) bool) (*resource.Facts, error) {
	if len(o.Base) == 0 {
		return nil, nil //nolint:nilnil // no state before is no error
	}
	in := make([]*resource.Resource, len(o.Base))
	for i, r := range o.Base {
		in[i] = r.Copy()
	}
	o.Explain = false
	out, err := split.Run(o.context(ctx, in, &finding.Reporter{}, expand), in)
	if err != nil {
		return nil, err
	}
	return resource.NewFacts(out, nil, o.Namespace), nil
}

// UnusedOption returns a kind that an option is about although the target keeps objects of that
// kind unchanged, and the value of the option; both are empty if every option has an effect. The
// result of [Auto] depends on the cluster.
func (o Options) UnusedOption() (kind, value string) {
	for _, about := range []struct {
		kind, value string
		given       bool
	}{
		{kruise.KindSidecarSet, string(o.SidecarSetAs), o.SidecarSetAs == stage.Admission},
		{kruise.KindWorkloadSpread, string(o.SpreadAs), o.SpreadAs == stage.SpreadConstraints},
	} {
		expanded := slices.ContainsFunc(o.Expand, func(kind string) bool { return strings.EqualFold(kind, about.kind) })
		if about.given && o.Target == Kruise && !expanded {
			return about.kind, about.value
		}
	}
	return "", ""
}
