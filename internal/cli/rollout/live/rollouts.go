package live

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Rollouts is what a user of the terminal interface does with rollouts: the sessions of the verbs.
// Nothing is printed and no question is asked, since the interface does both: what a verb would
// say before its question comes back as lines.
type Rollouts struct {
	factory        *factory.Factory
	stateNamespace string
	// reader is what is known of Kruise in the cluster, since readAt.
	reader *installation.GateReader
	readAt time.Time
	// Authority is what the person at the screen allows.
	Authority session.Authority
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

// New returns what carries rollouts out for the interface, until the context ends.
func New(ctx context.Context, f *factory.Factory, stateNamespace string) *Rollouts {
	d := &Rollouts{
		factory: f, stateNamespace: stateNamespace, changed: func() {},
		running: map[cluster.Ref]bool{}, ends: map[cluster.Ref]end{},
	}
	d.ctx, d.stop = context.WithCancel(ctx)
	return d
}

// Tell has a function called, from any goroutine, when [Rollouts.Driving] says something
// else.
func (d *Rollouts) Tell(changed func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = changed
}

// StateNamespace is where rollouts of kinds without a namespace are kept.
func (d *Rollouts) StateNamespace() string { return d.stateNamespace }

// Driving are the rollouts that are carried out here, by name.
func (d *Rollouts) Driving() []cluster.Ref {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Keys(d.running), func(a, b cluster.Ref) int { return strings.Compare(a.String(), b.String()) })
}

// Close stops what is carried out here, and waits until others can go
// on with it.
func (d *Rollouts) Close() {
	d.stop()
	d.all.Wait()
}

// gatesLast is how long what is known of Kruise in the cluster counts.
const gatesLast = time.Minute

// Sessions are those of the verbs, which say what they say to notes.
func (d *Rollouts) Sessions() (*execute.Execution, *notes) {
	said := &notes{}
	d.mu.Lock()
	if now := time.Now(); now.Sub(d.readAt) > gatesLast {
		d.reader, d.readAt = &installation.GateReader{}, now
	}
	reader := d.reader
	d.mu.Unlock()
	quiet := d.factory.With(factory.Streams{In: strings.NewReader(""), Out: io.Discard, Err: said, Environ: d.factory.Streams.Environ})
	at := session.NewClient(quiet)
	at.GateReader, at.StateNamespace, at.Authority = reader, d.stateNamespace, d.Authority
	return &execute.Execution{Client: at, Flags: execute.Flags{Output: execute.Outputs[0], SuccessOn: "complete"}}, said
}

// Start records a plan and carries it out, behind.
func (d *Rollouts) Start(at *execute.Execution, ref cluster.Ref, plans func(context.Context, *session.Session) (plan.Plan, error)) error {
	s, err := at.OpenRef(d.ctx, ref)
	if err != nil {
		return err
	}
	if err = d.begin(at, s, plans); err != nil {
		s.Close()
	}
	return err
}

func (d *Rollouts) begin(at *execute.Execution, s *session.Session, plans func(context.Context, *session.Session) (plan.Plan, error)) error {
	p, err := plans(d.ctx, s)
	if err != nil {
		return err
	}
	rollouts, err := at.Rollouts()
	if err != nil {
		return err
	}
	if err := at.CheckCommands(p.Commands(0), "the plan"); err != nil {
		return err
	}
	s.AllowVerify(d.Authority.Asks)
	e, err := rollouts.Begin(d.ctx, s, p)
	if err != nil {
		return session.WithHint(err)
	}
	d.drive(s, e)
	return nil
}

// drive carries a plan out that is recorded, behind, and closes the session in the end.
func (d *Rollouts) drive(s *session.Session, e *apply.Executor) {
	ref := s.Target.Ref
	d.note(ref, true, end{})
	d.all.Go(func() {
		res, err := e.Run(apply.Options{})
		if err == nil {
			at, _ := d.Sessions()
			res, err = at.AfterSubset(d.ctx, s, res)
		}
		s.Close()
		d.note(ref, false, end{res, err})
	})
}

func (d *Rollouts) note(ref cluster.Ref, on bool, e end) {
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

func (d *Rollouts) here(ref cluster.Ref) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running[ref]
}

// rollouts are those of the cluster.
func (d *Rollouts) rollouts() (apply.Rollouts, error) {
	at, _ := d.Sessions()
	return at.Rollouts()
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

// Ended is how a rollout came out that was begun by the interface, as an error.
func (d *Rollouts) Ended(ref cluster.Ref, as *execute.Execution) error {
	d.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e, ok := d.ends[ref]; {
	case !ok:
		return command.ErrInterrupted
	case e.err != nil:
		return e.err
	default:
		return as.Ending(e.result)
	}
}
