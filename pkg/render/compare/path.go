package compare

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// pathText writes a path for people, items by their names where they have some:
// spec.template.spec.containers[app].image, metadata.annotations["a.b/c"].
func pathText(path []step) string {
	var out strings.Builder
	for _, s := range path {
		switch {
		case s.name != "":
			out.WriteString("[" + s.name + "]")
		case s.item:
			out.WriteString("[" + s.key + "]")
		case s.key == "(order)":
			out.WriteString(" " + s.key)
		case !plainKey.MatchString(s.key):
			out.WriteString("[" + strconv.Quote(s.key) + "]")
		case out.Len() > 0:
			out.WriteString("." + s.key)
		default:
			out.WriteString(s.key)
		}
	}
	return out.String()
}

// fields writes differences for people, with what is secret masked. effects are
// what fields ask for, by their path below template, which may be empty.
func fields(list []difference, old, now map[string]any, template string, effects []rules.FieldChange) []Field {
	out := make([]Field, 0, len(list))
	for _, d := range list {
		f := Field{Path: pathText(d.path), Old: shown(d.old, d.from, old), New: shown(d.now, d.to, now)}
		if below, ok := strings.CutPrefix(positions(d.now), template); ok {
			f.ask(below, effects)
		}
		out = append(out, f)
	}
	return out
}

// ask takes over what a field asks for; the order of a list, whatever its items do.
func (f *Field) ask(path string, effects []rules.FieldChange) {
	list, order := strings.CutSuffix(path, " (order)")
	for _, e := range effects {
		if e.Path == path || order && strings.HasPrefix(e.Path, list+"[") {
			f.Effect, f.Why = e.Effect, e.Why
		}
	}
}

// positions writes a path by positions, as the rules of rollouts do.
func positions(path []string) string {
	steps := make([]step, len(path))
	for i, key := range path {
		_, err := strconv.Atoi(key)
		steps[i] = step{key: key, item: err == nil}
	}
	return pathText(steps)
}
