package rollout

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

type applyOptions struct {
	execution

	yes bool
}

func newApply(shared *common) *cobra.Command {
	o := &applyOptions{execution: execution{common: shared}}
	c := &cobra.Command{
		Use: "apply PLAN", Short: "Run a plan from a file",
		Long: `Run a plan that "kubectl kruise plan --out" wrote and that was reviewed. A plan is
pinned to its object and to the template that it was made for: if either has changed
since, nothing is written.`,
		Example: "  kubectl kruise plan cloneset/web --image app=registry.example.com/web:2 --out plan.yaml\n  kubectl kruise rollout apply plan.yaml --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usagef("'kubectl kruise plan --out FILE' writes one; - is standard input", "give one plan")
			}
			if err := errors.Join(o.dryRun.Read(c), o.validate(), o.detachable(c)); err != nil {
				return err
			}
			return o.run(c.Context(), args[0])
		},
	}
	o.addFlags(c)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	o.detach.addFlags(c, &o.notifications, true)
	o.dryRun.AddFlag(c)
	return c
}

func (o *applyOptions) run(ctx context.Context, file string) error {
	p, err := planning.ReadPlan(file, o.factory.Streams.In)
	if err != nil {
		return err
	}
	name, err := nameOf(p.Target)
	if err != nil {
		return err
	}
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	s, err := o.locateIn(ctx, name, cmp.Or(p.Target.Namespace, namespace))
	if err == nil {
		err = o.watch(ctx, s)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	p, snapshot, err := fits(ctx, s, p)
	if err != nil {
		return err
	}
	r := o.alone(&member{session: s, plan: p, acts: left(p, snapshot, s.Now(), true)})
	if done, err := r.show(ctx); err != nil || done {
		return err
	}
	if !o.yes { // what runs here is read before the question is answered
		o.authority.asks.Commands = true
		if err := o.commands(p.Commands(0), "the plan"); err != nil {
			return err
		}
	}
	if err := o.ask(ctx, o.yes, "Run this plan?"); err != nil {
		return err
	}
	return r.begin(ctx)
}

// fits returns the plan as its patches describe it, and what it starts from. It fails where
// the object is no longer what the plan was made for, and where the plan says something else
// than its patches do.
func fits(ctx context.Context, s *session, p plan.Plan) (plan.Plan, plan.Snapshot, error) {
	snapshot, err := starts(ctx, s, p)
	if err != nil {
		return p, snapshot, err
	}
	described, err := p.WithDescription(snapshot)
	return described, snapshot, err
}

// starts returns what a plan starts from; it fails where that is not what the plan was made
// for.
func starts(ctx context.Context, s *session, p plan.Plan) (plan.Snapshot, error) {
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return snapshot, err
	}
	snapshot.Progress = plan.Progress{}
	if d := plan.Next(p, snapshot, s.Now()); d.Verb == plan.Halt {
		return snapshot, &resource.Error{Err: &haltError{d.Reason}, Hint: "make a new plan: this one was made for another state"}
	}
	return snapshot, nil
}

// haltError is why a plan cannot even begin.
type haltError struct{ reason string }

func (e *haltError) Error() string { return "the plan does not fit: " + e.reason }

// nameOf is the target of a plan as the command line would name it.
func nameOf(t plan.Target) (resourcearg.Name, error) {
	kind := strings.ToLower(t.Kind)
	if group := resource.GroupOf(t.APIVersion); group != "" {
		kind += "." + group
	}
	return resourcearg.Parse(kind + "/" + t.Name)
}
