package pod

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/show"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// search looks for a text on the page, in whatever case, and goes to the first line that has
// it.
func (s Screen) search(env screen.Env, text string) Screen {
	s.find = text
	for i, l := range s.lines {
		if s.has(l) {
			s.top = max(i-env.Height/3, 0)
			return s.scroll(env, 0)
		}
	}
	return s
}

func (s Screen) has(l draw.Line) bool {
	return s.find != "" && strings.Contains(strings.ToLower(l.String()), strings.ToLower(s.find))
}

// found marks lines that have what is searched for, and says how many there are below.
func (s Screen) found(lines []draw.Line) ([]draw.Line, string) {
	if s.find == "" {
		return lines, ""
	}
	n := 0
	for _, l := range s.lines {
		if s.has(l) {
			n++
		}
	}
	for i, l := range lines {
		if s.has(l) {
			lines[i] = draw.Text(theme.Found, strings.TrimRight(l.String(), " "))
		}
	}
	return lines, fmt.Sprintf("  /%s: %s  ", s.find, show.Count(n, "line"))
}
