package rollout

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// LiveRollouts is what a user of the terminal interface does with rollouts: the sessions of the verbs.
// Nothing is printed and no question is asked, since the interface does both: what a verb would
// say before its question comes back as lines.
type LiveRollouts struct {
	factory        *factory.Factory
	stateNamespace string
	// reader is what is known of Kruise in the cluster, since readAt.
	reader *installation.GateReader
	readAt time.Time
	// authority is what the person at the screen allows.
	authority authority
	// ctx ends what is carried out here.
	ctx  context.Context //nolint:containedctx // rollouts outlive the key that began them
	stop context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	changed func()
	running map[cluster.Ref]bool
	ends    map[cluster.Ref]end
}

// end is how a rollout ended that was carried out here.
type end struct {
	result apply.Result
	err    error
}

// NewLiveRollouts returns what carries rollouts out for the interface, until the context ends.
func NewLiveRollouts(ctx context.Context, f *factory.Factory, stateNamespace string) *LiveRollouts {
	d := &LiveRollouts{
		factory: f, stateNamespace: stateNamespace, changed: func() {},
		running: map[cluster.Ref]bool{}, ends: map[cluster.Ref]end{},
	}
	d.ctx, d.stop = context.WithCancel(ctx)
	return d
}

// Tell has a function called, from any goroutine, when [LiveRollouts.Driving] says something
// else.
func (d *LiveRollouts) Tell(changed func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = changed
}

// StateNamespace is where rollouts of kinds without a namespace are kept.
func (d *LiveRollouts) StateNamespace() string { return d.stateNamespace }

// Driving are the rollouts that are carried out here, by name.
func (d *LiveRollouts) Driving() []cluster.Ref {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Keys(d.running), func(a, b cluster.Ref) int { return strings.Compare(a.String(), b.String()) })
}

// Close stops what is carried out here, and waits until others can go
// on with it.
func (d *LiveRollouts) Close() {
	d.stop()
	d.all.Wait()
}

// gatesLast is how long what is known of Kruise in the cluster counts.
const gatesLast = time.Minute

// sessions are those of the verbs, which say what they say to notes.
func (d *LiveRollouts) sessions() (*execution, *notes) {
	said := &notes{}
	d.mu.Lock()
	if now := time.Now(); now.Sub(d.readAt) > gatesLast {
		d.reader, d.readAt = &installation.GateReader{}, now
	}
	reader := d.reader
	d.mu.Unlock()
	quiet := d.factory.With(factory.Streams{In: strings.NewReader(""), Out: io.Discard, Err: said, Environ: d.factory.Streams.Environ})
	at := newCommon(quiet)
	at.reader, at.stateNamespace, at.authority = reader, d.stateNamespace, d.authority
	return &execution{common: at, executionFlags: executionFlags{output: outputs[0], successOn: "complete"}}, said
}

// locate finds a workload, and open watches it, too.
func (d *LiveRollouts) locate(ctx context.Context, at *execution, ref cluster.Ref) (*session, error) {
	return at.locateIn(ctx, nameOfRef(ref), ref.Namespace)
}

func (d *LiveRollouts) open(ctx context.Context, at *execution, ref cluster.Ref) (*session, error) {
	return at.openRef(ctx, ref)
}

// start records a plan and carries it out, behind.
func (d *LiveRollouts) start(at *execution, ref cluster.Ref, plans func(context.Context, *session) (plan.Plan, error)) error {
	s, err := d.open(d.ctx, at, ref)
	if err != nil {
		return err
	}
	err = d.begin(at, s, plans)
	if err != nil {
		s.Close()
	}
	return err
}

func (d *LiveRollouts) begin(at *execution, s *session, plans func(context.Context, *session) (plan.Plan, error)) error {
	p, err := plans(d.ctx, s)
	if err != nil {
		return err
	}
	rollouts, err := at.rollouts()
	if err != nil {
		return err
	}
	if err := at.commands(p.Commands(0), "the plan"); err != nil {
		return err
	}
	s.AllowVerify(d.authority.asks)
	e, err := rollouts.Begin(d.ctx, s, p)
	if err != nil {
		return withHint(err)
	}
	d.drive(s, e)
	return nil
}

// drive carries a plan out that is recorded, behind, and closes the session in the end.
func (d *LiveRollouts) drive(s *session, e *apply.Executor) {
	ref := s.target.Ref
	d.note(ref, true, end{})
	d.all.Go(func() {
		res, err := e.Run(apply.Options{})
		if err == nil {
			at, _ := d.sessions()
			res, err = at.afterSubset(d.ctx, s, res)
		}
		s.Close()
		d.note(ref, false, end{res, err})
	})
}

func (d *LiveRollouts) note(ref cluster.Ref, on bool, e end) {
	d.mu.Lock()
	if d.ends[ref] = e; on {
		d.running[ref] = true
	} else {
		delete(d.running, ref)
	}
	changed := d.changed
	d.mu.Unlock()
	changed()
}

func (d *LiveRollouts) here(ref cluster.Ref) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running[ref]
}

// rollouts are those of the cluster.
func (d *LiveRollouts) rollouts() (apply.Rollouts, error) {
	at, _ := d.sessions()
	return at.rollouts()
}

// notes are lines that were printed.
type notes struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write takes lines in.
func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

// lines are all that were printed.
func (n *notes) lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for line := range strings.Lines(n.text.String()) {
		out = append(out, strings.TrimRight(line, "\n"))
	}
	return out
}
