package convert

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// textKey is the key above the text of a field: a comment above the first key of
// a text would belong to the text.
const textKey = "was"

// written returns what was at a path as it was written, with the keys above it
// as far as the last list, where its value alone would lose something: comments, and
// how numbers are written. "" where it would not.
func written(root *tree.Node, path []string, had any) (string, error) {
	wrote, from := root, 0
	keys := make([]*tree.Node, len(path))
	for i, step := range path {
		if tree.IsSeq(wrote) {
			wrote, _ = tree.Find(wrote, "name", step)
			from = i + 1
			continue
		}
		keys[i], wrote = entry(wrote, step)
	}
	if wrote == nil || equalTexts(wrote, tree.FromValue(had)) && !slices.ContainsFunc(keys[from:], commented) {
		return "", nil
	}
	for _, key := range slices.Backward(keys[from:]) {
		m := tree.Map()
		m.Content = []*tree.Node{key, wrote}
		wrote = m
	}
	text, err := yaml.NewRNode(tree.Map(textKey, wrote)).String()
	return strings.TrimSuffix(text, "\n"), err
}

// entry returns the key and the value of a step into a mapping.
func entry(n *tree.Node, key string) (k, v *tree.Node) {
	if !tree.IsMap(n) {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func commented(n *tree.Node) bool {
	return n != nil && n.HeadComment+n.LineComment+n.FootComment != ""
}

// equalTexts reports whether two trees are written with the same texts, and the first
// without comments.
func equalTexts(a, b *tree.Node) bool {
	return !commented(a) && a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, equalTexts)
}

// read parses the text of a field; nil for one that has none, or none that can be
// read: its value counts then.
func (f field) read() *tree.Node {
	if f.Text == "" {
		return nil
	}
	n, err := yaml.Parse(f.Text)
	if err != nil {
		return nil
	}
	return tree.Get(n.YNode(), textKey)
}

// originalValue is the field's value as a tree: as it was written, if that is known.
func (f field) originalValue() *tree.Node {
	if _, v := f.writtenValue(f.Path); v != nil && tree.Equal(v, tree.FromValue(f.Had)) {
		return v
	}
	return tree.FromValue(f.Had)
}

// writtenValue is what the text has for the first of the steps that are left of the path:
// the key, and the value below all of them.
func (f field) writtenValue(left []string) (key, value *tree.Node) {
	n := f.read()
	if len(left) == 0 {
		return nil, n
	}
	for from := range f.Path {
		if value = tree.Get(n, f.Path[from:]...); value == nil || from > len(f.Path)-len(left) {
			continue
		}
		key, _ = entry(tree.Get(n, f.Path[from:len(f.Path)-len(left)]...), left[0])
		return key, value
	}
	return nil, nil
}

// comment gives the key of a restored level the comments that it had, unless it has
// some by now.
func (f field) comment(n *tree.Node, left []string) {
	key, _ := f.writtenValue(left)
	for i := 0; key != nil && i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value == key.Value && !commented(k) {
			n.Content[i] = key
		}
	}
}
