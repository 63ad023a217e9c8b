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
)

// Draw is what the plan is, the player, and below it steps and what happens.
func (s Screen) Draw(env screen.Env) []draw.Line {
	switch {
	case s.run != nil:
	case s.detail != nil:
		return []draw.Line{{}, draw.Text(draw.Busy, "  simulating ...")}
	case env.World.Find(s.Ref) == nil && env.World.Unseen == "":
		return env.Missing(s.Ref.String())
	default:
		return env.Waiting("the pods of " + s.Ref.String())
	}
	lines := []draw.Line{s.change(env), s.outcome(env), s.numbers(env)}
	p := picture{run: s.run, at: s.at, width: max(env.Width-2, 1)} // with a column at each side, where there are so many
	lines = append(lines, p.lines(env.Theme.Symbols, s.pictureHeight(env))...)
	lines = append(lines, p.scrubber(env.Theme.Symbols))
	height := max(env.Height-len(lines), 1)
	switch {
	case wide(env):
	case s.panel == aboutPanel:
		return append(lines, s.description(env, env.Width, height)...)
	case s.panel == eventPanel:
		return append(lines, s.events(env, height)...)
	default:
		return append(lines, s.plan(env, env.Width, height)...)
	}
	return append(lines, draw.Beside(s.plan(env, env.Width/2, height), s.events(env, height), env.Width/2, env.Theme.Symbols.Ellipsis)...)
}

// plan are the steps and, where there is room, what the one of the cursor does.
func (s Screen) plan(env screen.Env, width, height int) []draw.Line {
	if wide(env) && s.panel == aboutPanel {
		return s.description(env, width, height)
	}
	below := s.below(env)
	steps := height - below
	return append(draw.Exactly(s.stepLines(env, steps), steps), s.description(env, width, below)...)
}

// panel is what is shown below the player where not all fits.
type panel uint8

const (
	stepPanel panel = iota
	aboutPanel
	eventPanel
	panels
)

const (
	// twoColumns is the least width at which events are beside the steps.
	twoColumns = 100
	// describedFrom is from how many lines on what a step does stands below the steps, however many
	// there are; fewAbout is how many lines of it are worth it where all steps have room.
	describedFrom = 24
	fewAbout      = 5
	// pictureFrom is from how many lines on there is a picture.
	pictureFrom = 15
	// headLines are those above and below the picture.
	headLines = 4
)

func wide(env screen.Env) bool { return env.Width >= twoColumns }

// withNextPanel shows the next panel, and skips what is shown in any case.
func (s Screen) withNextPanel(env screen.Env) Screen {
	explained := s.explained(env)
	s.panel = (s.panel + 1) % panels
	if s.panel == aboutPanel && explained {
		s.panel = eventPanel
	}
	if s.panel == eventPanel && wide(env) {
		s.panel = stepPanel
	}
	return s
}

// below is how many lines of what a step does stand below the steps.
func (s Screen) below(env screen.Env) int {
	room := max(env.Height-headLines-s.pictureHeight(env), 1)
	left := room - len(s.run.plan.Steps) - 2 // with the heading of the steps, and a free line
	switch {
	case env.Height >= describedFrom:
		return max(left, room-room/2)
	case left < fewAbout:
		return 0
	}
	return left
}

// explained reports whether the whole effect of a step is shown below the steps.
func (s Screen) explained(env screen.Env) bool {
	width := env.Width
	if wide(env) {
		width /= 2
	}
	return s.run != nil && len(s.facts(env, width)) <= s.below(env)
}

// pictureHeight is how many lines the picture has, by those of the screen: none where there
// is no room, no time that goes by, or a step that is read instead.
func (s Screen) pictureHeight(env screen.Env) int {
	if env.Height < pictureFrom || s.run.duration() == 0 || s.panel == aboutPanel && env.Height < describedFrom {
		return 0
	}
	return min(env.Height/5, 12)
}

// modeWords say what happens to pods.
var modeWords = map[rules.UpdateMode]string{
	rules.ModeInPlace: "in place", rules.ModeMetadataOnly: "metadata alone", rules.ModeRecreate: "pods are recreated", rules.ModeDelete: "deleted",
	rules.ModeUnchanged: "nothing changes in pods", rules.ModeNotAllowed: "pods may not change",
}

func (s Screen) change(env screen.Env) draw.Line {
	p := s.run.plan
	parts := []string{modeWords[p.Change.Mode], "driver " + string(p.Driver), counted.Of(p.Limits.Replicas, "pod"), fmt.Sprintf("max %d unavailable", p.Limits.MaxUnavailable)}
	if p.Limits.MaxSurge > 0 {
		parts = append(parts, fmt.Sprintf("max surge %d", p.Limits.MaxSurge))
	}
	if why := p.Reason(); why != "" {
		parts = append(parts, why)
	}
	if s.given == nil && s.detail != nil && !s.detail.Begun {
		parts = append(parts, "no rollout is recorded: this is the present spec")
	}
	asOf := draw.Text(draw.Faint, "  as of "+s.run.asOf.Format(time.TimeOnly)+" ")
	if env.Width < twoColumns {
		asOf = draw.Line{}
	}
	return draw.Both(draw.Text(draw.Header, " plan ").Add(draw.Plain, strings.Join(parts, ", ")), asOf, env.Width, env.Theme.Symbols.Ellipsis)
}

// outcome is what comes of it, in numbers or, where it cannot end well, in words.
func (s Screen) outcome(env screen.Env) draw.Line {
	y := env.Theme.Symbols
	// What is shown of a rollout that has failed begins with its retry.
	failed := s.given == nil && s.detail != nil && s.detail.Begun && s.detail.Snapshot.Progress.Failed != ""
	switch sum := s.run.line.Summary; {
	case s.simulating != nil:
		return draw.Text(draw.Busy, " "+y.Busy+" simulating again ...")
	case s.run.err != nil:
		return draw.Text(draw.Bad, " "+y.Blocked+" "+s.run.err.Error())
	case sum.Outcome == simulate.Completed && failed:
		return draw.Text(draw.Bad, " "+y.Blocked+" failed").Add(draw.Plain, fmt.Sprintf("; a retry takes %s if pods become ready, with at most %d unavailable", clock(sum.Duration), sum.MostDown))
	case sum.Outcome == simulate.Completed:
		text := fmt.Sprintf(" %s done after %s: at most %d unavailable, %s at once, %s, %d recreated%s", y.Done, clock(sum.Duration), sum.MostDown, counted.Of(sum.MostPods, "pod"), counted.Of(sum.Restarts, "restart"), sum.Recreated, sum.AndDeleted())
		return draw.Text(draw.Good, text)
	default:
		return draw.Text(draw.Warn, fmt.Sprintf(" %s %s after %s: %s", y.Degraded, sum.Outcome, clock(sum.Duration), sum.Reason))
	}
}

// numbers is the time of the simulation, and how its pods stand then.
func (s Screen) numbers(env screen.Env) draw.Line {
	y, n := env.Theme.Symbols, s.run.at(s.at)
	state := draw.Text(draw.Warn, " "+y.Pause+" ")
	if s.playing {
		state = draw.Text(draw.Busy, " "+y.Now+" ")
	}
	l := state.Add(draw.Strong, clock(s.at)).Add(draw.Faint, fmt.Sprintf(" of %s at %dx ", clock(s.run.duration()), s.speed))
	l = l.Add(draw.Updated, fmt.Sprintf("  %s %d new", y.New, n.New)).Add(draw.Outdated, fmt.Sprintf("  %s %d old", y.Old, n.Old))
	style := draw.Plain
	if n.Unavailable() > 0 {
		style = draw.Down
	}
	if n.Unavailable() > s.run.plan.Limits.MaxUnavailable {
		style = draw.Bad
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
