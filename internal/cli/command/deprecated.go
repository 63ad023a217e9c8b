package command

import (
	"fmt"
	"io"
	"maps"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Deprecation is what is known of a flag that goes.
type Deprecation struct {
	// Instead is what to use, as it is typed.
	Instead string
	// Gone is the version in which it is no more, such as v2.0.0.
	Gone string
}

// deprecatedAnnotation is the annotation of a flag, with [instead, gone].
const deprecatedAnnotation = "kubectl-kruise.dev/deprecated"

// DeprecateFlag marks a flag of a command, which must have it.
func DeprecateFlag(c *cobra.Command, name string, s Deprecation) {
	fl := c.Flags()
	if fl.Lookup(name) == nil {
		panic("no flag --" + name + " to deprecate: a mistake in the program")
	}
	fl.Lookup(name).Hidden = true
	_ = fl.SetAnnotation(name, deprecatedAnnotation, []string{s.Instead, s.Gone}) // the flag is there
}

// WarnDeprecated reports which flags of a call go, each once, however often it was given.
func WarnDeprecated(w io.Writer, c *cobra.Command) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if s, ok := flagDeprecation(f); ok {
			_, _ = fmt.Fprintf(w, "warning: --%s goes in %s; use %s\n", f.Name, s.Gone, s.Instead)
		}
	})
}

func flagDeprecation(f *pflag.Flag) (Deprecation, bool) {
	if values := f.Annotations[deprecatedAnnotation]; len(values) == 2 {
		return Deprecation{values[0], values[1]}, true
	}
	return Deprecation{}, false
}

// Deprecations are what goes of a command and all below it, as it is typed.
func Deprecations(c *cobra.Command) map[string]Deprecation {
	out := map[string]Deprecation{}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if s, ok := flagDeprecation(f); ok {
			out[c.CommandPath()+" --"+f.Name] = s
		}
	})
	for _, sub := range c.Commands() {
		maps.Copy(out, Deprecations(sub))
	}
	return out
}
