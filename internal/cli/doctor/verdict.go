package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
)

// VerdictStatus is how a thing is.
type VerdictStatus string

// The statuses.
const (
	OK   VerdictStatus = "ok"
	Warn VerdictStatus = "warn"
	Fail VerdictStatus = "fail"
)

// VerdictLine is what is said of one thing.
type VerdictLine struct {
	Status VerdictStatus `json:"status"`
	// Topic is what was looked at, in one word or two.
	Topic string `json:"topic"`
	Text  string `json:"text"`
	// Hint is what to do about it, "" where there is nothing to do.
	Hint string `json:"hint,omitempty"`
}

// Passed is a line about what is as it should be.
func Passed(topic, format string, args ...any) VerdictLine {
	return VerdictLine{Status: OK, Topic: topic, Text: fmt.Sprintf(format, args...)}
}

// Warned is a line about what may be in the way.
func Warned(topic, hint, format string, args ...any) VerdictLine {
	return VerdictLine{Status: Warn, Topic: topic, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Failed is a line about what is in the way.
func Failed(topic, hint, format string, args ...any) VerdictLine {
	return VerdictLine{Status: Fail, Topic: topic, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// CountVerdicts is the number of lines with a status.
func CountVerdicts(lines []VerdictLine, s VerdictStatus) int {
	n := 0
	for _, l := range lines {
		if l.Status == s {
			n++
		}
	}
	return n
}

// WriteVerdictJSON writes the lines as one list.
func WriteVerdictJSON(w io.Writer, lines []VerdictLine) error {
	if lines == nil {
		lines = []VerdictLine{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(lines)
}

// WriteVerdictText writes the lines in columns, and how many of them are not ok. width is that of the
// terminal, 0 without one; paint colours a status.
func WriteVerdictText(w io.Writer, lines []VerdictLine, width int, paint func(VerdictStatus, string) string) error {
	wide := 0
	for _, l := range lines {
		wide = max(wide, len(l.Topic))
	}
	indent, room := "\n"+strings.Repeat(" ", wide+8), 0
	if width > 0 {
		room = max(width-wide-8, 20)
	}
	for _, l := range lines {
		text := fmt.Sprintf("%s  %-*s  %s", paint(l.Status, fmt.Sprintf("%-4s", l.Status)), wide, l.Topic, strings.Join(view.Wrap(l.Text, room), indent))
		if l.Hint != "" {
			text += indent + strings.Join(view.Wrap("hint: "+l.Hint, room), indent)
		}
		if _, err := io.WriteString(w, text+"\n"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d ok, %d warn, %d fail\n", CountVerdicts(lines, OK), CountVerdicts(lines, Warn), CountVerdicts(lines, Fail))
	return err
}
