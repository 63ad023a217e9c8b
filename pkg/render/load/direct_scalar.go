package load

import (
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// key reads the key at the place, below a comment; colon is the position of its colon, which is
// followed by a space or nothing.
func (d *direct) key(at int, head string) (key *tree.Node, colon int, ok bool) {
	quote := d.text[at]
	isQuoted := quote == '"' || quote == '\''
	if isQuoted {
		key, colon, ok = d.quoted(at)
	} else {
		colon = d.plainEnd(at, false)
		ok = at < colon && d.text[colon-1] != ' '
	}
	ok = ok && colon < d.line.end && d.text[colon] == ':' && (colon+1 == d.line.end || d.text[colon+1] == ' ')
	if !ok || colon-at > longestKey || !d.ascii && !isASCII(d.text[at:colon]) {
		return nil, 0, false
	}
	if !isQuoted {
		key, ok = d.plainKey(at, colon, head)
	}
	if ok && head != "" {
		key.HeadComment = head
	}
	return key, colon, ok
}

// plainKey is the key between the places, one that documents share where it has no comment and
// is text for every reader.
func (d *direct) plainKey(at, end int, head string) (key *tree.Node, ok bool) {
	shared := sharedKey{d.text[at:end], at - d.line.start + 1}
	if head == "" {
		if key := d.keys[shared]; key != nil {
			d.made++
			return key, true
		}
	}
	if key, ok = d.plain(at, end); !ok || key.Tag == yaml.NodeTagNull {
		return nil, false
	}
	if letter := key.Value[0] | 0x20; head == "" && letter >= 'a' && letter <= 'z' && key.Tag == yaml.NodeTagString && !tree.OldBool(key) {
		shared.text = strings.Clone(shared.text)
		key.Value, key.Line = shared.text, 0
		d.keys[shared] = key
	}
	return key, true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// inline reads the value that begins at the place, in a block in the column, to the end of its
// lines.
func (d *direct) inline(at, column int) (n *tree.Node, ok bool) {
	var after int
	switch d.text[at] {
	case '|':
		return d.literal(at, column)
	case '[', '{':
		if !d.ascii && !isASCII(d.text[at:d.line.end]) {
			return nil, false
		}
		n, after, ok = d.flow(at, 0)
	case '"', '\'':
		n, after, ok = d.quoted(at)
	default:
		after = d.plainEnd(at, false)
		n, ok = d.plain(at, after)
	}
	if !ok {
		return nil, false
	}
	if from := d.spaces(after); from < d.line.end {
		// plainEnd stops in front of the '#', behind the spaces.
		if d.text[from] != '#' || d.text[from-1] != ' ' || from-after > widest {
			return nil, false
		}
		n.LineComment = d.text[from:d.line.end]
	}
	return n, d.advance() && d.line.column() <= column
}

// plainEnd is where a text without quotes ends at the latest: at a colon, a comment or, within
// brackets, what separates elements.
func (d *direct) plainEnd(at int, flow bool) int {
	for i := at; i < d.line.end; i++ {
		switch d.text[i] {
		case ':':
			if i+1 == d.line.end || d.text[i+1] == ' ' {
				return i
			}
		case '#':
			if i > at && d.text[i-1] == ' ' {
				return i
			}
		case ',', '[', ']', '{', '}', '?':
			if flow {
				return i
			}
		}
	}
	return d.line.end
}

// plain returns the text between the places, without the spaces behind it.
func (d *direct) plain(at, end int) (n *tree.Node, ok bool) {
	for end > at && d.text[end-1] == ' ' {
		end--
	}
	if end == at {
		return nil, false
	}
	v := d.text[at:end]
	if strings.IndexByte("?:,[]{}#&*!|>'\"%@`", v[0]) >= 0 || v[0] == '-' && (len(v) == 1 || v[1] == ' ') || v == "<<" {
		return nil, false
	}
	n = d.node(yaml.ScalarNode, tree.PlainTag(v), at)
	n.Value = v
	return n, true
}

// quoted reads the text in quotes that begins at the place.
func (d *direct) quoted(at int) (n *tree.Node, after int, ok bool) {
	rest := d.text[at+1 : d.line.end]
	quote, style := d.text[at], yaml.DoubleQuotedStyle
	if quote == '\'' {
		style = yaml.SingleQuotedStyle
	}
	end := strings.IndexByte(rest, quote)
	switch {
	case end < 0 || quote == '"' && strings.IndexByte(rest[:end], '\\') >= 0:
		return nil, 0, false
	case quote == '\'' && end+1 < len(rest) && rest[end+1] == quote:
		return nil, 0, false
	}
	n = d.node(yaml.ScalarNode, yaml.NodeTagString, at)
	n.Value, n.Style = rest[:end], style
	return n, at + 1 + end + 1, true
}

// flow reads the list or the mapping in brackets that begins at the place and ends on this line.
func (d *direct) flow(at, depth int) (n *tree.Node, after int, ok bool) {
	kind, tag, closing := yaml.SequenceNode, yaml.NodeTagSeq, byte(']')
	if d.text[at] == '{' {
		kind, tag, closing = yaml.MappingNode, yaml.NodeTagMap, '}'
	}
	n = d.node(kind, tag, at)
	n.Style = yaml.FlowStyle
	first := len(d.open)
	for at = d.spaces(at + 1); ; at = d.spaces(at + 1) {
		if at < d.line.end && d.text[at] == closing && first == len(d.open) {
			break
		}
		if kind == yaml.MappingNode {
			var key *tree.Node
			if key, at, ok = d.flowKey(at); !ok {
				return nil, 0, false
			}
			d.open = append(d.open, key)
			at = d.spaces(at + 1)
		}
		element, end, ok := d.flowValue(at, depth)
		if !ok {
			return nil, 0, false
		}
		d.open = append(d.open, element)
		at = d.spaces(end)
		if at == d.line.end || d.text[at] != ',' && d.text[at] != closing {
			return nil, 0, false
		}
		if d.text[at] == closing {
			break
		}
	}
	d.close(n, first)
	return n, at + 1, kind == yaml.SequenceNode || hasDistinctKeys(n)
}

// flowKey reads a key within brackets; colon is the position of its colon, which is followed by a
// space.
func (d *direct) flowKey(at int) (key *tree.Node, colon int, ok bool) {
	if at == d.line.end {
		return nil, 0, false
	}
	if key, colon, ok = d.flowScalar(at); !ok || colon-at > longestKey || key.Tag == yaml.NodeTagNull {
		return nil, 0, false
	}
	return key, colon, colon+1 < d.line.end && d.text[colon] == ':' && d.text[colon+1] == ' '
}

func (d *direct) flowValue(at, depth int) (n *tree.Node, after int, ok bool) {
	if at == d.line.end {
		return nil, 0, false
	}
	if c := d.text[at]; c == '[' || c == '{' {
		if depth == deepest {
			return nil, 0, false
		}
		return d.flow(at, depth+1)
	}
	return d.flowScalar(at)
}

func (d *direct) flowScalar(at int) (n *tree.Node, after int, ok bool) {
	if c := d.text[at]; c == '"' || c == '\'' {
		return d.quoted(at)
	}
	after = d.plainEnd(at, true)
	n, ok = d.plain(at, after)
	return n, after, ok
}

// literal reads a literal block scalar: its mark is at the current position, its block in the
// column.
func (d *direct) literal(at, column int) (n *tree.Node, ok bool) {
	mark := d.text[at:d.line.end]
	if mark != "|" && mark != "|-" {
		return nil, false
	}
	n = d.node(yaml.ScalarNode, yaml.NodeTagString, at)
	n.Style = yaml.LiteralStyle
	indent, from, to := 0, d.next, d.next
	for d.next < len(d.text) {
		line := d.text[d.next:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		} else {
			return nil, false
		}
		content := strings.TrimLeft(line, " ")
		before := len(line) - len(content)
		switch {
		case indent == 0 && (content == "\n" || before <= column || before > widest):
			return nil, false
		case indent == 0:
			indent = before
		case content == "\n" && before > indent:
			return nil, false
		case content != "\n" && before < indent:
			n.Value = chomped(d.text[from:to], indent, mark)
			return n, content[0] != '#' && d.advance() && d.line.column() <= column
		}
		d.next += len(line)
		d.line.number++
		if content != "\n" {
			to = d.next
		}
	}
	n.Value = chomped(d.text[from:to], indent, mark)
	return n, indent > 0 && d.advance()
}

// chomped is the text of lines that are indented, without the last line end if the mark removes
// it.
func chomped(lines string, indent int, mark string) string {
	var b strings.Builder
	b.Grow(len(lines))
	for line := range strings.Lines(lines) {
		b.WriteString(line[min(indent, len(line)-1):])
	}
	if mark == "|-" {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}
