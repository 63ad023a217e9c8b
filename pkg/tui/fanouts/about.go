package fanouts

import (
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// about is the one of the cursor: its problems and its places.
func (s Screen) about(env screen.Env, height int) []draw.Line {
	f := s.current()
	title := draw.Text(theme.Header, " "+show.Name(f.Ref)).Add(theme.Faint, "  "+show.Count(len(f.Places), nouns[f.Kind])+" of "+f.Target)
	problems := draw.Line{}
	if len(f.Problems) > 0 {
		problems = draw.Text(theme.Warn, "  "+env.Theme.Symbols.Degraded+" "+strings.Join(f.Problems, "; "))
	}
	window := s.places
	if !s.inside {
		window.At = -1
	}
	table := draw.Table{Columns: placeColumns(f), Rows: len(f.Places), Window: window, Row: func(i int) []draw.Line { return place(env, f, f.Places[i]) }}
	return append([]draw.Line{title, problems}, table.Draw(env.Theme, env.Width, height+1)...)
}

// nouns are what the places of a kind are.
var nouns = map[string]string{kruise.KindUnitedDeployment: "subset", kruise.KindWorkloadSpread: "subset", kruise.KindResourceDistribution: "namespace", kruise.KindImagePullJob: "node"}

// ofPods reports whether the places have pods.
func ofPods(f *world.FanOut) bool { return nouns[f.Kind] == "subset" }

func placeColumns(f *world.FanOut) []draw.Column {
	name := len(nouns[f.Kind])
	for _, p := range f.Places {
		name = max(name, draw.Width(p.Name))
	}
	list := []draw.Column{
		{Title: "", Width: 1, Keep: true},
		{Title: strings.ToUpper(nouns[f.Kind]), Width: name, Min: 8, Keep: true},
		{Title: "LIMIT", Width: 7, Give: 3},
		{Title: "WISH", Width: 5, Right: true, Keep: true},
		{Title: "PODS", Width: 5, Right: true, Keep: true},
		{Title: "", Width: 16, Give: 4},
		{Title: "NEW", Width: 5, Right: true, Give: 2},
		{Title: "WHY", Width: 200, Min: 16, Give: 1},
	}
	if !ofPods(f) {
		for i := 2; i < len(list)-1; i++ {
			list[i].Width = 0
		}
	}
	return list
}

func place(env screen.Env, f *world.FanOut, p world.Place) []draw.Line {
	got := theme.Plain
	if p.Got != p.Wanted {
		got = theme.Warn
	}
	limit := p.Limit
	if limit == "" {
		limit = "-"
	}
	// How many of the updated pods are ready nobody says: at least as many as are ready
	// beyond the old ones.
	t := plan.Tally{Desired: p.Wanted, Total: p.Got, Ready: p.Ready, Updated: p.Updated, UpdatedReady: max(p.Updated+p.Ready-p.Got, 0)}
	return []draw.Line{
		draw.Text(show.HealthStyle(p.Health), show.HealthSymbol(env.Theme, p.Health)),
		draw.Text(theme.Strong, p.Name),
		draw.Text(theme.Faint, limit),
		draw.Text(theme.Plain, strconv.Itoa(p.Wanted)),
		draw.Text(got, strconv.Itoa(p.Got)),
		show.Pods(env.Theme.Symbols, t, 0, 16),
		draw.Text(theme.Plain, strconv.Itoa(p.Updated)),
		why(f, p),
	}
}

// why is what is wrong with a place, or how it is where nobody says why; nothing where it is
// as it should be.
func why(f *world.FanOut, p world.Place) draw.Line {
	switch {
	case p.Why != "":
		return draw.Text(show.HealthStyle(p.Health), p.Why)
	case !ofPods(f) && p.Health != world.Healthy:
		return draw.Text(theme.Faint, p.Health.String())
	case p.Ready < p.Got:
		return draw.Text(theme.Plain, show.Count(p.Got-p.Ready, "pod")+" not ready")
	}
	return draw.Line{}
}
