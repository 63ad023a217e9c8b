package load

import (
	"strings"
	"sync"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// direct reads the documents that make up nearly all manifests, block mappings of plain and
// quoted text, in one walk over their lines: the very nodes that yaml.v3 makes, without
// a token and an event for each. It gives every other document back, to be parsed by yaml.v3:
// with anchors, tags, tabs, folded text, lists in lists, values over several lines,
// escapes, comments that could belong to what is before them, and all that is no YAML.
// FuzzDirect and TestDirect hold it to the library.
type direct struct {
	text string
	// ascii is true if every byte of text is a character.
	ascii bool
	// next is where the line begins that has yet to be read.
	next int
	line contentLine
	// open are the children of the collections that are not complete.
	open  []*tree.Node
	nodes []tree.Node
	links []*tree.Node
	// keys are those that documents share, made how many nodes this one has.
	keys map[sharedKey]*tree.Node
	made int
}

// sharedKey is a key without a comment. Each is one node for all documents, which has no line:
// half of the nodes of a manifest are keys, and nothing edits them in place.
type sharedKey struct {
	text   string
	column int
}

// maxKeys bounds the keys that are remembered.
const maxKeys = 2048

// contentLine is a line that is more than a comment.
type contentLine struct {
	// number counts from 1; start, content and end are offsets of the text, without the line end.
	number, start, content, end int
	// head is the comment on the lines before.
	head string
	last bool
}

// column is by how many characters the line is indented, -1 behind the last line.
func (l *contentLine) column() int {
	if l.last {
		return -1
	}
	return l.content - l.start
}

// widest bounds indentation and other runs of spaces, longest the length of keys and the
// depth of brackets: yaml.v3 has limits far above.
const (
	widest     = 100
	longestKey = 128
	deepest    = 20
)

var directReaders = sync.Pool{New: func() any { return &direct{} }}

// readDirectly returns the document of a text that follows a number of lines of its file. ok is
// false if yaml.v3 must parse it, or report what is wrong with it.
func readDirectly(text []byte, before int, lim tree.Limits) (doc *tree.Node, ok bool) {
	if lim.Depth > 0 && lim.Depth < 2*widest+deepest {
		return nil, false
	}
	d := directReaders.Get().(*direct) //nolint:forcetypeassert // nothing else is kept there
	doc, ok = d.document(string(text), before)
	ok = ok && (lim.Nodes == 0 || d.made <= lim.Nodes)
	d.text, d.line = "", contentLine{}
	clear(d.open[:cap(d.open)])
	d.open = d.open[:0]
	directReaders.Put(d)
	return doc, ok
}

func (d *direct) document(text string, before int) (doc *tree.Node, ok bool) {
	plain, ascii := simple(text)
	if !plain {
		return nil, false
	}
	if d.keys == nil || len(d.keys) > maxKeys {
		d.keys = map[sharedKey]*tree.Node{}
	}
	*d = direct{text: text, ascii: ascii, open: d.open[:0], nodes: d.nodes, links: d.links, keys: d.keys}
	d.line.number = before
	marked := strings.HasPrefix(text, "---\n")
	if marked {
		d.line.number, d.next = before+1, len("---\n")
	}
	if !d.advance() || d.line.column() != 0 {
		return nil, false
	}
	doc = d.node(yaml.DocumentNode, "", d.line.start)
	if marked {
		doc.Line = before + 1
	}
	root, ok := d.block(0)
	if !ok || !d.line.last || root.Kind != yaml.MappingNode {
		return nil, false
	}
	d.open = append(d.open, root)
	d.close(doc, len(d.open)-1)
	return doc, true
}

// simple reports whether a text has only characters that mean nothing but themselves, and
// whether each is one byte.
func simple(text string) (plain, ascii bool) {
	ascii = true
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			ascii = false
		case c < ' ' && c != '\n' || c == 0x7f:
			return false, false
		}
	}
	if ascii {
		return true, true
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf, r >= 0xa0 && r < 0x2028, r > 0x2029 && r < 0xd800, r >= 0xe000 && r < 0xfeff:
		default:
			return false, false
		}
	}
	return true, false
}

// advance goes to the next line that is more than a comment. It refuses comments that are not
// right above such a line, in the same column: yaml.v3 attaches them elsewhere.
func (d *direct) advance() bool {
	d.line.head = ""
	comment, column := -1, 0
	for d.next < len(d.text) {
		start, end := d.next, len(d.text)
		if i := strings.IndexByte(d.text[start:], '\n'); i >= 0 {
			end = start + i
		}
		d.next = min(end+1, len(d.text))
		d.line.number++
		content := start
		for content < end && d.text[content] == ' ' {
			content++
		}
		switch {
		case content-start > widest:
			return false
		case content == end:
			if comment >= 0 {
				return false
			}
		case d.text[content] == '#':
			if comment < 0 {
				comment, column = content, content-start
			} else if content-start != column {
				return false
			}
		default:
			d.line.start, d.line.content, d.line.end = start, content, end
			if comment >= 0 {
				d.line.head = withoutIndent(d.text[comment:start-1], column)
			}
			return (comment < 0 || column == content-start) && !isMark(d.text[start:end])
		}
	}
	d.line.last = true
	return comment < 0
}

// withoutIndent takes the indentation from all lines behind the first.
func withoutIndent(text string, by int) string {
	if by == 0 || strings.IndexByte(text, '\n') < 0 {
		return text
	}
	return strings.ReplaceAll(text, "\n"+strings.Repeat(" ", by), "\n")
}

// isMark reports a line that ends or begins a document, and a directive.
func isMark(line string) bool {
	return strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...") || line[0] == '%'
}

// block reads the mapping or the sequence that begins on this line, in the column.
func (d *direct) block(column int) (n *tree.Node, ok bool) {
	if d.isItem(d.line.content) {
		return d.sequence(column)
	}
	key, after, ok := d.key(d.line.content, d.line.head)
	if !ok {
		return nil, false
	}
	return d.mapping(key, after, column)
}

// isItem reports whether a dash and a space, or nothing, are at the place.
func (d *direct) isItem(at int) bool {
	return d.text[at] == '-' && (at+1 == d.line.end || d.text[at+1] == ' ')
}

// mapping reads the mapping in the column, whose first key was read up to its colon.
func (d *direct) mapping(key *tree.Node, colon, column int) (n *tree.Node, ok bool) {
	n = d.node(yaml.MappingNode, yaml.NodeTagMap, d.line.start+column)
	first := len(d.open)
	for {
		d.open = append(d.open, key)
		value, ok := d.value(colon+1, column)
		if !ok {
			return nil, false
		}
		d.open = append(d.open, value)
		if d.line.column() != column {
			break
		}
		if key, colon, ok = d.key(d.line.content, d.line.head); !ok {
			return nil, false
		}
	}
	d.close(n, first)
	return n, d.line.column() < column && hasDistinctKeys(n)
}

// hasDistinctKeys reports whether a mapping has no key twice.
func hasDistinctKeys(n *tree.Node) bool {
	if len(n.Content) > 2*maxCompared {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			if seen[n.Content[i].Value] {
				return false
			}
			seen[n.Content[i].Value] = true
		}
		return true
	}
	for i := 2; i < len(n.Content); i += 2 {
		for j := 0; j < i; j += 2 {
			if n.Content[i].Value == n.Content[j].Value {
				return false
			}
		}
	}
	return true
}

// maxCompared is up to how many keys comparing each with each is faster than a set.
const maxCompared = 16

// value reads what belongs to a key of a mapping in the column; it may begin at the place, on
// the line of the key, or below.
func (d *direct) value(at, column int) (n *tree.Node, ok bool) {
	if from := d.spaces(at); from < d.line.end {
		return d.inline(from, column)
	}
	line, place := d.line.number, at-d.line.start
	if !d.advance() {
		return nil, false
	}
	switch below := d.line.column(); {
	case below > column:
		return d.block(below)
	case below == column && d.isItem(d.line.content):
		return d.sequence(below)
	}
	n = d.node(yaml.ScalarNode, yaml.NodeTagNull, d.line.start+place)
	n.Line = line
	return n, d.line.head == ""
}

// sequence reads the list whose dashes are in the column.
func (d *direct) sequence(column int) (n *tree.Node, ok bool) {
	n = d.node(yaml.SequenceNode, yaml.NodeTagSeq, d.line.content)
	first := len(d.open)
	for d.line.column() == column && d.isItem(d.line.content) {
		item, ok := d.item(column)
		if !ok {
			return nil, false
		}
		d.open = append(d.open, item)
	}
	d.close(n, first)
	return n, d.line.column() <= column
}

func (d *direct) item(column int) (n *tree.Node, ok bool) {
	head := d.line.head
	at := d.spaces(d.line.content + 1)
	if at == d.line.end || d.isItem(at) {
		return nil, false
	}
	if key, after, isKey := d.key(at, ""); isKey {
		n, ok = d.mapping(key, after, at-d.line.start)
	} else {
		n, ok = d.inline(at, column)
	}
	if ok {
		n.HeadComment = head
	}
	return n, ok
}

// spaces is the place behind the spaces at a place.
func (d *direct) spaces(at int) int {
	for at < d.line.end && d.text[at] == ' ' {
		at++
	}
	return at
}

// nodesAtOnce and linksAtOnce are how many are allocated together. Documents share them.
const (
	nodesAtOnce = 26
	linksAtOnce = 128
)

// node returns a node that begins on this line, at the place.
func (d *direct) node(kind yaml.Kind, tag string, at int) *tree.Node {
	d.made++
	if len(d.nodes) == 0 {
		d.nodes = make([]tree.Node, nodesAtOnce)
	}
	n := &d.nodes[0]
	d.nodes = d.nodes[1:]
	n.Kind, n.Tag, n.Line, n.Column = kind, tag, d.line.number, at-d.line.start+1
	return n
}

// close gives n the children that were opened since, in no more memory than they need.
func (d *direct) close(n *tree.Node, first int) {
	children := d.open[first:]
	d.open = d.open[:first]
	if len(children) == 0 {
		return
	}
	if len(d.links) < len(children) {
		d.links = make([]*tree.Node, max(linksAtOnce, len(children)))
	}
	n.Content = d.links[:len(children):len(children)]
	d.links = d.links[len(children):]
	copy(n.Content, children)
}
