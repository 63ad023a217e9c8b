package planning

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ReadPlan reads a plan that was written to a file; "-" is stdin.
func ReadPlan(file string, stdin io.Reader) (plan.Plan, error) {
	data, err := readFile(file, stdin)
	if err != nil {
		return plan.Plan{}, err
	}
	p, err := planfile.Read(data)
	return p, placed(file, err)
}

// basePolicy is what holds before any flag: the strategy file or, without one, the
// annotation of the workload.
func (o *Options) basePolicy(desired *resource.Resource, w *cluster.Workload) (plan.Policy, error) {
	if o.policy.strategy != "" {
		data, err := readFile(o.policy.strategy, o.Factory.Streams.In)
		if err != nil {
			return plan.Policy{}, err
		}
		p, err := planfile.ReadPolicy(data)
		return p, placed(o.policy.strategy, err)
	}
	p, _, err := planfile.PolicyOf(w)
	return p, desired.Wrap(err, "")
}

// Policy is what flags and the strategy file alone say, for plans that change nothing
// of the workload.
func (o *Options) Policy() (plan.Policy, error) {
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

func readFile(file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(stdin)
	}
	data, err := os.ReadFile(file)
	if place, ok := errors.AsType[*os.PathError](err); ok {
		return nil, fmt.Errorf("%s: %w", file, place.Err)
	}
	return data, err
}

// placed names the file in every fault of its content.
func placed(file string, err error) error {
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
