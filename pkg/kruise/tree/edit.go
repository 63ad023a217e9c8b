package tree

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// special is what YAML 1.1 gives a meaning that Go's reader does not know:
// numbers to the base 60, the merge key and the default key.
var special = regexp.MustCompile(`^([-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|<<|=)$`)

// String returns a text scalar, quoted where a YAML 1.1 or 1.2 reader would
// take the plain form for something else ("yes", "1e3", "0777", "").
func String(s string) *Node {
	n := &Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagString, Value: s}
	if !plainSafe(s) && (flowSafe(s) || yaml.IsYaml1_1NonString(n) || special.MatchString(s)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// plainSafe reports whether s certainly reads as text in every YAML version. It keeps the
// exact test, which runs a parser, away from nearly all strings. What is certain:
//   - the empty string, which the printer quotes,
//   - a word of six letters or more,
//   - printable characters in one scalar that begin with a letter, a path or a flag, but
//     for the few words that are known,
//   - a number with a character that none has.
func plainSafe(s string) bool {
	switch {
	case s == "" || len(s) >= 6 && letters(s[:6]):
		return true
	case !oneScalar(s):
		return false
	case isDigit(s[0]):
		return strings.ContainsAny(s, inNoNumber)
	case isLetter(s[0]):
		return len(s) > 5 || !meaning[strings.ToLower(s)]
	}
	return leads(s, "/") || leads(s, "-") || leads(s, "--") || leads(s, "./") || leads(s, "$(")
}

// leads reports whether s is the prefix and then a letter.
func leads(s, prefix string) bool {
	return len(s) > len(prefix) && s[:len(prefix)] == prefix && isLetter(s[len(prefix)])
}

// flowSafe reports whether s is certainly a list or a mapping for every YAML reader: JSON
// without escapes, short enough for the limit of a key's length.
func flowSafe(s string) bool {
	return len(s) > 1 && len(s) < 1000 && (s[0] == '{' || s[0] == '[') && strings.IndexByte(s, '\\') < 0 && printable(s) && json.Valid([]byte(s))
}

// meaning are the words that are more than text, inNoNumber the characters that no number
// and no time has in it, of whatever base.
var meaning = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true}

const inNoNumber = "GHIJKLMNPQRSUVWYghijklmnpqrsuvwy,%"

// oneScalar reports characters that form one plain scalar unless the first one forbids it:
// no comment, no key, no space at an end.
func oneScalar(s string) bool {
	return printable(s) && strings.IndexByte(s, '#') < 0 && s[len(s)-1] != ':' && s[len(s)-1] != ' ' && !strings.Contains(s, ": ")
}

// printable reports ASCII characters without control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func letters(s string) bool {
	for _, c := range []byte(s) {
		if !isLetter(c) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Int64 returns an integer scalar.
func Int64(v int64) *Node {
	return &Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagInt, Value: strconv.FormatInt(v, 10)}
}

// Boolean returns a boolean scalar.
func Boolean(v bool) *Node {
	return &Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagBool, Value: strconv.FormatBool(v)}
}

// Null returns a null scalar.
func Null() *Node { return &Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagNull, Value: "null"} }

// Seq returns a sequence of items.
func Seq(items ...*Node) *Node {
	return &Node{Kind: yaml.SequenceNode, Tag: yaml.NodeTagSeq, Content: items}
}

// Map returns a mapping of alternating keys (string) and values (*Node, string,
// int, int64 or bool). It panics on any other type, which is a programming
// error and no matter of input.
func Map(pairs ...any) *Node {
	n := &Node{Kind: yaml.MappingNode, Tag: yaml.NodeTagMap, Content: make([]*Node, 0, len(pairs))}
	for i := 0; i+1 < len(pairs); i += 2 {
		n.Content = append(n.Content, String(pairs[i].(string)), literal(pairs[i+1]))
	}
	return n
}

func literal(v any) *Node {
	switch v := v.(type) {
	case *Node:
		return v
	case string:
		return String(v)
	case int:
		return Int64(int64(v))
	case int64:
		return Int64(v)
	case bool:
		return Boolean(v)
	}
	panic(fmt.Sprintf("tree.Map: unsupported literal %T", v))
}

// Set gives key the value v in the mapping n: in its place when key is there,
// else behind the other keys.
func Set(n *Node, key string, v *Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content[i+1] = v
			return
		}
	}
	n.Content = append(n.Content, String(key), v)
}

// SetAt sets the last key of path below n and makes the mappings on the way.
func SetAt(n *Node, v *Node, path ...string) {
	Set(Ensure(n, path[:len(path)-1]...), path[len(path)-1], v)
}

// InsertAfter sets key to v; a new key is put behind the key after, or at the
// end when that is missing.
func InsertAfter(n *Node, after, key string, v *Node) {
	if Has(n, key) {
		Set(n, key, v)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == after {
			rest := append([]*Node{String(key), v}, n.Content[i+2:]...)
			n.Content = append(n.Content[:i+2], rest...)
			return
		}
	}
	n.Content = append(n.Content, String(key), v)
}

// Delete removes key from the mapping n and returns its value, nil when it
// was not there.
func Delete(n *Node, key string) *Node {
	if !IsMap(n) {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			v := n.Content[i+1]
			n.Content = append(n.Content[:i], n.Content[i+2:]...)
			return v
		}
	}
	return nil
}

// DeleteAt removes the last key of path below n and returns its value.
func DeleteAt(n *Node, path ...string) *Node {
	return Delete(Get(n, path[:len(path)-1]...), path[len(path)-1])
}

// Ensure returns the mapping that path leads to and makes what is missing of
// it. A null or a value of another shape on the way is replaced.
func Ensure(n *Node, path ...string) *Node {
	for _, key := range path {
		next := field(n, key)
		if !IsMap(next) {
			next = Map()
			Set(n, key, next)
		}
		n = next
	}
	return n
}

// EnsureSeq returns the sequence at the end of path, made when missing.
func EnsureSeq(n *Node, path ...string) *Node {
	parent := Ensure(n, path[:len(path)-1]...)
	key := path[len(path)-1]
	if s := field(parent, key); IsSeq(s) {
		return s
	}
	s := Seq()
	Set(parent, key, s)
	return s
}

// SortKeys orders the keys of a mapping alphabetically, at this level only.
func SortKeys(n *Node) {
	if !IsMap(n) {
		return
	}
	type pair struct{ k, v *Node }
	pairs := make([]pair, 0, len(n.Content)/2)
	Each(n, func(k, v *Node) { pairs = append(pairs, pair{k, v}) })
	sort.SliceStable(pairs, func(i, j int) bool { return pairs[i].k.Value < pairs[j].k.Value })
	for i, p := range pairs {
		n.Content[2*i], n.Content[2*i+1] = p.k, p.v
	}
}

// Clone returns a deep copy of n that shares nothing with it.
func Clone(n *Node) *Node {
	if n == nil {
		return nil
	}
	c := *n
	if n.Content != nil {
		c.Content = make([]*Node, len(n.Content))
		for i, child := range n.Content {
			c.Content[i] = Clone(child)
		}
	}
	return &c
}

// Shallow returns a copy of n whose children are n's own. Use it to change one
// level of a tree that others hold too.
func Shallow(n *Node) *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Content = append([]*Node(nil), n.Content...)
	return &c
}

// Append adds copies of items to a list, which is then written line by line:
// items may have comments.
func Append(list *Node, items []*Node) {
	list.Style &^= yaml.FlowStyle
	for _, item := range items {
		list.Content = append(list.Content, Clone(item))
	}
}

// Replace puts the key by with the value v in the place of key in the mapping n,
// and removes key. When by has a place of its own already, it keeps that; when
// key is not there, by is set as Set does.
func Replace(n *Node, key, by string, v *Node) {
	if !Has(n, by) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				n.Content[i], n.Content[i+1] = String(by), v
				return
			}
		}
	}
	Set(n, by, v)
	Delete(n, key)
}
