package raise

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// object is one native object on its way: what its kinds have in common.
type object struct {
	c   *stage.Context
	r   *resource.Resource
	opt Options
	// scaled: an autoscaler owns the replicas.
	scaled bool
}

func (o object) decode(into any) error {
	_, err := tree.Decode(o.r.Node(), into)
	return o.r.Wrap(err, "")
}

// become returns the object of Kruise.
func (o object) become(group, kind string, spec func(*tree.Node) *tree.Node) *tree.Node {
	return stage.As(tree.Root(o.r.Node()), group+"/"+kruise.V1beta1, kind, metadata, spec)
}

// metadata leaves out the marks of a rendered object: they describe it, not
// what it becomes.
func metadata(source *tree.Node) *tree.Node {
	m := stage.Metadata(source)
	for field, key := range map[string]string{"labels": kruise.SourceLabel, "annotations": kruise.StrategyAnnotation} {
		have := tree.Get(m, field)
		if !tree.Has(have, key) {
			continue
		}
		have = tree.Shallow(have)
		tree.Delete(have, key)
		if tree.Set(m, field, have); len(have.Content) == 0 {
			tree.Delete(m, field)
		}
	}
	return m
}

func (o object) report(id, field, detail string) { o.c.Findings.Add(id, o.r, field, detail) }

// reportSame reports those of the fields that are written.
func (o object) reportSame(id string, fields ...string) {
	for _, f := range fields {
		if o.written(f) {
			o.report(id, "spec."+f, "")
		}
	}
}

// written reports whether a field of spec says something.
func (o object) written(field string) bool {
	return tree.Get(o.r.Node(), append([]string{"spec"}, strings.Split(field, ".")...)...) != nil
}

// copied returns a copy of one level of a mapping, an empty one for nothing.
func copied(n *tree.Node) *tree.Node {
	if !tree.IsMap(n) {
		return tree.Map()
	}
	return tree.Shallow(n)
}

// same sets a key, unless it means v already.
func same(n *tree.Node, key string, v *tree.Node) {
	if !tree.Equal(tree.Get(n, key), v) {
		tree.Set(n, key, v)
	}
}

// with returns a copy of a mapping in which one key has another value.
func with(n *tree.Node, key string, v *tree.Node) *tree.Node {
	n = copied(n)
	tree.Set(n, key, v)
	return n
}
