package ui

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	compared "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/evidence"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var _ world.Witness = (*Live)(nil)

// Evidence is [world.Witness]: it asks about the workload as a screen shows it, or looks
// first at one that none shows.
func (l *Live) Evidence(ctx context.Context, ref cluster.Ref) (compared.Comparison, error) {
	q, err := l.question(ctx, ref)
	if err != nil {
		return compared.Comparison{}, err
	}
	approved := func(ctx context.Context, p *plan.Plan) bool { return planning.ApprovedHere(ctx, l.core, l.config, p) }
	return clusterread.EvidenceReader{Core: l.core, Approved: approved}.Read(ctx, q), nil
}

func (l *Live) question(ctx context.Context, ref cluster.Ref) (diagnose.Question, error) {
	l.mu.Lock()
	seen := l.close
	l.mu.Unlock()
	if seen != nil && seen.ref == ref {
		seen.mu.Lock()
		d := seen.last
		seen.mu.Unlock()
		if d != nil {
			return d.Question, nil
		}
	}
	ctx, stop := context.WithTimeout(ctx, clusterread.EvidenceDeadline)
	defer stop()
	seat, err := l.desk.Sit(ctx, ref)
	if err != nil {
		return diagnose.Question{}, err
	}
	defer seat.Close()
	return seat.Question(ctx, seat.Holder)
}
