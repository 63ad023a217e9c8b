package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// Logs is a bounded sample of the logs of one side.
type Logs struct {
	// Pods is how many pods were read, Lines how many lines, Errors how many of these look
	// like errors.
	Pods   int `json:"pods"`
	Lines  int `json:"lines"`
	Errors int `json:"errorLines"`
	// Minutes is the time that the lines cover, of all pods together.
	Minutes float64 `json:"minutes"`
	// PerMinute is how many lines of a pod look like errors in a minute.
	PerMinute float64 `json:"errorLinesPerMinute"`
}

// Add takes the log of one container in, whose lines cover a time. first is true for the
// first container of a pod.
func (l *Logs) Add(text string, covers time.Duration, first bool) {
	if first {
		l.Pods++
		l.Minutes += covers.Minutes()
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			l.Lines++
			if ErrorLike(line) {
				l.Errors++
			}
		}
	}
	if l.Minutes > 0 {
		l.PerMinute = float64(l.Errors) / l.Minutes
	}
}

func (l *Logs) text() string {
	if l == nil || l.Pods == 0 {
		return "not read"
	}
	return fmt.Sprintf("%.1f in %s", l.PerMinute, counted.Of(l.Pods, "pod"))
}

var (
	alarming = regexp.MustCompile(`(?i)\b(error|err|fatal|panic|exception|critical|traceback|segfault)\b|^[EF]\d{4} |\b(level|severity)["']?[=:]\s*["']?(err|error|fatal|critical)\b`)
	harmless = regexp.MustCompile(`(?i)\b(no|0|zero|without) (errors?|exceptions?)\b|\b(errors?|err|exceptions?)["']?\s*[=:]\s*["']?(0|nil|null|none|false|<nil>|""|'')(\W|$)`)
)

// ErrorLike reports whether a line of a log looks like an error: by its level, or by a word such
// as "error". It is a guess, good for comparing two revisions of one program.
func ErrorLike(line string) bool {
	const most = 2000
	line = line[:min(len(line), most)]
	return alarming.MatchString(harmless.ReplaceAllString(line, " "))
}
