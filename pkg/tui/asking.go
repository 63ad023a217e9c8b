package tui

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// question is what a dialog shows: the question, what comes of it, and then where and what
// exactly.
func (d dialog) question(m Model) question {
	width := draw.BoxWidth(m.env.Width)
	lines := draw.Wrap(theme.Strong, d.asked(), width)
	lines = append(append(lines, d.effects(m)...), m.proof.lines(d.turn, width)...)
	lines = append(lines, draw.Line{})
	lines = append(append(lines, d.facts(m)...), draw.Line{})
	answer := d.answer()
	if d.name != "" && d.ready && d.err == nil && answer.Width() > width { // what is typed is seen in any case
		lines = append(lines, draw.Wrap(theme.Strong, "type "+d.name+" and enter:", width)...)
		typed := d.line()
		answer = typed.From(max(typed.Width()-width, 0))
	}
	return question{string(d.act.Verb), lines, answer, d.top}
}

// effects is what comes of the act, or why it cannot be done.
func (d dialog) effects(m Model) []draw.Line {
	width := draw.BoxWidth(m.env.Width)
	switch {
	case d.err != nil:
		return draw.Wrap(theme.Bad, d.err.Error(), width)
	case !d.ready:
		return []draw.Line{draw.Text(theme.Faint, "working out what that would do ...")}
	}
	var lines []draw.Line
	for _, ref := range d.act.On {
		c, known := d.effect.Changes[ref]
		if !known {
			continue
		}
		text := d.answers(c, m.env.World.Find(ref))
		if len(d.act.On) > 1 && text != "" {
			text = show.Name(ref) + ": " + text
		}
		lines = append(lines, draw.Wrap(theme.Plain, text, width)...)
	}
	for _, text := range d.effect.Lines {
		lines = append(lines, draw.Wrap(theme.Plain, text, width)...)
	}
	return lines
}

// facts are the place, and by name all that changes.
func (d dialog) facts(m Model) []draw.Line {
	var lines []draw.Line
	width := draw.BoxWidth(m.env.Width)
	add := func(label, text string) {
		if text == "" {
			return
		}
		head := fmt.Sprintf("%-12s", label)
		for _, l := range draw.Wrap(theme.Plain, text, width-len(head)) {
			lines = append(lines, draw.Text(theme.Faint, head).Join(l))
			head = draw.Spaces(len(head))
		}
	}
	where := m.env.World.Where
	lines = append(lines, contextLine(where))
	add("namespace", spaces(d.act))
	if len(d.act.On) > 1 || d.act.Verb == world.Restart {
		add("workload", names(d.act.On))
	}
	if len(d.scopes) > 1 {
		lines = append(lines, d.choices(m)...)
	} else {
		add("pods", listed(d.act.Pods))
		add("containers", strings.Join(d.act.Containers, ", "))
	}
	if d.ready && d.err == nil && len(d.act.On) == 1 {
		c := d.effect.Changes[d.act.On[0]]
		revision, image := "revision", "image"
		if d.act.Verb == world.Abort || d.act.Verb == world.PauseResume { // what the rollout changes, and not the act
			revision, image = "rollout", "of image"
		}
		add(revision, revisions(c))
		for _, i := range c.Images {
			add(image, i.From+" -> "+i.To)
		}
	}
	return lines
}

// choices are what a restart may be about, with the chosen one marked.
func (d dialog) choices(m Model) []draw.Line {
	y, head := m.env.Theme.Symbols, "restart     "
	var lines []draw.Line
	for i, s := range d.scopes {
		mark, style := y.Next+" ", theme.Faint
		if i == d.scope {
			mark, style = y.Now+" ", theme.Strong
		}
		lines = append(lines, draw.Text(theme.Faint, head).Add(theme.Key, mark).Add(style, s.title))
		head = draw.Spaces(len(head))
	}
	if len(d.act.Pods) > 1 {
		for _, l := range draw.Wrap(theme.Faint, listed(d.act.Pods), draw.BoxWidth(m.env.Width)-len(head)-2) {
			lines = append(lines, draw.Text(theme.Plain, head+"  ").Join(l))
		}
	}
	return lines
}

// mostPods is how many pods a question names.
const mostPods = 12

func listed(pods []string) string {
	if more := len(pods) - mostPods; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(pods[:mostPods], ", "), more)
	}
	return strings.Join(pods, ", ")
}

// revisions are the one that is left and the one that takes its place.
func revisions(c plan.Consequence) string {
	switch {
	case c.From == "" && c.To == "", c.From == c.To:
		return ""
	case c.To == "":
		return c.From + " -> a new one"
	case c.From == "":
		return c.To
	}
	return c.From + " -> " + c.To
}

func contextLine(where world.Where) draw.Line {
	l := draw.Text(theme.Faint, "context     ").Add(theme.Strong, where.Context)
	if where.Production {
		l = l.Add(theme.Plain, " ").Add(theme.Danger, " production ")
	}
	return l
}

// answer is how one answers; keys are seen once they count.
func (d dialog) answer() draw.Line {
	switch {
	case d.err != nil:
		return draw.Text(theme.Key, "esc").Add(theme.Plain, " back")
	case !d.ready, d.name != "" && !d.calm:
		return draw.Text(theme.Key, "esc").Add(theme.Plain, " cancel")
	case d.name != "":
		return draw.Text(theme.Plain, "type ").Add(theme.Strong, d.name).Add(theme.Plain, " and enter: ").Join(d.line())
	case d.short():
		return yesOrNo(d.calm)
	}
	return d.buttons()
}

// yesOrNo names the keys of an answer once they count.
func yesOrNo(calm bool) draw.Line {
	if !calm {
		return draw.Text(theme.Faint, "  yes     no")
	}
	return draw.Text(theme.Key, "y").Add(theme.Plain, " yes   ").Add(theme.Key, "n").Add(theme.Plain, " no")
}

// does is what the button says that carries an act out.
var does = map[world.Verb]string{
	world.Undo: "Roll back", world.Abort: "Abort", world.Scale: "Scale", world.Partition: "Set",
}

// buttons are both, the one with the focus in brackets.
func (d dialog) buttons() draw.Line {
	yes := does[d.act.Verb]
	if yes == "" {
		yes = "Yes"
	}
	switch {
	case !d.calm:
		return draw.Text(theme.Faint, "  Cancel      "+yes)
	case d.sure:
		return draw.Text(theme.Plain, "  Cancel    ").Add(theme.Danger, "[ "+yes+" ]")
	}
	return draw.Text(theme.Found, "[ Cancel ]").Add(theme.Plain, "    "+yes)
}
