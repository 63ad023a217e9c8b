// Package fields has flags that stand for fields of an object: a table row says which
// flag, which field and how its text is read. What has no flag of its own is reached by
// --set. It knows trees and flags, no kinds.
package fields

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Field is one flag and the field that it fills.
type Field struct {
	// Flag is its name; the same in camel case, as the field is spelt, is read too.
	Flag, Short string
	// Path is the dotted field; * stands for all elements of a list that are there.
	Path  string
	Shape Shape
	// Default is the text that is filled in where the flag is not given.
	Default string
	Help    string
	// Legal are the values that the field may have; none, any.
	Legal []string
}

// Set are the flags of a command that fill one object.
type Set struct {
	rows   []Field
	values []*value
	extra  []string
	flags  *pflag.FlagSet
}

// Bind adds the flags of a table to a command, and --set.
func Bind(c *cobra.Command, rows []Field) *Set {
	s := &Set{rows: rows, flags: c.Flags()}
	c.Flags().SetNormalizeFunc(kebab(c.Flags().GetNormalizeFunc()))
	for _, row := range rows {
		v := &value{shape: row.Shape, legal: row.Legal, text: row.Default}
		s.values = append(s.values, v)
		f := s.flags.VarPF(v, row.Flag, row.Short, row.help())
		if row.Shape == Truth {
			f.NoOptDefVal = "true"
		}
		if len(row.Legal) > 0 {
			command.Offer(c, row.Flag, row.Legal...)
		}
	}
	s.flags.StringArrayVar(&s.extra, "set", nil, "any field, such as spec.a.b[0].c=VALUE (YAML); again for more")
	return s
}

func (f Field) help() string {
	if len(f.Legal) == 0 {
		return f.Help
	}
	return f.Help + ": " + strings.Join(f.Legal, ", ")
}

// Fill puts what was given, and defaults, into the object; --set comes last. Errors
// are of usage.
func (s *Set) Fill(object *tree.Node) error {
	for i, row := range s.rows {
		v := s.values[i]
		if v.node == nil && row.Default != "" {
			if err := v.Set(row.Default); err != nil {
				return command.Usagef("", "--%s: %w", row.Flag, err)
			}
		}
		if v.node == nil {
			continue
		}
		if err := Put(object, row.Path, v.node); err != nil {
			return command.Usagef("", "--%s: %w", row.Flag, err)
		}
	}
	for _, text := range s.extra {
		if err := s.any(object, text); err != nil {
			return err
		}
	}
	return nil
}

// any carries --set out.
func (s *Set) any(object *tree.Node, text string) error {
	const hint = "for instance --set spec.paused=true or --set 'metadata.labels[example.com/team]=shop'"
	path, given, ok := strings.Cut(text, "=")
	for ok && strings.Count(path, "[") > strings.Count(path, "]") { // a key may hold =
		var more string
		more, given, ok = strings.Cut(given, "=")
		path += "=" + more
	}
	if !ok || path == "" {
		return command.Usagef(hint, "--set: %q is not PATH=VALUE", text)
	}
	n, err := read(given)
	if err == nil {
		err = Put(object, path, n)
	}
	if err != nil {
		return command.Usagef(hint, "--set %s: %w", path, err)
	}
	return nil
}

// kebab reads camel case as words with hyphens: the older plugin spelt some flags as
// the fields are spelt.
func kebab(before func(*pflag.FlagSet, string) pflag.NormalizedName) func(*pflag.FlagSet, string) pflag.NormalizedName {
	return func(fl *pflag.FlagSet, name string) pflag.NormalizedName {
		var out strings.Builder
		for i, r := range name {
			if r >= 'A' && r <= 'Z' {
				if i > 0 {
					out.WriteByte('-')
				}
				r += 'a' - 'A'
			}
			out.WriteRune(r)
		}
		return before(fl, out.String())
	}
}
