package demo

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// noon is when the shop opens without a clock to look at.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// tell prints each change of a workload's row, and all rows at the end.
func (o *options) tell(ctx context.Context) error {
	shop, err := demo.StartWith(ctx, demo.Options{Seed: o.seed, Now: noon, Pods: o.pods})
	if err != nil {
		return err
	}
	t := &teller{out: o.factory.Streams.Out, seen: map[cluster.Ref]string{}}
	var w *world.World
	for at := time.Duration(0); ; at += time.Second {
		if w, err = shop.Await(ctx, 0, world.Want{}); err != nil {
			return err
		}
		if err := t.changes(w); err != nil {
			return err
		}
		if at >= o.length {
			return t.table(w)
		}
		if err := shop.Advance(time.Second); err != nil {
			return err
		}
	}
}

// teller prints rows, each as often as it says something new.
type teller struct {
	out  io.Writer
	seen map[cluster.Ref]string
}

func (t *teller) changes(w *world.World) error {
	for _, row := range w.Workloads {
		line := fmt.Sprintf("%s\t%s\t%d/%d updated\t%s", name(row), row.Health, row.Pods.Updated, row.Pods.Desired, row.Why)
		if t.seen[row.Ref] == line {
			continue
		}
		t.seen[row.Ref] = line
		if _, err := fmt.Fprintf(t.out, "%s\t%s\n", w.Now.Format(time.TimeOnly), line); err != nil {
			return err
		}
	}
	return nil
}

func (t *teller) table(w *world.World) error {
	out := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "\nHEALTH\tWORKLOAD\tUPDATED\tREADY\tSTEP\tDRIVER\tWHY")
	for _, row := range w.Workloads {
		at := "-"
		if row.Steps > 0 {
			at = fmt.Sprintf("%d/%d %s", row.Step+1, row.Steps, row.StepName)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d/%d\t%d/%d\t%s\t%s\t%s\n", row.Health, name(row), row.Pods.Updated, row.Pods.Desired, row.Pods.Ready, row.Pods.Desired, at, row.Driver, row.Why)
	}
	return out.Flush()
}

func name(row *world.Workload) string {
	if row.Namespace == "" {
		return show.Name(row.Ref)
	}
	return row.Namespace + "/" + show.Name(row.Ref)
}
