package migrate

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	kube "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/migrate"
)

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
		step("%s is made with %d replicas; its selector is its own", w.title(), kube.SideOf(w.made.object).Replicas)
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
		return fmt.Sprintf("Go on moving %d replicas from %s to %s: %d have left, %d have come.", r.Replicas, r.From, w.title(), r.Source-s.Replicas, d.Replicas-r.Destination)
	case w.turned:
		return fmt.Sprintf("Turn back: move the %d replicas that have left from %s to %s again.", r.Replicas, r.From, w.title())
	}
	return fmt.Sprintf("Move %d of %d replicas from %s to %s, which has %d.", r.Replicas, r.Source, r.From, w.title(), r.Destination)
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
func follows(a *kube.Around, title string, whole bool) []string {
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
