package planning

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// IsPlan reports whether an argument names a plan in a file rather than a workload:
// a file of that name is there, or it could not be TYPE/NAME.
func IsPlan(arg string) bool {
	if _, err := os.Stat(arg); err == nil || arg == "-" {
		return true
	}
	_, err := resourcearg.Parse(arg)
	return err != nil
}

// CompletePlan checks the flags of a verb that got a plan: it says already what
// changes and how.
func (o *Options) CompletePlan() error {
	switch {
	case o.changes():
		return command.Usagef("give a plan, or what to change, not both", "a plan already contains the change")
	case o.policy.given():
		return command.Usagef("make a new plan with other flags", "a plan says already how it is rolled out")
	}
	return o.CompletePolicy()
}

// Load reads a plan with the state that it starts from.
func (o *Options) Load(ctx context.Context, file string) (*Made, error) {
	p, err := ReadPlan(file, o.Factory.Streams.In)
	if err != nil {
		return nil, err
	}
	if p.HookAnswer != 0 && o.policy.hookAnswer != "" {
		if p.HookAnswer, err = plan.ParseHookAnswer(o.policy.hookAnswer); err != nil {
			return nil, flag("hook-answer", err)
		}
	}
	if p.Target.UID == "" && (o.against == "" || o.against == againstLive) {
		return nil, &resource.Error{File: file, Err: errors.New("was made from files, not for a cluster"), Hint: "give --against with the file that it was made from"}
	}
	from, err := o.startOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Made{Plan: p, Snapshot: from.snapshot, At: from.at, gates: o.gates, assumeReady: o.assumeReady}, nil
}

// startOf finds the state of the plan's object.
func (o *Options) startOf(ctx context.Context, p plan.Plan) (present, error) {
	group := resource.GroupOf(p.Target.APIVersion)
	name, err := resourcearg.Parse(strings.ToLower(p.Target.Kind) + "." + group + "/" + p.Target.Name)
	if err != nil {
		return present{}, err
	}
	o.name = &name
	_, _, namespace, err := o.which(ctx)
	if err != nil {
		return present{}, err
	}
	return o.readPresent(ctx, &name, cmp.Or(p.Target.Namespace, namespace))
}

// ReadPlan reads a plan that was written to a file; "-" is stdin.
func ReadPlan(file string, stdin io.Reader) (plan.Plan, error) {
	data, err := load.File(file, stdin, 0)
	if err != nil {
		return plan.Plan{}, err
	}
	p, err := planfile.Read(data)
	return p, inFile(file, err)
}

// basePolicy is what holds before any flag: the strategy file or, without one, the
// annotation of the workload.
func (o *Maker) basePolicy(desired *resource.Resource, w *cluster.Workload) (plan.Policy, error) {
	if o.policy.strategy != "" {
		data, err := load.File(o.policy.strategy, o.Factory.Streams.In, 0)
		if err != nil {
			return plan.Policy{}, err
		}
		p, err := planfile.ReadPolicy(data)
		return p, inFile(o.policy.strategy, err)
	}
	p, _, err := planfile.PolicyOf(w)
	return p, desired.Wrap(err, "")
}

// Policy is what flags and the strategy file alone say, for plans that change nothing
// of the workload.
func (o *Maker) Policy() (plan.Policy, error) {
	var p plan.Policy
	if o.policy.strategy != "" {
		var err error
		if p, err = o.basePolicy(nil, nil); err != nil {
			return p, err
		}
	}
	err := o.policy.read(&p)
	return p, err
}

// inFile names the file in every fault of its content.
func inFile(file string, err error) error {
	var all, out resource.Errors
	all.Add(err)
	for _, e := range all {
		fault := &resource.Error{File: file, Err: e}
		if place, ok := errors.AsType[*tree.Error](e); ok {
			fault.Line, fault.Field, fault.Hint, fault.Err = place.Line, place.Path, place.Hint, errors.New(place.Msg)
		}
		out.Add(fault)
	}
	return out.Err()
}
