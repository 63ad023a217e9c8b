package planning

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// IsPlan reports whether an argument names a plan in a file rather than a workload:
// a file of that name is there, or it could not be TYPE/NAME.
func IsPlan(arg string) bool {
	if _, err := os.Stat(arg); err == nil || arg == "-" {
		return true
	}
	_, err := named.Parse(arg)
	return err != nil
}

// CompletePlan checks the flags of a verb that got a plan: it says already what
// changes and how.
func (o *Options) CompletePlan() error {
	switch {
	case o.changes():
		return usage.Errorf("give a plan, or what to change, not both", "a plan says already what changes")
	case o.policy.given():
		return usage.Errorf("make a new plan with other flags", "a plan says already how it is rolled out")
	}
	var err error
	o.gates, err = o.completeGates()
	return err
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
	if p.Target.UID == "" && (o.against == "" || o.against == Live) {
		return nil, &resource.Error{File: file, Err: errors.New("was made from files, not for a cluster"), Hint: "give --against with the file that it was made from"}
	}
	from, err := o.startOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Made{Plan: p, Snapshot: from.snapshot, At: from.at, gates: o.gates}, nil
}

// startOf finds the state of the plan's object.
func (o *Options) startOf(ctx context.Context, p plan.Plan) (present, error) {
	group := resource.GroupOf(p.Target.APIVersion)
	name, err := named.Parse(strings.ToLower(p.Target.Kind) + "." + group + "/" + p.Target.Name)
	if err != nil {
		return present{}, err
	}
	o.name = &name
	if p.Target.Namespace != "" {
		o.Factory.Flags.Namespace = &p.Target.Namespace
	}
	o.replicas = p.Limits.Replicas
	return o.look(ctx, nil)
}
