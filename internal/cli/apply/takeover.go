package apply

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// takeOver asks for the fields of objects that kubectl has applied on the client's side, and takes
// them, as kubectl apply --server-side does: without that, each of them that is different is a
// conflict, and none that has left the manifest would ever be removed. Nothing but the owner of
// fields changes. It is not asked where conflicts are taken over anyway, and not done in a dry run.
func (w *work) takeOver(ctx context.Context) error {
	var list []*item
	for _, it := range w.items {
		if len(it.clientSide) > 0 && !it.unread {
			list = append(list, it)
		}
	}
	if len(list) == 0 || len(w.faults) > 0 {
		return nil
	}
	what := fmt.Sprintf("the fields of %s, which kubectl apply has written on the client's side: %s", counted.Of(len(list), "object"), named(list))
	if w.dryRun != "none" {
		_, _ = fmt.Fprintf(w.factory.Streams.Err, "note: apply takes over %s\n", what)
		return nil
	}
	if !w.force {
		if err := w.askToTakeOver(ctx, what); err != nil {
			return err
		}
	}
	for _, it := range list {
		adopted, err := w.client.Adopt(ctx, it.live, it.clientSide...)
		if err != nil {
			return it.fault(err)
		}
		it.live, it.clientSide = adopted, nil
	}
	_, _ = fmt.Fprintf(w.factory.Streams.Err, "took over %s\n", what)
	return nil
}

func (w *work) askToTakeOver(ctx context.Context, what string) error {
	if !w.yes && (w.render.Stdin() || !w.factory.Streams.InTTY) {
		return command.Usagef("'kubectl kruise apply "+w.render.Arguments()+" --yes' does it; nothing but the owner of fields changes, and what is applied is shown before",
			"cannot ask whether to take over %s", what)
	}
	return w.rollouts.Ask(ctx, w.yes, fmt.Sprintf("Take over %s? Nothing but their owner changes.", what))
}

// named are the first objects.
func named(list []*item) string {
	const most = 3
	var names []string
	for i, it := range list {
		if i == most {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %s", counted.Of(len(list)-most, "more object"))
		}
		names = append(names, it.manifest.ID().String())
	}
	return strings.Join(names, ", ")
}
