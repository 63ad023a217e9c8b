package rollout

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	tty "github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// checkScreens refuses what --ui cannot go with: the screens are for people, and show
// one rollout that is carried out.
func (o *runOptions) checkScreens(args []string) error {
	if !o.ui {
		return nil
	}
	united := false
	if len(args) == 1 {
		_, united = resourcearg.ParseUnited(args[0])
	}
	switch {
	case o.selector != "" || united:
		return oneOnScreens()
	case o.output != outputs[0] || o.into != "" || o.timeout != 0 || o.atPause || len(o.tells.urls) > 0 || o.tells.listen != "":
		return command.Usagef("leave one of them out", "--ui does not go with -o, --write-back, --timeout, --exit-on-pause, --success-on, --notify and --listen")
	}
	return tty.Check(o.factory.Streams, "leave --ui out")
}

func oneOnScreens() error {
	return command.Usagef("name one workload; 'kubectl kruise ui' shows those of a namespace", "--ui is for the rollout of one workload")
}

// onScreens carries a plan out while somebody looks on. Leaving the screens leaves the
// rollout where it stands.
func (o *runOptions) onScreens(ctx context.Context, p plan.Plan) error {
	ref := o.session.target.Ref
	o.session.Close()
	desk := NewDesk(ctx, o.factory, o.stateNamespace)
	defer desk.Close()
	desk.authority = o.authority
	at, _ := desk.sessions()
	if err := desk.start(at, ref, func(context.Context, *session) (plan.Plan, error) { return p, nil }); err != nil {
		return err
	}
	if err := o.screens(ctx, o.factory, desk, ref); err != nil {
		return err
	}
	return desk.ended(ref, &o.driving)
}

// ended is how a rollout came out that was begun at the desk, as an error.
func (d *Desk) ended(ref cluster.Ref, as *driving) error {
	d.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e, ok := d.ends[ref]; {
	case !ok:
		return command.ErrInterrupted
	case e.err != nil:
		return e.err
	default:
		return as.end(e.result)
	}
}
