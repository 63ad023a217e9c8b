package view

import (
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// mostFields is how many fields are shown unless everything is asked for.
const mostFields = 20

// fields writes what changes; restarts are shown only where the mode has any.
func (b *builder) fields(list []rules.FieldChange, mode rules.UpdateMode) {
	for i, f := range list {
		if i == mostFields && len(list) > mostFields+1 && !b.st.Full {
			b.line("  and %s; -v shows them", counted.Of(len(list)-i, "more field"))
			return
		}
		b.field(f, mode == rules.ModeInPlace)
	}
}

func (b *builder) field(f rules.FieldChange, restarts bool) {
	effect := f.Effect.Words()
	if restarts && len(f.Restarts) > 0 {
		effect += ", restarts " + strings.Join(f.Restarts, ", ")
	}
	color := green
	if f.Effect == rules.EffectRecreate {
		color = yellow
	}
	b.line("  %s  %s", f.Path, b.st.paint(color, effect))
	b.values(f.Old, f.New)
}

// values writes what a field was and what it becomes.
func (b *builder) values(old, updated any) {
	if old != nil {
		b.line("%s", b.st.paint(red, b.st.cut("    - "+b.st.value(old))))
	}
	if updated != nil {
		b.line("%s", b.st.paint(green, b.st.cut("    + "+b.st.value(updated))))
	}
}

// JSON writes v indented, with a final newline; < and & stay as they are.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// YAML writes v as one document.
func YAML(w io.Writer, v any) error {
	b, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// longest is how much of a value is shown unless everything is asked for.
const longest = 120

// value writes one value of a field in one line.
func (st Style) value(v any) string {
	text := draw.Value(v)
	if !st.Full && utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest-1]) + "…"
	}
	return text
}

// whole is a line that a terminal does not break at words: it is copied.
func (st Style) whole(line string) string {
	if st.Width <= 0 || utf8.RuneCountInString(line) <= st.Width {
		return line
	}
	return text.Whole(line)
}

// cut shortens a line to the width of the terminal; in full it is whole.
func (st Style) cut(line string) string {
	if st.Full || st.Width <= 0 || utf8.RuneCountInString(line) <= st.Width {
		return st.whole(line)
	}
	return string([]rune(line)[:max(st.Width-1, 0)]) + "…"
}
