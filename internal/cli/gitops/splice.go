package gitops

import (
	"bytes"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// scalar is one value that is replaced in place.
type scalar struct{ was, now *tree.Node }

// changedScalars lists the values in which two trees differ; ok is false where they differ in
// more than that.
func changedScalars(was, now *tree.Node) (out []scalar, ok bool) {
	switch {
	case was == nil || now == nil || was.Kind != now.Kind || len(was.Content) != len(now.Content):
		return nil, false
	case tree.IsScalar(was):
		if was.Value == now.Value && was.Tag == now.Tag {
			return nil, true
		}
		return []scalar{{was, now}}, true
	}
	for i := range was.Content {
		if tree.IsMap(was) && i%2 == 0 && was.Content[i].Value != now.Content[i].Value {
			return nil, false
		}
		more, ok := changedScalars(was.Content[i], now.Content[i])
		if !ok {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

// splice replaces values in a text and leaves every other byte. ok is false where one
// of them is not found as it is expected: it spans several lines, or is tagged.
func splice(text []byte, list []scalar) (out []byte, ok bool) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b scalar) int {
		return cmpPlace(b.was, a.was) // from the end, so that places stay
	})
	out = slices.Clone(text)
	for _, s := range list {
		at := offset(out, s.was)
		if at < 0 {
			return nil, false
		}
		style := quotes(out[at:])
		end := tokenEnd(out[at:], s.was.Value, style)
		token, fine := tokenFor(s.now, style)
		if end < 0 || !fine {
			return nil, false
		}
		out = slices.Concat(out[:at], []byte(token), out[at+end:])
	}
	return out, true
}

func cmpPlace(a, b *tree.Node) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// offset is where a value begins; -1 where the text has no such place. Columns count
// characters.
func offset(text []byte, n *tree.Node) int {
	at := 0
	for range n.Line - 1 {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	column := 1
	for i := range string(line) {
		if column == n.Column {
			return at + i
		}
		column++
	}
	return -1
}

// quotes is the style of the value that begins a text.
func quotes(text []byte) yaml.Style {
	switch {
	case bytes.HasPrefix(text, []byte("'")):
		return yaml.SingleQuotedStyle
	case bytes.HasPrefix(text, []byte(`"`)):
		return yaml.DoubleQuotedStyle
	}
	return 0
}

// tokenEnd is how long a value is where it begins; -1 where it is something else
// there, or it may be written in several ways.
func tokenEnd(text []byte, value string, style yaml.Style) int {
	token := map[yaml.Style]string{0: value, yaml.SingleQuotedStyle: "'" + value + "'", yaml.DoubleQuotedStyle: `"` + value + `"`}[style]
	if value == "" || strings.ContainsAny(value, "'\"\\\n") || !bytes.HasPrefix(text, []byte(token)) {
		return -1
	}
	return len(token)
}

// tokenFor writes a value in the quotes of the one before. Without any, it gets some
// where it needs them.
func tokenFor(now *tree.Node, style yaml.Style) (string, bool) {
	n := tree.Clone(now)
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	n.Style = style
	switch {
	case !tree.IsString(n):
		n.Style = 0
	case n.Style == 0 && strings.ContainsAny(n.Value, ",[]{}"):
		n.Style = yaml.DoubleQuotedStyle // it may stand between brackets
	}
	text, err := yaml.NewRNode(n).String()
	text = strings.TrimSuffix(text, "\n")
	return text, err == nil && !strings.Contains(text, "\n")
}
