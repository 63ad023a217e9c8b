package rdgen

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// resource is spec.resource: the ConfigMap or Secret to distribute.
func (c settings) resource(config *tree.Node, read func(string) ([]byte, error)) (*tree.Node, error) {
	pairs, err := c.pairs(config, read)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	for i := 1; i < len(pairs); i++ {
		if pairs[i].key == pairs[i-1].key {
			return nil, tree.Errorf(config, "resource", "give each key once in envs, literals and files together",
				"%s %s illegally repeats the key `%s`", strings.ToLower(c.Resource.Kind), c.Resource.Name, pairs[i].key)
		}
	}
	options := tree.Get(config, "resource", "resourceOptions")
	out := tree.Map("apiVersion", "v1")
	if c.Resource.Kind == secret {
		tree.Set(out, "data", secretData(pairs))
	} else {
		configMapData(out, pairs)
	}
	if c.Resource.Options.Immutable {
		tree.Set(out, "immutable", tree.Boolean(true))
	}
	tree.Set(out, "kind", tree.String(c.Resource.Kind))
	tree.Set(out, "metadata", metadata(c.Resource.Name, options))
	if c.Resource.Kind == secret {
		tree.Set(out, "type", tree.String(cmp.Or(c.Resource.Type, "Opaque")))
	}
	return out, nil
}

func secretData(pairs []pair) *tree.Node {
	data := tree.Map()
	for _, p := range pairs {
		data.Content = append(data.Content, tree.String(p.key), block(encoded(p.value)))
	}
	return data
}

// configMapData puts text into data and other bytes into binaryData; neither
// is there when it would be empty.
func configMapData(out *tree.Node, pairs []pair) {
	data, binary := tree.Map(), tree.Map()
	for _, p := range pairs {
		key := tree.String(p.key)
		if utf8.ValidString(p.value) {
			data.Content = append(data.Content, key, block(p.value))
		} else {
			binary.Content = append(binary.Content, key, block(encoded(p.value)))
		}
	}
	for _, field := range []struct {
		name string
		node *tree.Node
	}{{"binaryData", binary}, {"data", data}} {
		if len(field.node.Content) > 0 {
			tree.Set(out, field.name, field.node)
		}
	}
}

// encoded is base64; what is longer than 70 characters is cut into lines of
// 70, each with a line feed, as the older generator writes it.
func encoded(s string) string {
	const width = 70
	text := base64.StdEncoding.EncodeToString([]byte(s))
	if len(text) < width {
		return text
	}
	var lines strings.Builder
	for line := range slices.Chunk([]byte(text), width) {
		lines.Write(line)
		lines.WriteByte('\n')
	}
	return lines.String()
}

// block is a text scalar, in literal style when it has several lines.
func block(s string) *tree.Node {
	n := tree.String(s)
	if strings.Contains(s, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}
