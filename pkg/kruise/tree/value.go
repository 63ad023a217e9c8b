package tree

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Value returns n as the values that encoding/json knows: map[string]any,
// []any, string, int64, float64, bool and nil.
func Value(n *Node) any {
	if IsNull(n) {
		return nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return Value(Root(n))
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		Each(n, func(k, v *Node) { m[k.Value] = Value(v) })
		return m
	case yaml.SequenceNode:
		s := make([]any, len(n.Content))
		for i, item := range n.Content {
			s[i] = Value(item)
		}
		return s
	}
	return scalar(n)
}

func scalar(n *Node) any {
	switch n.ShortTag() {
	case yaml.NodeTagBool:
		return Bool(n)
	case yaml.NodeTagInt:
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return v
		}
		return floating(n.Value)
	case yaml.NodeTagFloat:
		return floating(n.Value)
	}
	return n.Value
}

// floating reads a float, as an integer where it is one: 6E0 and 6 are the same to JSON.
// What JSON cannot hold (.inf, .nan) stays text.
func floating(s string) any {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return s
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 && (v != 0 || !math.Signbit(v)) {
		return int64(v)
	}
	return v
}

// FromValue returns the node of a JSON-like value, with mapping keys in
// alphabetical order. Types beyond those that [Value] returns go through
// encoding/json.
func FromValue(v any) *Node { return (*Shared)(nil).FromValue(v) }

// Shared makes nodes as the function [FromValue] does, but those of one text or number
// once: for programs that keep thousands of objects unchanged. Its zero value is
// ready; nil shares nothing.
type Shared struct {
	texts   map[string]*Node
	numbers map[int64]*Node
}

// FromValue returns a node whose scalars others have part in.
func (s *Shared) FromValue(v any) *Node {
	switch v := v.(type) {
	case nil:
		return Null()
	case *Node:
		return v
	case string:
		return s.text(v)
	case bool:
		return Boolean(v)
	case int:
		return s.number(int64(v))
	case int32:
		return s.number(int64(v))
	case int64:
		return s.number(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return Int64(int64(v))
		}
		return &Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagFloat, Value: strconv.FormatFloat(v, 'g', -1, 64)}
	case map[string]any:
		n := Map()
		n.Content = make([]*Node, 0, 2*len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, s.text(k), s.FromValue(v[k]))
		}
		return n
	case []any:
		items := make([]*Node, len(v))
		for i := range v {
			items[i] = s.FromValue(v[i])
		}
		return Seq(items...)
	}
	if plain, ok := plainly(v, asInteger); ok {
		return s.FromValue(plain)
	}
	return s.FromValue(fromJSON(v))
}

func (s *Shared) text(v string) *Node {
	if s == nil {
		return String(v)
	}
	if s.texts == nil {
		s.texts = map[string]*Node{}
	}
	if s.texts[v] == nil {
		s.texts[v] = String(v)
	}
	return s.texts[v]
}

func (s *Shared) number(v int64) *Node {
	if s == nil {
		return Int64(v)
	}
	if s.numbers == nil {
		s.numbers = map[int64]*Node{}
	}
	if s.numbers[v] == nil {
		s.numbers[v] = Int64(v)
	}
	return s.numbers[v]
}

// fromJSON serves typed values. They come from the Kubernetes API types, which
// always marshal; a value that does not is a programming error.
func fromJSON(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("tree.FromValue: %v", err))
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		panic(fmt.Sprintf("tree.FromValue: %v", err))
	}
	return numbers(plain)
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// Equal reports whether two trees mean the same: key order, style and comments
// do not count, list order does.
func Equal(a, b *Node) bool {
	if IsNull(a) || IsNull(b) {
		return IsNull(a) && IsNull(b)
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case yaml.ScalarNode:
		return jsonTag(a) == jsonTag(b) && scalar(a) == scalar(b)
	case yaml.SequenceNode:
		if len(a.Content) != len(b.Content) {
			return false
		}
		for i := range a.Content {
			if !Equal(a.Content[i], b.Content[i]) {
				return false
			}
		}
		return true
	case yaml.MappingNode:
		if len(a.Content) != len(b.Content) {
			return false
		}
		for i := 0; i+1 < len(a.Content); i += 2 {
			v := field(b, a.Content[i].Value)
			if v == nil || !Equal(a.Content[i+1], v) {
				return false
			}
		}
		return true
	}
	return Equal(Root(a), Root(b))
}

// jsonTag is the tag of a scalar as JSON, and so Kubernetes, has it: a time is a text.
func jsonTag(n *Node) string {
	if tag := n.ShortTag(); tag != "!!timestamp" {
		return tag
	}
	return yaml.NodeTagString
}
