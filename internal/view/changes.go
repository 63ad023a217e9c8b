package view

import (
	"fmt"
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// Changes is what differs between two states, as every form of output tells it.
type Changes compare.Report

var levelColors = map[compare.Level]string{
	compare.Loss: red, compare.Refused: red, compare.Recreate: yellow, compare.Blocked: yellow, compare.Warning: yellow,
	compare.Restart: green, compare.Note: faint,
}

// Text writes one change after the other, the most dangerous first, and a line
// that sums them up.
func (c Changes) Text(w io.Writer, st Style) error {
	b := &builder{st: st}
	for i := range c.Changes {
		b.change(&c.Changes[i])
		b.line("")
	}
	b.line("%s", c.Summary())
	return b.write(w)
}

// change writes one object: what happens to it, to its pods, and every field.
func (b *builder) change(ch *compare.Change) {
	item := changeItem(ch)
	some := func(format, text string) {
		if text != "" {
			b.line(format, text)
		}
	}
	b.line("%s %s%s", b.st.paint(levelColors[ch.Level], pad(string(ch.Level), 8)), b.st.paint(bold, headOf(ch)), b.st.paint(faint, when(item.Place != "", "  "+item.Place)))
	some("  pods: %s", item.Pods)
	some("    because %s", item.Because)
	for _, s := range item.Subsets {
		b.line("  subset %s", s.Text)
		some("    because %s", s.Because)
	}
	some("  reaches %s", item.Reach)
	some("  %s", item.Copies)
	for _, e := range item.Effects {
		b.line("  %s %s", b.st.paint(levelColors[e.Level], string(e.Level)+":"), e.Text)
		if e.Hint != "" {
			b.line("    hint: %s", b.st.hint(e.Hint))
		}
	}
	b.changedFields(ch.Fields, ch.Rollout)
}

func (b *builder) changedFields(list []compare.Field, r *compare.Rollout) {
	for i, f := range list {
		if i == mostFields && len(list) > mostFields+1 && !b.st.Full {
			b.line("  and %s; -v shows them", counted.Of(len(list)-i, "more field"))
			return
		}
		b.line("  %s%s", f.Path, effectText(f, r))
		b.values(f.Old, f.New)
	}
}

// effectText describes what a field of a pod template asks for, as far as that matters:
// where pods are recreated anyway it is of no use to know what could have changed
// in place.
func effectText(f compare.Field, r *compare.Rollout) string {
	if f.Effect == "" || r == nil || r.Policy == rules.PolicyRecreate {
		return ""
	}
	if r.Mode == rules.ModeRecreate && f.Effect != rules.EffectRecreate {
		return ""
	}
	return "  (" + f.Effect.Words() + ")"
}

// headOf describes what happens to which object.
func headOf(ch *compare.Change) string {
	text := string(ch.Verb) + " " + ch.ID.String()
	if ch.Was != "" {
		text += fmt.Sprintf(" (was %s)", ch.Was)
	}
	return text
}
