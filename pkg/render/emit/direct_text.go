package emit

import (
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// spot is where a text stands.
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
	if n.Tag == yaml.NodeTagString && !reads(v, yaml.NodeTagString) {
		d.doubleQuoted(v)
		return true
	}
	switch {
	case v == "" || n.Tag != "" && n.Tag != yaml.NodeTagString && !reads(v, n.Tag):
		return false
	case bare(v, where == inFlow || where == inFlowKey):
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

// literal writes a text of several lines; a block of its own tells where it ends.
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

// reads reports whether a plain v is read with that tag.
func reads(v, tag string) bool { return tree.PlainTag(v) == tag }

// bare reports whether v, which is not empty, may stand without quotes (YAML 1.1, as
// libyaml reads it).
func bare(v string, flow bool) bool {
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
