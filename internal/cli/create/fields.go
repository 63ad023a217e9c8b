package create

import (
	"errors"
	"fmt"
	"strconv"
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
	// Path is the dotted field; * means all present elements of a list.
	Path  string
	Shape Shape
	// Default is the text that is filled in where the flag is not given.
	Default string
	Help    string
	// Legal are the values that the field may have; none, any.
	Legal []string
}

// FlagSet are the flags of a command that fill one object.
type FlagSet struct {
	rows   []Field
	values []*fieldValue
	extra  []string
	flags  *pflag.FlagSet
}

// BindFields adds the flags of a table to a command, and --set.
func BindFields(c *cobra.Command, rows []Field) *FlagSet {
	s := &FlagSet{rows: rows, flags: c.Flags()}
	c.Flags().SetNormalizeFunc(kebabCase(c.Flags().GetNormalizeFunc()))
	for _, row := range rows {
		v := &fieldValue{shape: row.Shape, legal: row.Legal, text: row.Default}
		s.values = append(s.values, v)
		f := s.flags.VarPF(v, row.Flag, row.Short, row.help())
		if row.Shape == Truth {
			f.NoOptDefVal = "true"
		}
		if len(row.Legal) > 0 {
			command.Offer(c, row.Flag, row.Legal...)
		}
	}
	s.flags.StringArrayVar(&s.extra, "set", nil, "value of any field, such as spec.a.b[0].c=VALUE (YAML); can be repeated")
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
func (s *FlagSet) Fill(object *tree.Node) error {
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
		if err := PutField(object, row.Path, v.node); err != nil {
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
func (s *FlagSet) any(object *tree.Node, text string) error {
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
	n, err := parseYAML(given)
	if err == nil {
		err = PutField(object, path, n)
	}
	if err != nil {
		return command.Usagef(hint, "--set %s: %w", path, err)
	}
	return nil
}

// kebabCase reads camel case as words with hyphens: the older plugin spelt some flags as
// the fields are spelt.
func kebabCase(before func(*pflag.FlagSet, string) pflag.NormalizedName) func(*pflag.FlagSet, string) pflag.NormalizedName {
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

// metadataFields are the flags that all objects have.
var metadataFields = []Field{
	{Flag: "labels", Path: "metadata.labels", Shape: Pairs, Help: "labels of the object"},
	{Flag: "annotations", Path: "metadata.annotations", Shape: Pairs, Help: "annotations of the object"},
}

// PutField sets the field that a path leads to, and makes what is missing on the way: a
// number is an index of a list, at most one behind its end; * are all elements there.
func PutField(object *tree.Node, path string, v *tree.Node) error {
	steps := tree.Steps(path)
	if len(steps) == 0 {
		return errors.New("there is no path")
	}
	return putField(object, steps, v)
}

func putField(n *tree.Node, steps []string, v *tree.Node) error {
	step := steps[0]
	if step == "*" {
		return putEach(n, steps[1:], v)
	}
	if i, err := strconv.Atoi(step); err == nil && tree.IsSeq(n) {
		return putElement(n, i, steps[1:], v)
	}
	if !tree.IsMap(n) {
		return fmt.Errorf("there is no field %s in a %s", step, nodeKind(n))
	}
	if len(steps) == 1 {
		tree.Set(n, step, v)
		return nil
	}
	below := tree.Get(n, step)
	if below == nil || tree.IsNull(below) {
		below = emptyFor(steps[1])
		tree.Set(n, step, below)
	}
	return putField(below, steps[1:], v)
}

// putEach needs elements that are there: a path says nothing of how many are wanted.
func putEach(n *tree.Node, rest []string, v *tree.Node) error {
	items := tree.Items(n)
	if len(items) == 0 {
		return errors.New("there is nothing yet that has it")
	}
	for i := range items {
		if err := putElement(n, i, rest, tree.Clone(v)); err != nil {
			return err
		}
	}
	return nil
}

func putElement(n *tree.Node, i int, rest []string, v *tree.Node) error {
	switch {
	case i < 0 || i > len(n.Content):
		return fmt.Errorf("there is no element %d, the next one is %d", i, len(n.Content))
	case i == len(n.Content) && len(rest) > 0:
		n.Content = append(n.Content, emptyFor(rest[0]))
	case i == len(n.Content):
		n.Content = append(n.Content, v)
		return nil
	}
	if len(rest) == 0 {
		n.Content[i] = v
		return nil
	}
	return putField(n.Content[i], rest, v)
}

// emptyFor is what has a field or an element of this name.
func emptyFor(step string) *tree.Node {
	if _, err := strconv.Atoi(step); err == nil || step == "*" {
		return tree.Seq()
	}
	return tree.Map()
}

func nodeKind(n *tree.Node) string {
	switch {
	case tree.IsSeq(n):
		return "list"
	case tree.IsMap(n):
		return "mapping"
	}
	return "plain value"
}
