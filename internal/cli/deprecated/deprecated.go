// Package deprecated lets flags and verbs go in good order: what has another name now
// still works, is in no help, and says once what to use instead and until when it stays
// (docs/stability.md).
package deprecated

import (
	"fmt"
	"io"
	"maps"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Since is what is known of a flag or verb that goes.
type Since struct {
	// Instead is what to use, as it is typed: a flag, a verb.
	Instead string
	// Gone is the version in which it is no more, such as v2.0.0.
	Gone string
}

// key is the annotation of a flag or a command, with [instead, gone].
const key = "kubectl-kruise.dev/deprecated"

// Flag marks a flag of a command, which must have it.
func Flag(c *cobra.Command, name string, s Since) {
	fl := c.Flags()
	if fl.Lookup(name) == nil {
		panic("no flag --" + name + " to deprecate: a mistake in the program")
	}
	fl.Lookup(name).Hidden = true
	_ = fl.SetAnnotation(name, key, []string{s.Instead, s.Gone}) // the flag is there
}

// Verb marks a command.
func Verb(c *cobra.Command, s Since) {
	c.Hidden = true
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key], c.Annotations[key+"-gone"] = s.Instead, s.Gone
}

// Warn says which parts of a call go, each once, however often it was given.
func Warn(w io.Writer, c *cobra.Command) {
	for up := c; up != nil; up = up.Parent() {
		if s, ok := verb(up); ok {
			say(w, up.Name(), s)
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if s, ok := flag(f); ok {
			say(w, "--"+f.Name, s)
		}
	})
}

func say(w io.Writer, what string, s Since) {
	_, _ = fmt.Fprintf(w, "warning: %s goes in %s; use %s\n", what, s.Gone, s.Instead)
}

func verb(c *cobra.Command) (Since, bool) {
	instead, ok := c.Annotations[key]
	return Since{instead, c.Annotations[key+"-gone"]}, ok
}

func flag(f *pflag.Flag) (Since, bool) {
	if values := f.Annotations[key]; len(values) == 2 {
		return Since{values[0], values[1]}, true
	}
	return Since{}, false
}

// All are what goes of a command and all below it, as it is typed.
func All(c *cobra.Command) map[string]Since {
	out := map[string]Since{}
	if s, ok := verb(c); ok {
		out[c.CommandPath()] = s
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if s, ok := flag(f); ok {
			out[c.CommandPath()+" --"+f.Name] = s
		}
	})
	for _, sub := range c.Commands() {
		maps.Copy(out, All(sub))
	}
	return out
}
