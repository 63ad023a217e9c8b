package convert

import (
	"bufio"
	"fmt"
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
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
func (o *options) sayVersion(out engine.Written) error {
	w := bufio.NewWriter(o.factory.Streams.Err)
	for _, l := range out.Lost {
		if _, err := fmt.Fprintf(w, "lost: %s:%d: %s: %s: %s\n", l.File, l.Line, l.Object, l.Path, l.Why); err != nil {
			return err
		}
	}
	for _, r := range out.Skipped {
		if _, err := fmt.Fprintf(w, "kept: %s: %s has no version %s\n", r.Origin, r.ID(), o.version); err != nil {
			return err
		}
	}
	for _, r := range out.Unserved {
		if _, err := fmt.Fprintf(w, "warning: %s: no release of Kruise serves %s as %s, only what comes after %s\n", r.Origin, r.ID(), r.Version(), kruise.NewestRelease); err != nil {
			return err
		}
	}
	return w.Flush()
}
