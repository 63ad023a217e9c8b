package rollout

import (
	"context"
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Grouped reports whether the flags ask for the rollouts to be carried out as a group.
func (b *Batch) Grouped() bool { return b.group.given }

// BatchGroup are the rollouts of a batch as a group, see [Batch.OpenGroup].
type BatchGroup struct {
	batch *Batch
	made  madeGroup
	// from are what the workloads come from, by which the group has its name.
	from []string
	end  func()
}

// OpenGroup begins a group of the workloads of files or directories. Those that are opened
// until Close share their watches.
func (b *Batch) OpenGroup(ctx context.Context, from []string) (*BatchGroup, error) {
	end, err := b.share(ctx)
	return &BatchGroup{batch: b, from: from, end: end}, err
}

// Close ends the watches.
func (g *BatchGroup) Close() {
	g.made.close()
	g.end()
}

// Add makes the plan that leads a workload to a state, and takes it into the group. One that
// is in progress towards that state continues. The group closes the part.
func (g *BatchGroup) Add(ctx context.Context, p *Part, desired *resource.Resource) error {
	m, err := p.make(ctx, desired)
	if err != nil {
		p.Close()
		return err
	}
	part, err := g.batch.group.newGroupPart(p.session, desired, m)
	if err != nil {
		p.Close()
		return err
	}
	g.made.add(part)
	return nil
}

// ErrUnitedInGroup is a UnitedDeployment where the rollouts are a group.
func ErrUnitedInGroup() error {
	return command.Usagef("apply it without the flags of a group: its subsets follow one after the other", "a UnitedDeployment cannot be in a group of rollouts")
}

// Show plays the group through, and shows every plan and the order of all. The error says why
// it cannot be carried out.
func (g *BatchGroup) Show() error {
	if err := g.batch.groupDriver().assemble(&g.made, &g.batch.group, g.from...); err != nil || len(g.made.parts) == 0 {
		return err
	}
	for _, p := range g.made.parts {
		g.batch.warnOfOwners(p.session.object)
	}
	return g.batch.groupDriver().show(&g.made)
}

// Run carries the group out. It returns how far each workload has come that had something to
// roll out; unless the error is nil, not all are completed.
func (g *BatchGroup) Run(ctx context.Context) (map[cluster.Ref]plan.Phase, error) {
	b, out := g.batch, map[cluster.Ref]plan.Phase{}
	if err := b.groupDriver().assemble(&g.made, &b.group, g.from...); err != nil || len(g.made.parts) == 0 {
		return out, err
	}
	var errs []error
	for _, p := range g.made.parts {
		if !p.begun {
			errs = append(errs, b.commands(p.plan.Commands(0), "the plan of "+p.ref().String()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return out, err
	}
	rec := g.made.record
	res, err := b.groupDriver().begin(ctx, &g.made)
	if err != nil {
		return out, err
	}
	for _, m := range res.Members {
		out[m.Ref] = m.Phase
	}
	return out, b.groupDriver().end(rec, res)
}
