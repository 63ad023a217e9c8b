package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// head is what the plan does, what comes of it, and where the simulation is.
func (s Screen) head(env screen.Env) []draw.Line {
	return []draw.Line{s.change(env), s.outcome(env), s.numbers(env)}
}

// modeWords say what happens to pods.
var modeWords = map[rules.UpdateMode]string{
	rules.ModeInPlace: "in place", rules.ModeMetadataOnly: "metadata alone", rules.ModeRecreate: "pods are recreated",
	rules.ModeUnchanged: "nothing changes in pods", rules.ModeNotAllowed: "pods may not change",
}

func (s Screen) change(env screen.Env) draw.Line {
	p := s.run.plan
	parts := []string{modeWords[p.Change.Mode], "driver " + string(p.Driver), counted.Of(p.Limits.Replicas, "pod"), fmt.Sprintf("max %d unavailable", p.Limits.MaxUnavailable)}
	if p.Limits.MaxSurge > 0 {
		parts = append(parts, fmt.Sprintf("max surge %d", p.Limits.MaxSurge))
	}
	if p.Change.Why != "" {
		parts = append(parts, p.Change.Why)
	}
	if s.given == nil && s.detail != nil && !s.detail.Begun {
		parts = append(parts, "no rollout is recorded: this is the present spec")
	}
	asOf := draw.Text(theme.Faint, "  as of "+s.run.asOf.Format(time.TimeOnly)+" ")
	if env.Width < twoColumns {
		asOf = draw.Line{}
	}
	return draw.Both(draw.Text(theme.Header, " plan ").Add(theme.Plain, strings.Join(parts, ", ")), asOf, env.Width, env.Theme.Symbols.Ellipsis)
}

// outcome is what comes of it, in numbers or, where it cannot end well, in words.
func (s Screen) outcome(env screen.Env) draw.Line {
	y := env.Theme.Symbols
	switch sum := s.run.line.Summary; {
	case s.asked != nil:
		return draw.Text(theme.Busy, " "+y.Busy+" simulating again ...")
	case s.run.err != nil:
		return draw.Text(theme.Bad, " "+y.Stuck+" "+s.run.err.Error())
	case sum.Outcome == simulate.Completed:
		text := fmt.Sprintf(" %s done after %s: at most %d unavailable, %s at once, %s, %d recreated%s", y.Done, clock(sum.Duration), sum.MostDown, counted.Of(sum.MostPods, "pod"), counted.Of(sum.Restarts, "restart"), sum.Recreated, sum.AndDeleted())
		return draw.Text(theme.Good, text)
	default:
		return draw.Text(theme.Warn, fmt.Sprintf(" %s %s after %s: %s", y.Degraded, sum.Outcome, clock(sum.Duration), sum.Reason))
	}
}

// numbers is the time of the simulation, and how its pods stand then.
func (s Screen) numbers(env screen.Env) draw.Line {
	y, n := env.Theme.Symbols, s.run.at(s.at)
	state := draw.Text(theme.Warn, " "+y.Pause+" ")
	if s.playing {
		state = draw.Text(theme.Busy, " "+y.Now+" ")
	}
	l := state.Add(theme.Strong, clock(s.at)).Add(theme.Faint, fmt.Sprintf(" of %s at %dx ", clock(s.run.lasts()), s.speed))
	l = l.Add(theme.Updated, fmt.Sprintf("  %s %d new", y.New, n.New)).Add(theme.Outdated, fmt.Sprintf("  %s %d old", y.Old, n.Old))
	style := theme.Plain
	if n.Unavailable() > 0 {
		style = theme.Down
	}
	if n.Unavailable() > s.run.plan.Limits.MaxUnavailable {
		style = theme.Bad
	}
	return l.Add(style, fmt.Sprintf("  %s %d unavailable", y.Down, n.Unavailable()))
}

// clock is a time of the simulation: 1:05, or 1:02:05.
func clock(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}
