package tree

import (
	"bytes"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Weight is how much a tree is when it is written out: what it shares with others, or
// holds twice, counts each time.
type Weight struct {
	// Nodes are the values and keys, Bytes the text of them as block YAML, about.
	Nodes, Bytes int64
}

// Add returns both together.
func (w Weight) Add(o Weight) Weight { return Weight{w.Nodes + o.Nodes, w.Bytes + o.Bytes} }

// Times returns n of the kind.
func (w Weight) Times(n int) Weight { return Weight{w.Nodes * int64(n), w.Bytes * int64(n)} }

// Weigh counts what is in n.
func Weigh(n *Node) Weight {
	var w Weight
	if n != nil {
		w.add(n, 0, false)
	}
	return w
}

// Count returns how many values and keys are in n, and the bytes of these alone, without what is
// written around them.
func Count(n *Node) Weight {
	if n == nil {
		return Weight{}
	}
	return count(n, 0)
}

// count stops once there are more nodes than most; 0 means no limit.
func count(n *Node, most int64) Weight {
	w := Weight{1, int64(len(n.Value) + len(n.HeadComment) + len(n.LineComment) + len(n.FootComment))}
	for _, child := range n.Content {
		if most > 0 && w.Nodes > most {
			break
		}
		w = w.Add(count(child, most-w.Nodes))
	}
	return w
}

// add counts n, whose lines are indented by indent characters; within is true if n is an item of a
// sequence, on whose line its own first line begins.
func (w *Weight) add(n *Node, indent int, within bool) {
	w.Nodes++
	w.Bytes += int64(len(n.HeadComment) + len(n.LineComment) + len(n.FootComment))
	switch n.Kind {
	case yaml.ScalarNode:
		w.Bytes += textBytes(n.Value, indent)
	case yaml.MappingNode:
		for i, child := range n.Content {
			if i%2 == 0 {
				w.line(indent, i == 0 && within)
			}
			w.add(child, indent+2, false)
		}
	default:
		for i, child := range n.Content {
			w.line(indent, i == 0 && within)
			w.add(child, indent+2, true)
		}
	}
}

// line counts what is around an entry on its line, and before it unless it continues
// another.
func (w *Weight) line(indent int, continues bool) {
	w.Bytes += int64(len(": \n"))
	if !continues {
		w.Bytes += int64(indent)
	}
}

// textBytes is how long a scalar is: each of its lines is indented, and a control
// character is written as an escape.
func textBytes(s string, indent int) int64 {
	n := len(s)
	for i := range len(s) {
		switch {
		case s[i] == '\n':
			n += indent
		case s[i] < ' ' || s[i] == 0x7f:
			n += len(`\u0001`) - 1
		}
	}
	return int64(n)
}

// Separators is the largest number of values that a text can have, by the characters between and
// around them: a parser needs about two hundred bytes for each.
func Separators(text []byte) int {
	n := 0
	for _, mark := range []string{",", "\n", ":", "[", "{", "- ", "? "} {
		n += bytes.Count(text, []byte(mark))
	}
	return n
}
