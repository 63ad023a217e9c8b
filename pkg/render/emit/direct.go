package emit

import (
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// direct writes the documents that make up nearly all manifests, in block style with plain
// text, in one walk: the very bytes that yaml.v3 writes, without an event of 300 bytes for
// each node. It gives every other document back, to be encoded by yaml.v3: with
// anchors, tags, comments at the foot, lists in lists, folded text, letters that are escaped.
// FuzzDirect and TestDirect hold it to the library.
type direct struct {
	out []byte
	// wide is true if lists are indented below their keys.
	wide bool
}

// document returns the text of n, valid until the next call; ok is false when yaml.v3 has to
// write it.
func (d *direct) document(n *tree.Node, style yaml.SequenceIndentStyle) (text []byte, ok bool) {
	d.out, d.wide = d.out[:0], style == yaml.WideSequenceStyle
	ok = n != nil && n.Kind == yaml.MappingNode && isBlock(n) && n.HeadComment == "" && d.mapping(n, 0, false)
	return d.out, ok
}

// mapping writes the fields of n; begun is true if the first one is on the current line, behind
// "- ".
func (d *direct) mapping(n *tree.Node, indent int, begun bool) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !isText(key) || key.LineComment != "" || !d.begin(key, indent, begun && i == 0) || !d.text(key, inKey) {
			return false
		}
		d.out = append(d.out, ':')
		if !d.field(n.Content[i+1], indent) {
			return false
		}
	}
	return true
}

// field writes what follows the colon of a key.
func (d *direct) field(n *tree.Node, indent int) bool {
	switch {
	case n.HeadComment != "":
		return false
	case !isBlock(n):
		d.out = append(d.out, ' ')
		return d.inline(n, indent)
	}
	d.out = append(d.out, '\n')
	if n.Kind == yaml.MappingNode {
		return d.mapping(n, indent+step, false)
	}
	if d.wide {
		indent += step
	}
	return d.sequence(n, indent)
}

// step is by how much what is in a mapping is indented, and what follows "- ".
const step = 2

func (d *direct) sequence(n *tree.Node, indent int) bool {
	for _, item := range n.Content {
		if !d.begin(item, indent, false) {
			return false
		}
		d.out = append(d.out, "- "...)
		switch {
		case !isBlock(item):
			if !d.inline(item, indent) {
				return false
			}
		case item.Kind == yaml.SequenceNode || !d.mapping(item, indent+step, true):
			return false
		}
	}
	return true
}

// inline writes what begins on the line of its key, and ends the line.
func (d *direct) inline(n *tree.Node, indent int) bool {
	if isText(n) && (n.Style&yaml.LiteralStyle != 0 || n.Style == 0 && strings.Contains(n.Value, "\n")) {
		return n.LineComment == "" && d.literal(n, indent+step)
	}
	if !d.flow(n, inBlock) {
		return false
	}
	if n.LineComment != "" {
		if !comment(n.LineComment) || strings.Contains(n.LineComment, "\n") {
			return false
		}
		d.out = append(append(d.out, ' '), n.LineComment...)
	}
	d.out = append(d.out, '\n')
	return true
}

// flow writes a scalar, or a collection in brackets.
func (d *direct) flow(n *tree.Node, where spot) bool {
	switch {
	case isText(n):
		return d.text(n, where)
	case !isCollection(n) || where == inBlock && n.Style == 0 && len(n.Content) > 0:
		return false
	case n.Kind == yaml.SequenceNode:
		return d.brackets(n, '[', ']', 1)
	}
	return d.brackets(n, '{', '}', 2)
}

// brackets writes the elements of n, each of stride nodes.
func (d *direct) brackets(n *tree.Node, left, right byte, stride int) bool {
	d.out = append(d.out, left)
	for i := 0; i+stride <= len(n.Content); i += stride {
		if i > 0 {
			d.out = append(d.out, ", "...)
		}
		if stride == 2 {
			if key := n.Content[i]; !isText(key) || !hasNoComment(key) || !d.text(key, inFlowKey) {
				return false
			}
			d.out = append(d.out, ": "...)
		}
		if last := n.Content[i+stride-1]; !hasNoComment(last) || !d.flow(last, inFlow) {
			return false
		}
	}
	d.out = append(d.out, right)
	return true
}

// begin writes the comment above n and indents the line of n, unless that is begun.
func (d *direct) begin(n *tree.Node, indent int, begun bool) bool {
	if n.HeadComment != "" {
		if begun || !comment(n.HeadComment) {
			return false
		}
		for line := range strings.SplitSeq(n.HeadComment, "\n") {
			d.indent(indent)
			d.out = append(append(d.out, line...), '\n')
		}
	}
	if !begun {
		d.indent(indent)
	}
	return true
}

func (d *direct) indent(by int) {
	for range by {
		d.out = append(d.out, ' ')
	}
}

// comment reports whether every line of a comment can be written as it is.
func comment(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "#") || strings.ContainsAny(line, "\r\u0085\u2028\u2029") {
			return false
		}
	}
	return true
}

// hasNoComment reports whether there is no comment at n.
func hasNoComment(n *tree.Node) bool { return n.HeadComment == "" && n.LineComment == "" }

// isText and isCollection report whether n is such a node without anything unusual.
func isText(n *tree.Node) bool { return n.Kind == yaml.ScalarNode && isPlainNode(n) }

func isCollection(n *tree.Node) bool {
	tag := yaml.NodeTagMap
	if n.Kind == yaml.SequenceNode {
		tag = yaml.NodeTagSeq
	}
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && isPlainNode(n) && n.Style&^yaml.FlowStyle == 0 &&
		(n.Tag == "" || n.Tag == tag)
}

func isPlainNode(n *tree.Node) bool {
	return n.Anchor == "" && n.FootComment == ""
}

// isBlock reports whether n is a collection over several lines.
func isBlock(n *tree.Node) bool {
	return isCollection(n) && n.Style == 0 && len(n.Content) > 0 && n.LineComment == ""
}

// spot is the place of a text.
type spot int

const (
	inBlock spot = iota
	inKey
	inFlow
	inFlowKey
)

// longestKey is the length from which YAML wants keys marked by a question mark.
const longestKey = 128

// text writes a scalar of one line.
func (d *direct) text(n *tree.Node, where spot) bool {
	v := n.Value
	if v == "<<" || !printable(v) || (where == inKey || where == inFlowKey) && (v == "" || len(v) > longestKey) {
		return false
	}
	switch n.Style {
	case 0:
		return d.plain(n, where)
	case yaml.DoubleQuotedStyle:
		d.doubleQuoted(v)
	case yaml.SingleQuotedStyle:
		d.singleQuoted(v)
	default:
		return false
	}
	return n.Tag == "" || n.Tag == yaml.NodeTagString
}

// plain writes a scalar without quotes, if it means the same then.
func (d *direct) plain(n *tree.Node, where spot) bool {
	v := n.Value
	if n.Tag == yaml.NodeTagString && !isReadAs(v, yaml.NodeTagString) {
		d.doubleQuoted(v)
		return true
	}
	switch {
	case v == "" || n.Tag != "" && n.Tag != yaml.NodeTagString && !isReadAs(v, n.Tag):
		return false
	case needsNoQuotes(v, where == inFlow || where == inFlowKey):
		d.out = append(d.out, v...)
	default:
		d.singleQuoted(v)
	}
	return true
}

func (d *direct) singleQuoted(v string) {
	d.out = append(d.out, '\'')
	for i := range len(v) {
		if v[i] == '\'' {
			d.out = append(d.out, '\'')
		}
		d.out = append(d.out, v[i])
	}
	d.out = append(d.out, '\'')
}

func (d *direct) doubleQuoted(v string) {
	d.out = append(d.out, '"')
	for i := range len(v) {
		if v[i] == '"' || v[i] == '\\' {
			d.out = append(d.out, '\\')
		}
		d.out = append(d.out, v[i])
	}
	d.out = append(d.out, '"')
}

// literal writes a text of several lines; a block of its own shows where it ends.
func (d *direct) literal(n *tree.Node, indent int) bool {
	v := n.Value
	if n.Style&^yaml.LiteralStyle != 0 || n.Tag != "" && n.Tag != yaml.NodeTagString || !fitsBlock(v) {
		return false
	}
	d.out = append(d.out, '|')
	if !strings.HasSuffix(v, "\n") {
		d.out = append(d.out, '-')
	}
	d.out = append(d.out, '\n')
	for line := range strings.Lines(v) {
		if line != "\n" {
			d.indent(indent)
		}
		d.out = append(d.out, line...)
	}
	if !strings.HasSuffix(v, "\n") {
		d.out = append(d.out, '\n')
	}
	return true
}

// fitsBlock reports whether a block holds v without any further mark: yaml.v3 quotes text with
// blanks at the end of lines, and counts indentation and empty lines at the edges.
func fitsBlock(v string) bool {
	if v == "" || strings.ContainsRune(" \t\n", rune(v[0])) || strings.HasSuffix(v, "\n\n") || strings.HasSuffix(v, " ") || strings.Contains(v, " \n") {
		return false
	}
	for line := range strings.Lines(v) {
		if !printable(strings.TrimSuffix(line, "\n")) {
			return false
		}
	}
	return true
}

// printable reports whether v is one line of letters that need no escape. yaml.v3 escapes
// those beyond the basic plane.
func printable(v string) bool {
	for _, r := range v {
		switch {
		case r >= ' ' && r <= '~', r >= 0xa0 && r < 0x2028, r > 0x2029 && r < 0xd800, r >= 0xe000 && r < 0xfeff:
		case r > 0xfeff && r < utf8.RuneError:
		default:
			return false
		}
	}
	return true
}

// isReadAs reports whether a plain v is read with that tag.
func isReadAs(v, tag string) bool { return tree.PlainTag(v) == tag }

// needsNoQuotes reports whether v, which is not empty, can be written without quotes (YAML 1.1, as
// libyaml reads it).
func needsNoQuotes(v string, flow bool) bool {
	if v[0] == ' ' || v[len(v)-1] == ' ' || strings.HasPrefix(v, "---") || strings.HasPrefix(v, "...") {
		return false
	}
	first := `#,[]{}&*!|>'"%@` + "`"
	if flow {
		first += "?:"
	}
	if strings.IndexByte(first, v[0]) >= 0 {
		return false
	}
	for i := range len(v) {
		last := i+1 == len(v) || v[i+1] == ' '
		switch v[i] {
		case ':':
			if flow || last {
				return false
			}
		case '#':
			if v[i-1] == ' ' {
				return false
			}
		case '-', '?':
			if i == 0 && last || flow && v[i] == '?' {
				return false
			}
		case ',', '[', ']', '{', '}':
			if flow {
				return false
			}
		}
	}
	return true
}
