package lists

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// between is how many lines there are between the list and the places: title, problems, header.
const between = 3

// heights are how many rows the list and the places have; that of the places begins
// below the middle.
func heights(env screen.Env) (list, places int) {
	list = max((env.Height-above-between)/2, 1)
	return list, max(env.Height-above-between-list, 1)
}

// Draw is the list, and below it the places of the one of the cursor.
func (s Distributions) Draw(env screen.Env) []draw.Line {
	if !s.known {
		return []draw.Line{{}, draw.Text(draw.Busy, "  loading distributions ...")}
	}
	none := "no UnitedDeployment, WorkloadSpread, ResourceDistribution or ImagePullJob here"
	if s.filter != "" {
		none = screen.NoMatches
	}
	seen, below := heights(env)
	lines := s.draw(env, s.summary(env), draw.Text(draw.Faint, "  "+none), s.columns(env), seen, func(i int) ([]draw.Line, bool) { return distributionCells(env, s.rows[i]), false })
	if len(s.rows) == 0 {
		return lines
	}
	return append(draw.Exactly(lines, above+seen), s.about(env, below)...)
}

func (s Distributions) summary(env screen.Env) draw.Line {
	var count screen.ByHealth
	for _, f := range s.rows {
		count[f.Health]++
	}
	l := draw.Text(draw.Plain, "  "+counted.Of(len(s.rows), "distribution"))
	l = l.Join(screen.Counts(env.Theme, count, env.Width-l.Width()))
	var right draw.Line
	if s.filter != "" {
		right = draw.Text(draw.Key, " /"+s.filter+" ")
	}
	return draw.Both(l, right, env.Width, env.Theme.Symbols.Ellipsis)
}

// placeBar is how wide the picture of places is.
const placeBar = 12

func (s Distributions) columns(env screen.Env) []draw.Column {
	health := draw.Column{Title: "HEALTH", Width: 13, Min: 1, Give: 1, Keep: true}
	if env.Width >= 60 {
		health.Min = health.Width
	}
	return []draw.Column{
		health,
		{Title: "NS", Width: max(s.sizes.namespace, 4), Min: 4, Give: 3},
		{Title: "OBJECT", Width: max(s.sizes.name, 8), Min: min(max(s.sizes.name, 8), max(env.Width/2, 20)), Keep: true},
		{Title: "CURRENT", Width: 9, Min: 7, Right: true, Give: 2, Keep: true},
		{Title: "", Width: placeBar, Give: 7},
		{Title: "SOURCE", Width: max(s.target, 6), Min: 12, Give: 4},
		{Title: "AGE", Width: 5, Right: true, Give: 6},
	}
}

func distributionCells(env screen.Env, f *world.Distribution) []draw.Line {
	there := draw.Plain
	if f.Got < f.Wanted {
		there = draw.Warn
	}
	return []draw.Line{
		screen.Health(env.Theme, f.Health),
		draw.Text(draw.Faint, f.Namespace),
		draw.Text(draw.Strong, f.String()),
		draw.Text(there, fmt.Sprintf("%d/%d", f.Got, f.Wanted)),
		picture(env.Theme, f),
		draw.Text(draw.Plain, f.Target),
		draw.Text(draw.Faint, screen.Age(env.World.Now, f.Created)),
	}
}

// picture has its places by how they are, as a bar.
func picture(t *draw.Theme, f *world.Distribution) draw.Line {
	var counts [world.Blocked + 1]int
	for _, p := range f.Places {
		counts[p.Health]++
	}
	y := t.Symbols
	return draw.Bar(
		placeBar,
		draw.Part{Count: counts[world.Healthy], Symbol: y.New, Style: draw.Good},
		draw.Part{Count: counts[world.Progressing], Symbol: y.NewDown, Style: draw.Busy},
		draw.Part{Count: counts[world.Degraded] + counts[world.Paused], Symbol: y.Old, Style: draw.Warn},
		draw.Part{Count: counts[world.Blocked], Symbol: y.Down, Style: draw.Bad},
	)
}

// about is the one of the cursor: its problems and its places.
func (s Distributions) about(env screen.Env, height int) []draw.Line {
	f := s.current()
	title := draw.Text(draw.Header, " "+f.String()).Add(draw.Faint, "  "+counted.Of(len(f.Places), nouns[f.Kind])+" of "+f.Target)
	problems := draw.Line{}
	if len(f.Problems) > 0 {
		problems = draw.Text(draw.Warn, "  "+env.Theme.Symbols.Degraded+" "+strings.Join(f.Problems, "; "))
	}
	window := s.places
	if !s.inside {
		window.At = -1
	}
	table := draw.Table{Columns: placeColumns(f), Rows: len(f.Places), Window: window}
	return append([]draw.Line{title, problems}, table.Draw(env.Theme, env.Width, height+1, func(i int) ([]draw.Line, bool) { return place(env, f, f.Places[i]), false })...)
}

// nouns are what the places of a kind are.
var nouns = map[string]string{kruise.KindUnitedDeployment: "subset", kruise.KindWorkloadSpread: "subset", kruise.KindResourceDistribution: "namespace", kruise.KindImagePullJob: "node"}

// ofPods reports whether the places have pods.
func ofPods(f *world.Distribution) bool { return nouns[f.Kind] == "subset" }

func placeColumns(f *world.Distribution) []draw.Column {
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

func place(env screen.Env, f *world.Distribution, p world.Place) []draw.Line {
	got := draw.Plain
	if p.Got != p.Wanted {
		got = draw.Warn
	}
	limit := p.Limit
	if limit == "" {
		limit = "-"
	}
	// How many of the updated pods are ready is not reported: at least as many as are ready
	// beyond the old ones.
	t := plan.Tally{Desired: p.Wanted, Total: p.Got, Ready: p.Ready, Updated: p.Updated, UpdatedReady: max(p.Updated+p.Ready-p.Got, 0)}
	return []draw.Line{
		draw.Text(screen.HealthStyle(p.Health), screen.HealthSymbol(env.Theme, p.Health)),
		draw.Text(draw.Strong, p.Name),
		draw.Text(draw.Faint, limit),
		draw.Text(draw.Plain, strconv.Itoa(p.Wanted)),
		draw.Text(got, strconv.Itoa(p.Got)),
		draw.Pods(env.Theme.Symbols, t, 0, 16),
		draw.Text(draw.Plain, strconv.Itoa(p.Updated)),
		why(f, p),
	}
}

// why is what is wrong with a place, or how it is if there is no reason; nothing where it is
// as it should be.
func why(f *world.Distribution, p world.Place) draw.Line {
	switch {
	case p.Why != "":
		return draw.Text(screen.HealthStyle(p.Health), p.Why)
	case !ofPods(f) && p.Health != world.Healthy:
		return draw.Text(draw.Faint, p.Health.String())
	case p.Ready < p.Got:
		return draw.Text(draw.Plain, counted.Of(p.Got-p.Ready, "pod")+" not ready")
	}
	return draw.Line{}
}
