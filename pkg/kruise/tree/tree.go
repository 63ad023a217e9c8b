// Package tree reads and edits YAML node trees without losing what it does not
// understand: comments, key order, quoting and unknown fields stay where they
// are. It is the ground that the pure rooms (injection, conversion, lowering)
// are built on, and knows nothing of Kubernetes, files or clusters.
//
// All functions accept nil nodes and treat them as "not there". Trees are
// expected to be free of aliases; [Expand] makes them so.
package tree

import (
	"strconv"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Node is one node of a YAML document: a mapping, a sequence or a scalar.
type Node = yaml.Node

// Root returns the content of a document node, and any other node as it is.
func Root(n *Node) *Node {
	if n != nil && n.Kind == yaml.DocumentNode {
		if len(n.Content) == 0 {
			return nil
		}
		return n.Content[0]
	}
	return n
}

// Get follows mapping keys from n and returns the node at their end, or nil
// when a key is missing, a step is not a mapping, or the value is null.
func Get(n *Node, path ...string) *Node {
	for _, key := range path {
		n = field(n, key)
	}
	if IsNull(n) {
		return nil
	}
	return n
}

func field(n *Node, key string) *Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Has reports whether the mapping n holds key, be its value null or not.
func Has(n *Node, key string) bool { return field(n, key) != nil }

// IsNull reports whether n is missing or an explicit null.
func IsNull(n *Node) bool {
	return n == nil || n.Kind == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == yaml.NodeTagNull
}

// IsMap reports whether n is a mapping.
func IsMap(n *Node) bool { return n != nil && n.Kind == yaml.MappingNode }

// IsSeq reports whether n is a sequence.
func IsSeq(n *Node) bool { return n != nil && n.Kind == yaml.SequenceNode }

// IsScalar reports whether n is a scalar, null included.
func IsScalar(n *Node) bool { return n != nil && n.Kind == yaml.ScalarNode }

// IsString reports whether n is a scalar that YAML reads as text.
func IsString(n *Node) bool { return IsScalar(n) && n.ShortTag() == yaml.NodeTagString }

// IsBool reports whether n is a scalar that YAML reads as true or false.
func IsBool(n *Node) bool { return IsScalar(n) && n.ShortTag() == yaml.NodeTagBool }

// Str returns the text of a scalar as it was written, "" for anything else.
func Str(n *Node) string {
	if IsScalar(n) && !IsNull(n) {
		return n.Value
	}
	return ""
}

// StrAt is Str of the node that path leads to.
func StrAt(n *Node, path ...string) string { return Str(Get(n, path...)) }

// Int returns the value of an integer scalar; ok is false for anything else.
func Int(n *Node) (v int64, ok bool) {
	if !IsScalar(n) || n.ShortTag() != yaml.NodeTagInt {
		return 0, false
	}
	v, err := strconv.ParseInt(n.Value, 0, 64)
	return v, err == nil
}

// Bool returns the value of a boolean scalar, false for anything else.
func Bool(n *Node) bool {
	return IsBool(n) && (n.Value[0] == 't' || n.Value[0] == 'T')
}

// Items returns the elements of a sequence, nil for anything else. The slice
// is the node's own: do not append to it.
func Items(n *Node) []*Node {
	if !IsSeq(n) {
		return nil
	}
	return n.Content
}

// Each calls f for every key and value of a mapping, in their order.
func Each(n *Node, f func(key, value *Node)) {
	if !IsMap(n) {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i], n.Content[i+1])
	}
}

// Strings returns a mapping of text to text (labels, annotations), nil when n
// is not a mapping. Values that are not text appear as they were written.
func Strings(n *Node) map[string]string {
	if !IsMap(n) {
		return nil
	}
	m := make(map[string]string, len(n.Content)/2)
	Each(n, func(k, v *Node) { m[k.Value] = Str(v) })
	return m
}

// Find returns the first element of the sequence n whose scalar field key is
// value, with its index, or nil and -1.
func Find(n *Node, key, value string) (*Node, int) {
	for i, item := range Items(n) {
		if f := field(item, key); f != nil && f.Value == value {
			return item, i
		}
	}
	return nil, -1
}
