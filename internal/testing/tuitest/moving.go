package tuitest

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Scene is a command of a session on a terminal, and what it prints.
type Scene struct{ Command, Output string }

// How fast the commands of a moving picture are typed, and how long what they print stays.
const (
	perLetter = 35 * time.Millisecond
	perLine   = 350 * time.Millisecond
	atLeast   = 3 * time.Second
)

// Moving is a session as an SVG image in which commands are typed and answered, one below
// the other, over and over. It moves by CSS alone. Where that is not known, and for people
// who ask for less motion, it is the whole session at rest. The same scenes make the same bytes.
func Moving(title string, scenes []Scene) string {
	var b strings.Builder
	m := measure(scenes)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n", m.width, m.height, m.width, m.height, title)
	fmt.Fprintf(&b, "<style>\n.s,.o,.c{animation-duration:%s;animation-iteration-count:infinite;animation-timing-function:step-end}\n", seconds(m.whole))
	at := time.Duration(0)
	for i, s := range scenes {
		typed := at + typing(s)
		m.appears(&b, "s", i, at)
		m.appears(&b, "o", i, typed)
		back := float64(ansi.StringWidth(s.Command)) * cellWidth
		fmt.Fprintf(&b, "#c%d{animation-name:c%d}@keyframes c%d{0%%{visibility:visible;transform:translateX(-%.1fpx)}%s{visibility:visible;transform:translateX(-%.1fpx);animation-timing-function:steps(%d)}%s,100%%{visibility:hidden;transform:none}}\n",
			i, i, i, back, m.share(at), back, ansi.StringWidth(s.Command), m.share(typed))
		at = typed + reading(s)
	}
	b.WriteString("@media (prefers-reduced-motion:reduce){.s,.o,.c{animation:none!important}}\n</style>\n" + sheet)
	top := margin
	for i, s := range scenes {
		top = m.draw(&b, i, top, s)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

const prompt = "$ "

// motion is the size of a moving picture, and how long it takes.
type motion struct {
	width, height float64
	whole         time.Duration
}

func measure(scenes []Scene) motion {
	var m motion
	columns, rows := 0, 0
	for _, s := range scenes {
		lines := strings.Split(s.Output, "\n")
		rows += len(lines) + 2
		for _, l := range append(lines, prompt+s.Command+" ") {
			columns = max(columns, ansi.StringWidth(l))
		}
		m.whole += typing(s) + reading(s)
	}
	m.width, m.height = float64(columns)*cellWidth+2*margin, float64(rows-1)*cellHeight+2*margin
	return m
}

func typing(s Scene) time.Duration {
	return time.Second/2 + time.Duration(ansi.StringWidth(s.Command))*perLetter
}

func reading(s Scene) time.Duration {
	return atLeast + time.Duration(strings.Count(s.Output, "\n")+1)*perLine
}

// share is a moment as a part of the whole.
func (m motion) share(at time.Duration) string {
	return fmt.Sprintf("%.2f%%", 100*float64(at)/float64(m.whole))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }

// appears shows an element from a moment on.
func (m motion) appears(b *strings.Builder, class string, i int, from time.Duration) {
	fmt.Fprintf(b, "#%[1]s%[2]d{animation-name:%[1]s%[2]d}@keyframes %[1]s%[2]d{", class, i)
	if from > 0 {
		b.WriteString("0%{visibility:hidden}")
	}
	fmt.Fprintf(b, "%s,100%%{visibility:visible}}\n", m.share(from))
}

// draw writes a scene: the command, a sheet with a cursor that moves off it letter by
// letter, and what is printed. It returns the top of the next one, with a blank line between.
func (m motion) draw(b *strings.Builder, i int, top float64, s Scene) float64 {
	fmt.Fprintf(b, `<g id="s%d" class="s">`+"\n", i)
	pen{}.line(b, prompt+"\x1b[1m"+s.Command, top)
	end := margin + float64(ansi.StringWidth(prompt+s.Command))*cellWidth
	fmt.Fprintf(b, `<g id="c%d" class="c" visibility="hidden"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/></g>`+"\n",
		i, end, top, m.width, cellHeight, paper, end, top+2, cellWidth, cellHeight-4, ink)
	fmt.Fprintf(b, `<g id="o%d" class="o">`+"\n", i)
	for l := range strings.SplitSeq(s.Output, "\n") {
		top += cellHeight
		pen{}.line(b, l, top)
	}
	b.WriteString("</g>\n</g>\n")
	return top + 2*cellHeight
}
