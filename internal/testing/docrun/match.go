package docrun

import (
	"regexp"
	"slices"
	"strings"
)

// ellipsis stands for what a page leaves out.
const ellipsis = "…"

// moving are the parts of an output that are others in each run, and what stands for
// them: times, lengths of time, what Kubernetes makes up for names, nodes. What is
// aligned with them moves, too.
var moving = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "<time>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "<clock>"},
	{regexp.MustCompile(`\bsha256:[0-9a-f]{32}\b`), "<digest>"},
	{regexp.MustCompile(`\bnode-\d+\b`), "node-<n>"},
	// Hashes of templates, then the five letters of a name that a controller gave.
	{regexp.MustCompile(`-[a-f0-9]{8,10}\b|-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b`), "-<hash>"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-<name>"},
	// After the names, some of which read as one: web-24h6m.
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|h|m|s|d))+\b`), "<while>"},
	{regexp.MustCompile(` {2,}`), "  "},
}

// still is a line without what moves.
func still(line string) string {
	for _, m := range moving {
		line = m.is.ReplaceAllString(line, m.as)
	}
	return strings.TrimRight(line, " ")
}

// Match reports whether an output is what a page shows of it.
func Match(shown, printed []string) bool {
	return match(stills(shown), stills(printed))
}

// stills are lines without what moves, and without empty ones at the end.
func stills(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, still(line))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func match(shown, printed []string) bool {
	for i, line := range shown {
		if strings.TrimSpace(line) == ellipsis {
			return slices.ContainsFunc(tails(printed[min(i, len(printed)):]), func(tail []string) bool { return match(shown[i+1:], tail) })
		}
		if i >= len(printed) || !alike(line, printed[i]) {
			return false
		}
	}
	return len(shown) == len(printed)
}

// tails are the lines, and what is left of them after the first, the second, …
func tails(lines []string) [][]string {
	out := [][]string{lines}
	for i := range lines {
		out = append(out, lines[i+1:])
	}
	return out
}

// alike compares one line, in which an ellipsis stands for any text.
func alike(shown, printed string) bool {
	if !strings.Contains(shown, ellipsis) {
		return shown == printed
	}
	var parts []string
	for part := range strings.SplitSeq(shown, ellipsis) {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(printed)
}
