// Package verdict is what a doctor says: lines with a status and a hint, as text and as
// JSON.
package verdict

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
)

// Status is how a thing is.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Line is what is said of one thing.
type Line struct {
	Status Status `json:"status"`
	// Topic is what was looked at, in one word or two.
	Topic string `json:"topic"`
	Text  string `json:"text"`
	// Hint is what to do about it, "" where there is nothing to do.
	Hint string `json:"hint,omitempty"`
}

// Good is a line about what is as it should be.
func Good(topic, format string, args ...any) Line {
	return Line{Status: OK, Topic: topic, Text: fmt.Sprintf(format, args...)}
}

// Odd is a line about what may be in the way.
func Odd(topic, hint, format string, args ...any) Line {
	return Line{Status: Warn, Topic: topic, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Bad is a line about what is in the way.
func Bad(topic, hint, format string, args ...any) Line {
	return Line{Status: Fail, Topic: topic, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Count is the number of lines with a status.
func Count(lines []Line, s Status) int {
	n := 0
	for _, l := range lines {
		if l.Status == s {
			n++
		}
	}
	return n
}

// JSON writes the lines as one list.
func JSON(w io.Writer, lines []Line) error {
	if lines == nil {
		lines = []Line{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(lines)
}

// Text writes the lines in columns, and how many of them are not ok. width is that of the
// terminal, 0 without one; paint colours a status.
func Text(w io.Writer, lines []Line, width int, paint func(Status, string) string) error {
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
	_, err := fmt.Fprintf(w, "%d ok, %d warn, %d fail\n", Count(lines, OK), Count(lines, Warn), Count(lines, Fail))
	return err
}
