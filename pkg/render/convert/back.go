package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/raise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// restored brings back what the object was before it became what it is now.
func (p piece) restored(c *stage.Context) error {
	k, ok := keptIn(p.was.Node())
	without(p.become, "annotations", kruise.ConvertedFromAnnotation)
	if ok && k.Kind == p.way.to.kind && resource.GroupOf(k.APIVersion) == p.way.to.group {
		n, err := k.restore(tree.Root(p.become.Edit()))
		if err != nil {
			return p.was.Wrap(err, "")
		}
		*p.become.Edit() = *n
		c.Findings.Add("convert/restored", p.was, "metadata.annotations["+kruise.ConvertedFromAnnotation+"]", "")
	}
	c.Lineage.Became(p.was.ID(), p.become)
	return nil
}

// restore brings the fields back, in the version that they were written in.
// Where that version cannot hold all that there is by now, the newest stays.
func (k kept) restore(n *tree.Node) (*tree.Node, error) {
	newest := n
	n, lost, err := inVersion(n, k.APIVersion)
	if err != nil {
		return nil, err
	}
	for _, f := range k.Fields {
		n = restored(n, f, f.Path)
	}
	if len(lost) == 0 {
		return n, nil
	}
	if n, _, err = kruise.ToHub(n); err != nil {
		return nil, err
	}
	for _, l := range lost {
		value, _ := tree.At(newest, l.Path)
		n = restored(n, field{Had: tree.Value(value)}, tree.Steps(l.Path))
	}
	return n, nil
}

// inVersion returns an object of Kruise in a version of its kind; all others
// have one only.
func inVersion(n *tree.Node, apiVersion string) (*tree.Node, []kruise.Loss, error) {
	group, version, _ := strings.Cut(apiVersion, "/")
	if tree.StrAt(n, "apiVersion") == apiVersion || !kruise.Serves(group, tree.StrAt(n, "kind"), version) {
		return n, nil, nil
	}
	return kruise.FromHub(n, version)
}

// keep writes down what going back from here would not bring back.
func (o Options) keep(c *stage.Context, out []*resource.Resource, pieces []piece) error {
	back := map[*resource.Resource]direction{}
	for _, p := range pieces {
		back[p.become] = direction{from: p.way.to, to: p.way.from}
	}
	o.Raise = raise.Options{} // options of the way there do not apply to the way back
	unheard := o.context(out)
	_, undone, err := o.swap(unheard, out, func(r *resource.Resource) (direction, bool) {
		way, ok := back[r]
		return way, ok
	})
	if stop := c.Stopped(); stop != nil {
		return stop
	}
	if err != nil {
		return fmt.Errorf("what was made cannot be converted back: %w", err)
	}
	again := make(map[*resource.Resource]*resource.Resource, len(undone))
	for _, u := range undone {
		u.prune(unheard)
		again[u.was] = u.become
	}
	return inTurn(c, pieces, func(p piece) error {
		if u := again[p.become]; u != nil {
			return o.annotate(c, p, u)
		}
		return nil
	})
}

// annotate compares the object as it was with what would come back.
func (o Options) annotate(c *stage.Context, p piece, undone *resource.Resource) error {
	again, _, err := inVersion(tree.Root(undone.Node()), p.was.APIVersion())
	if err != nil {
		return p.was.Wrap(err, "")
	}
	had, made := essence(tree.Root(p.was.Node())), essence(again)
	k := kept{APIVersion: p.was.APIVersion(), Kind: p.was.Kind(), Fields: differences(made, had, nil)}
	for i := range k.Fields {
		f := &k.Fields[i]
		if f.Text, err = written(tree.Root(p.was.Node()), f.Path, f.Had); err != nil {
			return p.was.Wrap(err, "")
		}
	}
	if len(k.Fields) == 0 && (k.APIVersion == undone.APIVersion() || usual(undone, k.APIVersion)) {
		return nil
	}
	const field = "metadata"
	if o.Forget {
		c.Findings.Add("convert/forgotten", p.was, field, "")
		return nil
	}
	c.Findings.Add("convert/kept", p.was, field, "")
	text, err := k.text()
	if err != nil {
		return p.was.Wrap(err, "")
	}
	convertedFrom(p.become.Edit(), text)
	return nil
}

// usual reports whether a version is the one in which objects of the kind are made for the
// newest release of Kruise, so that going back gives it anyway.
func usual(r *resource.Resource, apiVersion string) bool {
	versions := kruise.NewestRelease.Versions(r.Group(), r.Kind())
	return len(versions) > 0 && apiVersion == r.Group()+"/"+versions[len(versions)-1]
}

// convertedFrom writes the annotation that says what an object was.
func convertedFrom(n *tree.Node, text *tree.Node) {
	meta := stage.Block(tree.Get(n, "metadata"))
	annotations := tree.Map()
	if have := tree.Get(meta, "annotations"); tree.IsMap(have) {
		annotations = stage.Block(have)
	}
	tree.Set(annotations, kruise.ConvertedFromAnnotation, text)
	tree.Set(meta, "annotations", annotations)
	tree.Set(n, "metadata", meta)
}

func (k kept) text() (*tree.Node, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(k); err != nil {
		return nil, err
	}
	n := tree.String(string(bytes.TrimSpace(b.Bytes())))
	n.Style = yaml.SingleQuotedStyle
	return n, nil
}

// essence is an object as a user would write it: without its status, what
// belongs to it in a cluster, and our annotation.
func essence(n *tree.Node) any {
	out := stage.As(n, "", "", func(m *tree.Node) *tree.Node {
		m = stage.Uncluttered(m)
		if have := tree.Get(m, "annotations"); tree.Has(have, kruise.ConvertedFromAnnotation) {
			have = tree.Shallow(have)
			tree.Delete(have, kruise.ConvertedFromAnnotation)
			if tree.Set(m, "annotations", have); len(have.Content) == 0 {
				tree.Delete(m, "annotations")
			}
		}
		return m
	}, func(spec *tree.Node) *tree.Node { return spec })
	return tree.Value(out)
}
