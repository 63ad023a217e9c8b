package rdgen

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

type pair struct{ key, value string }

// pairs loads all sources in the older generator's order: envs, literals,
// files. Messages name sources by their place, never by their content, which
// may be secret.
func (c settings) pairs(config *tree.Node, read func(string) ([]byte, error)) ([]pair, error) {
	var all []pair
	for _, source := range []struct {
		field string
		list  []string
		load  func(string) ([]pair, error)
	}{
		{"envs", c.Resource.Envs, func(s string) ([]pair, error) { return env(s, read) }},
		{"literals", c.Resource.Literals, literal},
		{"files", c.Resource.Files, func(s string) ([]pair, error) { return file(s, read) }},
	} {
		for i, s := range source.list {
			got, err := source.load(s)
			if err != nil {
				return nil, tree.Errorf(config, fmt.Sprintf("resource.%s[%d]", source.field, i), "", "loading KV pairs: %v", err)
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

// file reads PATH or KEY=PATH; without a key the base name is the key.
func file(s string, read func(string) ([]byte, error)) ([]pair, error) {
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
