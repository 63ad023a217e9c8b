package fields

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Put sets the field that a path leads to, and makes what is missing on the way: a
// number is an index of a list, at most one behind its end; * are all elements there.
func Put(object *tree.Node, path string, v *tree.Node) error {
	steps := tree.Steps(path)
	if len(steps) == 0 {
		return errors.New("there is no path")
	}
	return put(object, steps, v)
}

func put(n *tree.Node, steps []string, v *tree.Node) error {
	step := steps[0]
	if step == "*" {
		return each(n, steps[1:], v)
	}
	if i, err := strconv.Atoi(step); err == nil && tree.IsSeq(n) {
		return element(n, i, steps[1:], v)
	}
	if !tree.IsMap(n) {
		return fmt.Errorf("there is no field %s in a %s", step, kind(n))
	}
	if len(steps) == 1 {
		tree.Set(n, step, v)
		return nil
	}
	below := tree.Get(n, step)
	if below == nil || tree.IsNull(below) {
		below = hollow(steps[1])
		tree.Set(n, step, below)
	}
	return put(below, steps[1:], v)
}

// each needs elements that are there: a path says nothing of how many there shall be.
func each(n *tree.Node, rest []string, v *tree.Node) error {
	items := tree.Items(n)
	if len(items) == 0 {
		return errors.New("there is nothing yet that has it")
	}
	for i := range items {
		if err := element(n, i, rest, tree.Clone(v)); err != nil {
			return err
		}
	}
	return nil
}

func element(n *tree.Node, i int, rest []string, v *tree.Node) error {
	switch {
	case i < 0 || i > len(n.Content):
		return fmt.Errorf("there is no element %d, the next one is %d", i, len(n.Content))
	case i == len(n.Content) && len(rest) > 0:
		n.Content = append(n.Content, hollow(rest[0]))
	case i == len(n.Content):
		n.Content = append(n.Content, v)
		return nil
	}
	if len(rest) == 0 {
		n.Content[i] = v
		return nil
	}
	return put(n.Content[i], rest, v)
}

// hollow is what has a field or an element of this name.
func hollow(step string) *tree.Node {
	if _, err := strconv.Atoi(step); err == nil || step == "*" {
		return tree.Seq()
	}
	return tree.Map()
}

func kind(n *tree.Node) string {
	switch {
	case tree.IsSeq(n):
		return "list"
	case tree.IsMap(n):
		return "mapping"
	}
	return "plain value"
}
