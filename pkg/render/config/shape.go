package config

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// shape is what the value of an option looks like.
type shape string

// The shapes, as messages call them.
const (
	text    shape = "text"
	flag    shape = "true or false"
	list    shape = "a list of texts"
	table   shape = "a mapping of texts"
	sources shape = "a list of objects and of file names"
)

func (s shape) fits(v *tree.Node) bool {
	switch s {
	case text:
		return isText(v)
	case flag:
		return tree.IsBool(v)
	case list:
		return all(v, isText)
	case table:
		fits := tree.IsMap(v)
		tree.Each(v, func(_, value *tree.Node) { fits = fits && isText(value) })
		return fits
	default:
		return all(v, func(n *tree.Node) bool { return tree.IsMap(n) || isText(n) })
	}
}

func isText(n *tree.Node) bool { return tree.IsString(n) && n.Value != "" }

func all(v *tree.Node, f func(*tree.Node) bool) bool {
	for _, n := range tree.Items(v) {
		if !f(n) {
			return false
		}
	}
	return tree.IsSeq(v)
}

// fromText reads the value of the named option as a ConfigMap or an annotation
// holds it: lists are parted by commas or white space, a mapping is a list of
// KEY=VALUE. What cannot be read stays text, which then does not fit.
func fromText(name, s string) *tree.Node {
	s = strings.TrimSpace(s)
	switch options[name].shape {
	case flag:
		if s == "true" || s == "false" {
			return tree.Boolean(s == "true")
		}
	case list, sources:
		out := tree.Seq()
		for _, word := range words(s) {
			out.Content = append(out.Content, tree.String(word))
		}
		return out
	case table:
		return pairs(s)
	}
	return tree.String(s)
}

func pairs(s string) *tree.Node {
	out := tree.Map()
	for _, word := range words(s) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return tree.String(s)
		}
		tree.Set(out, key, tree.String(value))
	}
	return out
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' })
}
