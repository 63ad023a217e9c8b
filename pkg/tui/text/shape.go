package text

import (
	"errors"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// errNoYAML does not repeat the text: it may hold what nobody shall read.
var errNoYAML = errors.New("the manifest is not YAML of one object")

// manifest is an object as lines, without what is likely to be secret, whoever it
// comes from.
func manifest(text string) ([]draw.Line, error) {
	var object map[string]any
	if yaml.Unmarshal([]byte(text), &object) != nil {
		return nil, errNoYAML
	}
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
	out, err := yaml.Marshal(rules.MaskObject(object))
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
		return draw.Text(theme.Plain, line)
	}
	return draw.Text(theme.Faint, before).Add(theme.Key, key+":").Add(theme.Plain, value)
}

// described are the lines of a description; environment variables whose names say that
// they are secret are masked, as kubectl writes them out.
func described(text string) []draw.Line {
	var lines []draw.Line
	var e environment
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		body := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(body)]
		if body, seen := e.mask(body, len(indent)); seen {
			lines = append(lines, worded(indent, body))
		}
	}
	return lines
}

// environment knows whether a line belongs to variables, and to one that is masked; its
// fields are how far those are indented, and 0 for none.
type environment struct{ list, secret int }

// mask returns what may be seen of a line; false is for the lines of a masked value
// after its first.
func (e *environment) mask(body string, indent int) (string, bool) {
	if e.secret > 0 && indent > e.secret {
		return "", false
	}
	e.secret = 0
	if indent <= e.list {
		e.list = 0
	}
	name, value, ok := strings.Cut(body, ":")
	switch {
	case name == "Environment":
		e.list = indent
	case e.list > 0 && ok && rules.SecretName(name) && !strings.HasPrefix(strings.TrimSpace(value), "<set to"):
		e.secret = indent
		return name + ":  " + rules.Masked, true
	}
	return body, true
}

// worded is one line of a description.
func worded(indent, body string) draw.Line {
	name, value, ok := strings.Cut(body, ":")
	if !ok || strings.Contains(name, "  ") || value != "" && value[0] != ' ' {
		return draw.Text(theme.Plain, indent+body)
	}
	style := theme.Key
	if indent == "" {
		style = theme.Header
	}
	return draw.Text(style, indent+name+":").Add(theme.Plain, value)
}
