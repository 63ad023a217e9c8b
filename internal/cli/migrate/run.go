package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	kube "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// run is the whole story.
func (o *options) run(ctx context.Context) error {
	if o.from.Nodes {
		return o.handOver(ctx)
	}
	work := o.factory.Working("reading both workloads")
	w, err := o.readState(ctx)
	work.Stop()
	if err != nil {
		return err
	}
	if err := w.show(o.factory.Streams.Err); err != nil {
		return err
	}
	if w.record.Replicas == 0 && !w.create && !w.turned {
		return w.printNote("%s has no replicas: there is nothing to move", w.record.From)
	}
	switch o.dryRun {
	case "client":
		return nil
	case "server":
		return w.check(ctx)
	}
	if err := w.ask(ctx); err != nil {
		return err
	}
	if err := w.born(ctx); err != nil || w.create {
		return err
	}
	defer o.factory.Working("moving replicas").Stop()
	return w.move(ctx)
}

// ask asks a person. The older form, which scripts use, says all that is to be done:
// without a terminal it continues.
func (o *options) ask(ctx context.Context) error {
	if o.yes || o.older && !o.factory.Streams.InTTY {
		return nil
	}
	return kubectl.Ask(ctx, o.factory, "Do this?")
}

func (o *options) printNote(format string, args ...any) error {
	_, err := fmt.Fprintln(o.factory.Streams.Err, o.factory.Copyable(fmt.Sprintf(format, args...)))
	return err
}

// check has the server check the new workload.
func (w *work) check(ctx context.Context) error {
	if w.made == nil {
		return nil
	}
	if _, err := w.client.Create(ctx, w.to, w.made.object); err != nil {
		return err
	}
	return w.printNote("%s created (server dry run)", w.title())
}

// born creates the new workload. It has the record from its first moment on.
func (w *work) born(ctx context.Context) error {
	if w.made == nil {
		return nil
	}
	if !w.create {
		annotations := w.made.object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[migrate.Annotation] = w.record.Encode()
		w.made.object.SetAnnotations(annotations)
	}
	if _, err := w.client.Create(ctx, w.to, w.made.object); err != nil {
		return fmt.Errorf("failed to create from %s to %s: %w", w.record.From, w.title(), err)
	}
	return w.printNote("Successfully created from %s to %s", w.record.From, w.title())
}

// move moves the replicas.
func (w *work) move(ctx context.Context) error {
	ctx, cancel := w.bounded(ctx)
	defer cancel()
	m, err := w.client.Begin(ctx, w.record, w.target(), w.around)
	if err == nil {
		err = m.Run(ctx, w.progressPrinter())
	}
	if err := w.left(ctx, err); err != nil {
		return err
	}
	return w.moved()
}

// bounded ends what takes too long.
func (o *options) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.timeout > 0 {
		return context.WithTimeout(ctx, o.timeout)
	}
	return context.WithCancel(ctx)
}

// left reports how to go on after what ended before its end.
func (o *options) left(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.Join(o.printNote("failed to migrate: task timeout exceeded; run the same command again to continue"), command.ErrTimedOut)
	case ctx.Err() != nil:
		return errors.Join(o.printNote("left; run the same command again to continue"), command.ErrInterrupted)
	}
	return fmt.Errorf("failed to migrate: %w", err)
}

// progressPrinter returns a printer of progress: each pair of numbers once, in the older
// plugin's words, and what is waited for.
func (w *work) progressPrinter() func(migrate.Decision) {
	var out, in int32
	why := ""
	return func(d migrate.Decision) {
		if d.Out != out || d.In != in {
			out, in = d.Out, d.In
			_ = w.printNote("Migration progress: %s scale in %d, %s scale out %d", w.record.From, out, w.title(), in)
		}
		if d.Verb == migrate.Wait && d.Why != why {
			why = d.Why
			_ = w.printNote("waits: %s", why)
		}
	}
}

// moved describes what has been done, and what is left to do.
func (w *work) moved() error {
	kindOf := func(k *migrate.Kind) string {
		return k.Resource() + "." + k.Group
	}
	err := w.printNote("Successfully migrated %s from %s to %s", replicas(w.record.Replicas), w.record.From, w.title())
	if w.turned || w.record.Replicas < w.record.Source {
		return err
	}
	return errors.Join(err,
		w.printNote("%s has no replicas left. When it is no longer needed, delete it: 'kubectl delete -n %s %s %s'", w.record.From, w.old.GetNamespace(), kindOf(w.from), w.source),
		w.printNote("to migrate back: 'kubectl kruise migrate -n %s %s/%s --to %s'", w.old.GetNamespace(), kindOf(w.to), w.destination, w.from.Word))
}

// show writes the plan.
func (w *work) show(out io.Writer) error {
	for _, line := range w.lines() {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	if w.made == nil {
		return nil
	}
	return view.Findings(out, w.made.findings, false, view.Style{Color: w.factory.ColorErr()})
}

func (w *work) lines() []string {
	lines := []string{w.headline()}
	step := func(format string, args ...any) { lines = append(lines, fmt.Sprintf("  - "+format, args...)) }
	if w.made != nil {
		step("%s is created with %s; it has a selector of its own", w.title(), replicas(kube.SideOf(w.made.object).Replicas))
	}
	if !w.create {
		for _, s := range w.around.Scalers {
			if !s.ByKEDA() {
				step("%s is suspended during the move, then scales %s afterwards", s, w.title())
			}
		}
		lines = append(lines, follows(w.around, w.title(), w.record.Replicas == w.record.Source)...)
		step("%s", w.batches())
		for _, b := range w.around.Budgets {
			step("%s is asked before pods go", b.Name)
		}
	}
	if len(w.around.Services) > 0 {
		step("service/%s: pods of both", strings.Join(w.around.Services, ", service/"))
	}
	return append(lines, w.warnings()...)
}

func (w *work) headline() string {
	r := w.record
	switch {
	case w.create:
		return fmt.Sprintf("Make %s of %s.", w.title(), r.From)
	case w.resumed:
		s, d := kube.SideOf(w.old), kube.SideOf(w.now)
		return fmt.Sprintf("Continue to move %s from %s to %s: %d removed, %d added so far.", replicas(r.Replicas), r.From, w.title(), r.Source-s.Replicas, d.Replicas-r.Destination)
	case w.turned:
		return fmt.Sprintf("Reverse the migration: move %s from %s back to %s.", replicas(r.Replicas), r.From, w.title())
	}
	return fmt.Sprintf("Move %d of %s from %s to %s, which has %d.", r.Replicas, replicas(r.Source), r.From, w.title(), r.Destination)
}

func (w *work) batches() string {
	if w.from.Keeps {
		return fmt.Sprintf("pods move %d at a time, each under its name and with its claims: it goes, then comes back", w.record.Surge)
	}
	return fmt.Sprintf("batches of up to %d: %s grows, its pods are available, %s shrinks", w.record.Surge, w.title(), w.record.From)
}

func (w *work) warnings() []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf("warning: "+format, args...)) }
	for _, s := range w.around.Missed {
		warn("service/%s selects no pod of %s", s, w.title())
	}
	for _, b := range w.around.Uncovered {
		warn("%s covers no pod of %s", b, w.title())
	}
	for _, text := range w.around.Skipped {
		warn("%s", text)
	}
	return out
}

// follows are the steps of what names the old workload in its targetRef; whole says
// that nothing is left there in the end.
func follows(a *kube.Surroundings, title string, whole bool) []string {
	var out []string
	for _, f := range a.Followers {
		text := fmt.Sprintf("%s/%s looks after %s afterwards", f.Resource, f.Name, title)
		switch {
		case f.Twin != "" && whole:
			text = fmt.Sprintf("%s/%s is made for %s; %s goes afterwards", f.Resource, f.Twin, title, f.Name)
		case f.Twin != "":
			text = fmt.Sprintf("%s/%s is made for %s; %s stays", f.Resource, f.Twin, title, f.Name)
		case !whole:
			continue
		}
		out = append(out, "  - "+text)
	}
	return out
}

func replicas[N int | int32 | int64](n N) string { return counted.Of(int(n), "replica") }
