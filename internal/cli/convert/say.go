package convert

import (
	"bufio"
	"fmt"
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// sayKinds tells on stderr what conversion to other kinds keeps, bends or loses.
func (o *options) sayKinds(in int, res *engine.Result) error {
	w := bufio.NewWriter(o.factory.Streams.Err)
	switch {
	case res.Converted == 0:
		_, _ = fmt.Fprintf(w, "warning: nothing of the input becomes %s\n", words(o.to))
	case !o.quiet:
		if err := view.Findings(w, res.Findings, o.verbose > 0, view.Style{Color: o.factory.ColorErr()}); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w, view.Counted(fmt.Sprintf("converted %d of %d objects", res.Converted, in), res.Findings))
	}
	return w.Flush()
}

// noted is where notes about the input go.
func (o *options) noted() io.Writer {
	if o.quiet {
		return io.Discard
	}
	return o.factory.Streams.Err
}

// sayVersion names what another version loses and what stays as it is.
func (o *options) sayVersion(lost []engine.Loss, skipped []*resource.Resource) error {
	w := bufio.NewWriter(o.factory.Streams.Err)
	for _, l := range lost {
		if _, err := fmt.Fprintf(w, "lost: %s:%d: %s: %s: %s\n", l.File, l.Line, l.Object, l.Path, l.Why); err != nil {
			return err
		}
	}
	for _, r := range skipped {
		if _, err := fmt.Fprintf(w, "kept: %s: %s has no version %s\n", r.Origin, r.ID(), o.version); err != nil {
			return err
		}
	}
	return w.Flush()
}
