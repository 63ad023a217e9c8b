package ui

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// namespaceReader is all workloads of a place as rows, worked out behind, whenever something has
// changed, for those that have.
type namespaceReader struct {
	*kube.NamespaceWatch
	// source is told when rows have changed.
	source *liveSource
	stop   context.CancelFunc
	// hasSelector indicates that a selector leaves workloads out.
	hasSelector bool

	mu        sync.Mutex
	loaded    bool
	workloads map[cluster.Ref]*kube.WorkloadView
	list      []*world.Workload
	spaces    []string
	// rounds counts them; matrix is of the round matrixRound.
	rounds, matrixRound int
	matrix              *world.Sidecars
	// spread is of the round spreadRound.
	spread      *world.Distributions
	spreadRound int

	// drawnRows are the rows of the last round, which only the round itself looks at.
	drawn map[*kube.WorkloadView]drawnRows
}

// drawnRows is a row, and when it was worked out.
type drawnRows struct {
	row *world.Workload
	at  time.Time
}

// open begins to look at a namespace, "" for all.
func (l *liveSource) open(namespace string) (*namespaceReader, error) {
	ctx, stop := context.WithCancel(l.ctx)
	set, unread, err := installation.LiveGates(ctx, l.config, installation.GateFlags{})
	if err != nil {
		stop()
		return nil, err
	}
	k, err := kube.WatchNamespace(ctx, l.config, kube.NamespaceWatchOptions{
		Namespace: namespace, Selector: l.look.selector, Gates: set.Gates, GatesUnread: unread, StateNamespace: l.look.stateNamespace,
	})
	if err != nil {
		stop()
		return nil, err
	}
	f := &namespaceReader{NamespaceWatch: k, source: l, drawn: map[*kube.WorkloadView]drawnRows{}, hasSelector: l.look.selector != ""}
	f.stop = func() {
		k.Close()
		stop()
	}
	go f.follow(ctx)
	return f, nil
}

// reloadAfter is after how long rows that depend on the time are worked out again.
const reloadAfter = 5 * time.Second

// follow works the rows out, round by round.
func (f *namespaceReader) follow(ctx context.Context) {
	for ctx.Err() == nil {
		version, began := f.Version(), time.Now()
		f.round(began)
		f.source.ring()
		if !waitFor(ctx, world.Rest(time.Since(began))) {
			return
		}
		if f.Await(ctx, version, began.Add(reloadAfter)) != nil {
			return
		}
	}
}

// waitFor waits; false is the end of the context.
func waitFor(ctx context.Context, d time.Duration) bool {
	rest, end := context.WithTimeout(ctx, d)
	defer end()
	<-rest.Done()
	return ctx.Err() == nil
}

// round works out what has changed.
func (f *namespaceReader) round(now time.Time) {
	if f.Loading() != "" || f.Fault() != nil {
		return
	}
	list := f.Look()
	rows, workloads, next := make([]*world.Workload, 0, len(list)), map[cluster.Ref]*kube.WorkloadView{}, map[*kube.WorkloadView]drawnRows{}
	for _, s := range list {
		d, ok := f.drawn[s]
		if !ok || d.row.Health != world.Healthy && now.Sub(d.at) >= reloadAfter {
			d = drawnRows{workloadRow(s, now), now}
		}
		next[s], workloads[s.Ref()] = d, s
		rows = append(rows, d.row)
	}
	f.drawn = next
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loaded, f.list, f.workloads, f.spaces = true, rows, workloads, f.Namespaces()
	f.rounds++
}

// workloadRow is a workload in a line.
func workloadRow(s *kube.WorkloadView, now time.Time) *world.Workload {
	q, err := question(s, now)
	if err != nil {
		return &world.Workload{Ref: s.Ref(), Labels: s.Workload.Labels, Created: s.Created, Why: err.Error()}
	}
	out := world.Describe(q, nil).Row()
	out.Created = s.Created
	return out
}

// question is all that is known of a workload without looking closely.
func question(s *kube.WorkloadView, now time.Time) (diagnose.Question, error) {
	q := diagnose.Question{Name: s.Ref().String(), Begun: s.Begun, Holder: s.Executor, Now: now}
	var err error
	if q.Snapshot, err = s.Snapshot(now); err != nil {
		return q, err
	}
	q.Plan = s.Plan(q.Snapshot)
	return q, nil
}

// rows are all workloads; loaded is false before the first time.
func (f *namespaceReader) rows() (list []*world.Workload, spaces []string, loaded bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list, f.spaces, f.loaded
}

func (f *namespaceReader) workload(ref cluster.Ref) *kube.WorkloadView {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workloads[ref]
}

// ready waits until there is something to show, or never will be.
func (f *namespaceReader) ready(ctx context.Context) error {
	for {
		version := f.Version()
		if err := f.Fault(); err != nil {
			return err
		}
		if _, _, loaded := f.rows(); loaded {
			return nil
		}
		if err := f.Await(ctx, version, time.Now().Add(world.Rest(0))); err != nil {
			return err
		}
	}
}
