package get

import (
	"fmt"
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// section writes a title before the first of what a type has; a type that has nothing
// gets none.
type section struct {
	title   string
	out     io.Writer
	started bool
}

func (s *section) Write(p []byte) (int, error) {
	if !s.started && len(p) > 0 {
		s.started = true
		if _, err := fmt.Fprintf(s.out, "\n%s:\n", s.title); err != nil {
			return 0, err
		}
	}
	return s.out.Write(p)
}

// sections shows types one after the other, each under its title.
func (o *options) sections(types []string, rest []string) error {
	var faults resource.Errors
	shown := false
	for _, t := range types {
		one := *o.GetOptions
		part := &section{title: t, out: o.Out}
		one.Out, one.IgnoreNotFound = part, true
		faults.Add(kubectl.Err(one.Run(o.whole, append([]string{t}, rest...))))
		shown = shown || part.started
	}
	if shown || len(faults) > 0 || o.IgnoreNotFound {
		return faults.Err()
	}
	_, err := fmt.Fprintln(o.ErrOut, o.nothing())
	return err
}

func (o *options) nothing() string {
	if o.AllNamespaces {
		return "No resources found"
	}
	return "No resources found in " + o.Namespace + " namespace."
}
