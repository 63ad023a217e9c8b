package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// verdictStatus is how a thing is.
type verdictStatus string

// The statuses.
const (
	okVerdict   verdictStatus = "ok"
	warnVerdict verdictStatus = "warn"
	fail        verdictStatus = "fail"
)

// verdictLine is the line about one finding.
type verdictLine struct {
	Status verdictStatus `json:"status"`
	// Topic is what was looked at, in one word or two.
	Topic string `json:"topic"`
	Text  string `json:"text"`
	// Hint is what to do about it, "" where there is nothing to do.
	Hint string `json:"hint,omitempty"`
}

// passed is a line about what is as it should be.
func passed(topic, format string, args ...any) verdictLine {
	return verdictLine{Status: okVerdict, Topic: topic, Text: fmt.Sprintf(format, args...)}
}

// warned is a line about a possible problem.
func warned(topic, hint, format string, args ...any) verdictLine {
	return verdictLine{Status: warnVerdict, Topic: topic, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// failedVerdict is a line about a problem.
func failedVerdict(topic, hint, format string, args ...any) verdictLine {
	return verdictLine{Status: fail, Topic: topic, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// countVerdicts is the number of lines with a status.
func countVerdicts(lines []verdictLine, s verdictStatus) int {
	n := 0
	for _, l := range lines {
		if l.Status == s {
			n++
		}
	}
	return n
}

// writeVerdictJSON writes the lines as one list.
func writeVerdictJSON(w io.Writer, lines []verdictLine) error {
	if lines == nil {
		lines = []verdictLine{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(lines)
}

// writeVerdictText writes the lines in columns, and how many of them are not ok. paint colours a status.
func writeVerdictText(w io.Writer, lines []verdictLine, paint func(verdictStatus, string) string) error {
	wide := 0
	for _, l := range lines {
		wide = max(wide, len(l.Topic))
	}
	for _, l := range lines {
		text := fmt.Sprintf("%s  %-*s  %s", paint(l.Status, fmt.Sprintf("%-4s", l.Status)), wide, l.Topic, l.Text)
		if l.Hint != "" {
			text += "\n" + strings.Repeat(" ", wide+8) + "hint: " + l.Hint
		}
		if _, err := io.WriteString(w, text+"\n"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d ok, %d warn, %d fail\n", countVerdicts(lines, okVerdict), countVerdicts(lines, warnVerdict), countVerdicts(lines, fail))
	return err
}
