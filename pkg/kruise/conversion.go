package kruise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// conversion is one object on its way to the other version. Every mapping and
// list is copied before it is changed, because the object read belongs to
// others.
type conversion struct {
	root    *tree.Node
	owned   map[*tree.Node]bool
	to      string
	lost    []Loss
	unknown []string
	err     error
	// deciding: the result is for [Decode], not to be written, and has the values that Kruise and
	// its webhook derive from the whole object.
	deciding bool
}

// convert takes n from one version of its kind to another; err is set where
// the other version cannot express the object at all.
func convert(n *tree.Node, k *descriptor, from, to string) *conversion {
	c := newConversion(n, to)
	if from == to {
		c.root = n
	} else {
		c.run(k)
	}
	return c
}

func newConversion(n *tree.Node, to string) *conversion {
	return &conversion{root: tree.Shallow(tree.Root(n)), owned: map[*tree.Node]bool{}, to: to}
}

// run goes through the kind's table.
func (c *conversion) run(k *descriptor) {
	if c.to == k.Newest() {
		for _, f := range k.fields {
			f.up(c)
		}
	} else {
		for _, f := range slices.Backward(k.fields) {
			f.down(c)
		}
	}
	tree.Set(c.root, "apiVersion", tree.String(k.Group+"/"+c.to))
}

func (c *conversion) lose(path, format string, args ...any) {
	c.lost = append(c.lost, Loss{Path: path, Why: fmt.Sprintf(format, args...)})
}

// stray reports a field that the version read does not have: the API server
// would drop or refuse it.
func (c *conversion) stray(path string) {
	c.lose(path, "only %s has this field", c.to)
	c.unknown = append(c.unknown, path)
}

// absent reports a field that the version written does not have.
func (c *conversion) absent(path string) { c.lose(path, "%s has no such field", c.to) }

// get returns the node at a path of plain keys.
func (c *conversion) get(path string) *tree.Node { return tree.Get(c.root, steps(path)...) }

// own returns the mapping at path for editing and creates what is missing of it; it returns nil if
// a value on the path is not a mapping.
func (c *conversion) own(path string) *tree.Node { return c.ownBelow(c.root, steps(path)) }

func (c *conversion) ownBelow(n *tree.Node, path []string) *tree.Node {
	for _, key := range path {
		next := tree.Get(n, key)
		switch {
		case next == nil:
			next = tree.Map()
		case !tree.IsMap(next):
			return nil
		case !c.owned[next]:
			next = tree.Shallow(next)
		}
		c.owned[next] = true
		tree.Set(n, key, next)
		n = next
	}
	return n
}

// take removes the value at path and returns it; nil when there is none.
// Parents that it leaves empty go too, up to the top-level field.
func (c *conversion) take(path string) *tree.Node {
	keys := steps(path)
	if tree.Get(c.root, keys...) == nil {
		c.forgetNull(c.root, keys)
		return nil
	}
	return c.takeBelow(c.root, keys, 1)
}

// takeBelow is take below n; the first keep parents stay although empty.
func (c *conversion) takeBelow(n *tree.Node, keys []string, keep int) *tree.Node {
	last := len(keys) - 1
	parent := c.ownBelow(n, keys[:last])
	v := tree.Delete(parent, keys[last])
	if parent != n && last > keep && len(parent.Content) == 0 {
		c.takeBelow(n, keys[:last], keep)
	}
	return v
}

// forgetNull removes a field that is an explicit null, which is the same as none in the version that
// has the field, and unknown in the other. It reports whether there was one.
func (c *conversion) forgetNull(n *tree.Node, keys []string) bool {
	last := len(keys) - 1
	if parent := tree.Get(n, keys[:last]...); !tree.Has(parent, keys[last]) || tree.Get(n, keys...) != nil {
		return false
	}
	tree.Delete(c.ownBelow(n, keys[:last]), keys[last])
	return true
}

// set puts v at path, unless a value on the path is not a mapping.
func (c *conversion) set(path string, v *tree.Node) { c.setBelow(c.root, steps(path), v) }

func (c *conversion) setBelow(n *tree.Node, keys []string, v *tree.Node) bool {
	last := len(keys) - 1
	parent := c.ownBelow(n, keys[:last])
	if parent != nil {
		tree.Set(parent, keys[last], v)
	}
	return parent != nil
}

// each calls f with every mapping that a path leads to, for editing, and with
// the mapping's own path. A step such as subsets[] goes into every element of
// a list, images{} into every value of a mapping; the empty path is the
// object itself.
func (c *conversion) each(path string, f func(n *tree.Node, at string)) {
	c.eachBelow(c.root, steps(path), "", f)
}

func (c *conversion) eachBelow(n *tree.Node, path []string, at string, f func(*tree.Node, string)) {
	if len(path) == 0 {
		if tree.IsMap(n) {
			f(n, at)
		}
		return
	}
	key := strings.TrimRight(path[0], "[]{}")
	next := tree.Get(n, key)
	if next == nil || next.Content == nil {
		return
	}
	if !c.owned[next] {
		next = tree.Shallow(next)
		c.owned[next] = true
		tree.Set(n, key, next)
	}
	c.into(next, path[0][len(key):], func(child *tree.Node, suffix string) {
		c.eachBelow(child, path[1:], strings.TrimPrefix(at+"."+key, ".")+suffix, f)
	})
}

// into calls f with the children that the brackets behind a key name.
func (c *conversion) into(n *tree.Node, brackets string, f func(n *tree.Node, suffix string)) {
	if brackets == "" {
		f(n, "")
		return
	}
	first, step, rest := 0, 1, brackets[2:]
	if brackets[:2] == "{}" {
		first, step = 1, 2
	}
	if (step == 2) != tree.IsMap(n) {
		return
	}
	for i := first; i < len(n.Content); i += step {
		suffix := fmt.Sprintf("[%d]", i)
		if step == 2 {
			suffix = "[" + n.Content[i-1].Value + "]"
		}
		child := n.Content[i]
		if !c.owned[child] {
			child = tree.Shallow(child)
			c.owned[child] = true
			n.Content[i] = child
		}
		c.into(child, rest, func(n *tree.Node, s string) { f(n, suffix+s) })
	}
}

// steps splits a path of the table. Keys with dots in them do not occur there.
func steps(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

// join is the path of a field below the element at.
func join(at, field string) string {
	if at == "" {
		return field
	}
	return at + "." + field
}

// Keys of labels and annotations hold dots and slashes, so they are no steps
// of a path.

const (
	labelsPath      = "metadata.labels"
	annotationsPath = "metadata.annotations"
)

func (c *conversion) annotate(key, value string) { c.mark(annotationsPath, key, tree.String(value)) }

// mark sets one key of labels or annotations.
func (c *conversion) mark(in, key string, value *tree.Node) {
	if m := c.own(in); m != nil {
		tree.Set(m, key, value)
	}
}

// unmark removes one key of labels or annotations, and the mapping when that
// leaves it empty. It returns the value, nil when there was none.
func (c *conversion) unmark(in, key string) *tree.Node {
	if tree.Get(c.get(in), key) == nil {
		return nil
	}
	m := c.own(in)
	v := tree.Delete(m, key)
	if len(m.Content) == 0 {
		c.take(in)
	}
	return v
}
