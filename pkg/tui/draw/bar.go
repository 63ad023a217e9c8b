package draw

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Part is one part of a bar.
type Part struct {
	Count  int
	Symbol string
	Style  theme.Style
}

// Bar draws parts side by side in so many columns. Every part that is not empty has
// at least one, however small, since one bad pod of a thousand is what matters.
func Bar(width int, parts ...Part) Line {
	total := 0
	for _, p := range parts {
		total += max(p.Count, 0)
	}
	if total == 0 || width <= 0 {
		return Text(theme.Faint, Spaces(width))
	}
	columns := shares(width, total, parts)
	var l Line
	for i, p := range parts {
		if columns[i] > 0 {
			l = l.Add(p.Style, strings.Repeat(p.Symbol, columns[i]))
		}
	}
	return l
}

// shares divides columns among parts; what rounding makes too much is taken from the
// largest.
func shares(width, total int, parts []Part) []int {
	columns := make([]int, len(parts))
	sum, largest := 0, 0
	for i, p := range parts {
		if p.Count > 0 {
			columns[i] = max(p.Count*width/total, 1)
		}
		sum += columns[i]
		if columns[i] > columns[largest] {
			largest = i
		}
	}
	columns[largest] = max(columns[largest]+width-sum, 0)
	return columns
}
