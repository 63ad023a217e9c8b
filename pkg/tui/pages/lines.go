package pages

import (
	"maps"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// lines are the fields with what they mean for pods, and then the templates.
func (s Diff) lines(from, to plan.Revision) []draw.Line {
	e := plan.Between(s.detail.Snapshot, from.Revision, to.Revision)
	lines := []draw.Line{draw.Text(draw.Header, "FIELDS").Add(draw.Faint, "  "+string(e.Mode)+": "+e.Why)}
	for _, f := range e.Fields {
		lines = append(lines, field(f, e.Mode)...)
	}
	lines = append(lines, draw.Line{}, draw.Text(draw.Header, "TEMPLATE").Add(draw.Faint, "  what is likely to be secret is masked"))
	return append(lines, unified(text(s.template(from)), text(s.template(to)), s.whole)...)
}

// field is one that differs, with what it asks for.
func field(f rules.FieldChange, mode rules.UpdateMode) []draw.Line {
	effect, style := f.Effect.Words(), draw.Good
	if f.Effect == rules.EffectRecreate {
		style = draw.Warn
	}
	if mode == rules.ModeInPlace && len(f.Restarts) > 0 {
		effect += ", restarts " + strings.Join(f.Restarts, ", ")
	}
	lines := []draw.Line{draw.Text(draw.Strong, "  "+f.Path+"  ").Add(style, effect)}
	if f.Old != nil {
		lines = append(lines, draw.Text(draw.Removed, "    - "+draw.Value(f.Old)))
	}
	if f.New != nil {
		lines = append(lines, draw.Text(draw.Added, "    + "+draw.Value(f.New)))
	}
	return lines
}

// template is what a revision puts into pods, without what is likely to be secret. Of
// a SidecarSet that is a part of its spec.
func (s Diff) template(p plan.Revision) map[string]any {
	out := maps.Clone(p.Template)
	if s.Ref.Kind == kruise.KindSidecarSet {
		out = map[string]any{}
		for _, key := range rules.SidecarSetFields() {
			if v, ok := p.Template[key]; ok {
				out[key] = v
			}
		}
	}
	return redact.Object(out)
}

// text is a template as YAML; what was decoded from JSON can always be written.
func text(template map[string]any) string {
	b, _ := yaml.Marshal(template)
	return string(b)
}

// around is how many lines are shown around a change, everything all of them.
const (
	around     = 4
	everything = 1 << 20
)

// unified are both templates as one text: signs say without colour what colour says.
func unified(from, to string, whole bool) []draw.Line {
	n := around
	if whole {
		n = everything
	}
	out, err := udiff.ToUnified("", "", from, udiff.Lines(from, to), n)
	switch {
	case err != nil:
		return []draw.Line{draw.Text(draw.Bad, "  "+err.Error())}
	case out == "":
		return []draw.Line{draw.Text(draw.Faint, "  nothing that can be shown differs")}
	}
	var lines []draw.Line
	for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if i < 2 { // the names of the files
			continue
		}
		lines = append(lines, signed(line))
	}
	return lines
}

func signed(line string) draw.Line {
	style := draw.Plain
	switch {
	case strings.HasPrefix(line, "@@"):
		return draw.Text(draw.Faint, "  "+line)
	case strings.HasPrefix(line, "+"):
		style = draw.Added
	case strings.HasPrefix(line, "-"):
		style = draw.Removed
	}
	return draw.Text(style, "  "+line)
}
