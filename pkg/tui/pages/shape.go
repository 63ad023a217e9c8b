package pages

import (
	"errors"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// errNoYAML does not repeat the text: it may have secret values.
var errNoYAML = errors.New("the manifest is not YAML of one object")

// manifest is an object as lines, without what is likely to be secret, whatever object it
// comes from.
func manifest(text string) ([]draw.Line, error) {
	var object map[string]any
	if yaml.Unmarshal([]byte(text), &object) != nil {
		return nil, errNoYAML
	}
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
	out, err := yaml.Marshal(redact.Object(object))
	if err != nil {
		return nil, errNoYAML
	}
	var lines []draw.Line
	for line := range strings.Lines(string(out)) {
		lines = append(lines, colored(strings.TrimRight(line, "\n")))
	}
	return lines, nil
}

// colored is a line of YAML with its key in the style of keys.
func colored(line string) draw.Line {
	body := strings.TrimLeft(line, " -")
	before := line[:len(line)-len(body)]
	key, value, ok := strings.Cut(body, ":")
	if !ok || strings.ContainsAny(key, ` "'`) || value != "" && value[0] != ' ' {
		return draw.Text(draw.Plain, line)
	}
	return draw.Text(draw.Faint, before).Add(draw.Key, key+":").Add(draw.Plain, value)
}

// described are the lines of a description; variables, annotations, labels and arguments
// whose names say that they are secret are masked, as kubectl writes them out.
func described(text string) []draw.Line {
	var lines []draw.Line
	var p pairs
	flag := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		body := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(body)]
		body, seen := p.mask(body, len(indent))
		if !seen {
			continue
		}
		if flag {
			body = redact.Masked
		}
		flag = redact.SecretFlag(body)
		lines = append(lines, worded(indent, redact.Inside(body)))
	}
	return lines
}

// pairs knows whether a line belongs to a list of names with values, and to a value that
// is masked: list and secret are how far such lines are indented at least, and 0 for none.
type pairs struct{ list, secret int }

// mask returns what may be seen of a line; false is for the lines of a masked value
// after its first.
func (p *pairs) mask(body string, indent int) (string, bool) {
	if p.secret > 0 && indent >= p.secret {
		return "", false
	}
	p.secret = 0
	if indent < p.list {
		p.list = 0
	}
	title, rest, _ := strings.Cut(body, ":")
	switch title {
	case "Environment", "Annotations", "Labels":
		p.list = indent + 1
		first := strings.TrimLeft(rest, " ") // of annotations, the first stands on this line
		head := body[:len(body)-len(first)]
		return head + p.pair(first, indent+len(head)), true
	}
	if p.list > 0 {
		return p.pair(body, indent), true
	}
	return body, true
}

// pair is NAME: VALUE or NAME=VALUE without a value that is secret, which lines further
// to the right go on with.
func (p *pairs) pair(text string, indent int) string {
	i := strings.IndexAny(text, ":=")
	if i < 0 || !redact.Name(text[:i]) || strings.HasPrefix(strings.TrimSpace(text[i+1:]), "<set to") {
		return text
	}
	p.secret = indent + 1
	if text[i] == '=' {
		return text[:i+1] + redact.Masked
	}
	return text[:i+1] + "  " + redact.Masked
}

// worded is one line of a description.
func worded(indent, body string) draw.Line {
	name, value, ok := strings.Cut(body, ":")
	if !ok || strings.Contains(name, "  ") || value != "" && value[0] != ' ' {
		return draw.Text(draw.Plain, indent+body)
	}
	style := draw.Key
	if indent == "" {
		style = draw.Header
	}
	return draw.Text(style, indent+name+":").Add(draw.Plain, value)
}
