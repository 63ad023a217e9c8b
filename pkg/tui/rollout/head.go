package rollout

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// head is how it stands, and the pods as bars.
func (s Screen) head(env screen.Env) []draw.Line {
	d := s.detail
	answer := draw.Text(theme.Plain, " ").Join(show.Health(env.Theme, d.Health)).Add(theme.Plain, "  "+d.Diagnosis.Answer)
	down, who := s.down(env), draw.Text(theme.Faint, "  "+s.who()+" ")
	if down.Width()+who.Width() <= env.Width {
		down = draw.Both(down, who, env.Width, "")
	}
	return []draw.Line{answer, s.share(env), down}
}

// who is the driver, and how long it takes.
func (s Screen) who() string {
	d := s.detail
	text := "driver " + string(d.Driver)
	switch {
	case d.Holder != "":
		text += ", driven by " + d.Holder
	case d.Health == world.Stuck || d.Health == world.Paused:
		text += ", nobody drives it"
	}
	if p := d.Snapshot.Progress; d.Begun && !p.Started.IsZero() && p.Finished.IsZero() {
		text += ", step for " + ago(d.Now.Sub(p.Started))
	}
	if left, ok := toGo(d); ok {
		text += ", about " + ago(left) + " to go"
	}
	return text
}

func ago(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }

// widestBar is how wide bars get.
const widestBar = 60

// share is the pods by revision.
func (s Screen) share(env screen.Env) draw.Line {
	n := s.detail.Pods
	text := fmt.Sprintf(" %d/%d updated, %d of these ready; old %d", n.Updated, max(n.Desired, n.Total), n.UpdatedReady, max(n.Total-n.Updated, 0))
	return draw.Text(theme.Header, " pods ").Join(show.Pods(env.Theme, n, barWidth(env))).Add(theme.Plain, text)
}

// down is what is not available, against what may be.
func (s Screen) down(env screen.Env) draw.Line {
	d := s.detail
	down, budget := max(d.Pods.Desired-d.Pods.Ready, 0), d.Plan.Limits.MaxUnavailable
	bar := draw.Bar(
		min(barWidth(env), max(budget, down)),
		draw.Part{Count: min(down, budget), Symbol: env.Theme.Symbols.Down, Style: theme.Warn},
		draw.Part{Count: down - budget, Symbol: env.Theme.Symbols.Down, Style: theme.Bad},
		draw.Part{Count: budget - down, Symbol: env.Theme.Symbols.Empty, Style: theme.Faint},
	)
	style := theme.Plain
	if down > budget {
		style = theme.Bad
	}
	text := fmt.Sprintf(" %d down, %d may be", down, budget)
	if surge := d.Plan.Limits.MaxSurge; surge > 0 {
		text += fmt.Sprintf("; %d more than wanted may be", surge)
	}
	return draw.Text(theme.Header, " down ").Join(bar).Add(style, text)
}

func barWidth(env screen.Env) int { return max(min(env.Width/3, widestBar), 10) }
