package kruise

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

// Keys of labels and annotations hold dots and slashes, so they are no steps
// of a path.

const (
	labels      = "metadata.labels"
	annotations = "metadata.annotations"
)

func (c *conversion) annotation(key string) string {
	return tree.StrAt(c.get(annotations), key)
}

func (c *conversion) annotate(key, value string) { c.mark(annotations, key, tree.String(value)) }

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
