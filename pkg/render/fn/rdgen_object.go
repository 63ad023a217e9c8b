package fn

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
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

type pair struct{ key, value string }

// pairs loads all sources in the older generator's order: envs, literals,
// files. Messages name sources by their place, never by their content, which
// may be secret.
func (c settings) pairs(config *tree.Node, read func(string) ([]byte, error)) ([]pair, error) {
	var all []pair
	for n, list := range [][]string{c.Resource.Envs, c.Resource.Literals, c.Resource.Files} {
		field := []string{"envs", "literals", "files"}[n]
		for i, s := range list {
			var got []pair
			var err error
			switch field {
			case "envs":
				got, err = env(s, read)
			case "literals":
				got, err = literal(s)
			case "files":
				got, err = pairOf(s, read)
			}
			if err != nil {
				return nil, tree.Errorf(config, fmt.Sprintf("resource.%s[%d]", field, i), "", "loading KV pairs: %v", err)
			}
			all = append(all, got...)
		}
	}
	return all, nil
}

// literal reads KEY=VALUE; one pair of surrounding quotes is not part of the
// value.
func literal(s string) ([]pair, error) {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return nil, errors.New("invalid literal source, expected key=value")
	}
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		value = value[1 : n-1]
	}
	return []pair{{key, value}}, nil
}

// pairOf reads PATH or KEY=PATH; without a key the base name is the key.
func pairOf(s string, read func(string) ([]byte, error)) ([]pair, error) {
	key, name := path.Base(s), s
	switch strings.Count(s, "=") {
	case 0:
	case 1:
		key, name, _ = strings.Cut(s, "=")
	default:
		return nil, errors.New("key names or file paths cannot contain '='")
	}
	switch {
	case key == "":
		return nil, fmt.Errorf("missing key name for file path %s in %q", name, s)
	case name == "":
		return nil, fmt.Errorf("missing file path for key name %s in %q", key, s)
	}
	content, err := read(name)
	if err != nil {
		return nil, err
	}
	return []pair{{key, string(content)}}, nil
}

// env reads a file of KEY=VALUE lines. Space before the key goes, blank lines
// and comments are skipped, a line without "=" has an empty value.
func env(name string, read func(string) ([]byte, error)) ([]pair, error) {
	content, err := read(name)
	if err != nil {
		return nil, err
	}
	var out []pair
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	for i, line := range strings.Split(string(content), "\n") {
		if !utf8.ValidString(line) {
			return nil, fmt.Errorf("%s: line %d has invalid utf8 bytes", name, i+1)
		}
		line = strings.TrimLeftFunc(strings.TrimSuffix(line, "\r"), unicode.IsSpace)
		key, value, _ := strings.Cut(line, "=")
		if key != "" && line[0] != '#' {
			out = append(out, pair{key, value})
		}
	}
	return out, nil
}
