package screen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// ZoneLabel is the label of nodes that says where they are.
const ZoneLabel = "topology.kubernetes.io/zone"

// Health is the symbol of a health and its word.
func Health(t *draw.Theme, h world.Health) draw.Line {
	return draw.Text(HealthStyle(h), HealthSymbol(t, h)+" "+h.String())
}

// HealthSymbol is its symbol alone.
func HealthSymbol(t *draw.Theme, h world.Health) string {
	s := t.Symbols
	return [...]string{s.Unknown, s.Healthy, s.Busy, s.Aborted, s.Paused, s.Degraded, s.Blocked}[h]
}

// HealthStyle is its style.
func HealthStyle(h world.Health) draw.Style {
	return [...]draw.Style{draw.Faint, draw.Good, draw.Busy, draw.Outdated, draw.Wait, draw.Warn, draw.Bad}[h]
}

// ByHealth is how many there are of each health.
type ByHealth [world.Blocked + 1]int

// Counts are they with symbols, the most urgent first, and with words where these have room.
func Counts(t *draw.Theme, count ByHealth, width int) draw.Line {
	var long, short draw.Line
	for h, n := range slices.Backward(count[:]) {
		if h := world.Health(h); n > 0 {
			text := fmt.Sprintf("%s %d", HealthSymbol(t, h), n)
			long = long.Add(draw.Plain, "  ").Add(HealthStyle(h), text+" "+h.String())
			short = short.Add(draw.Plain, "  ").Add(HealthStyle(h), text)
		}
	}
	if long.Width() > width {
		return short
	}
	return long
}

// Event is the age of an event, its reason, and how often it was reported.
func Event(now time.Time, e world.Event) draw.Line {
	style := draw.Plain
	if e.Warning {
		style = draw.Bad
	}
	l := draw.Text(draw.Faint, fmt.Sprintf("%4s ", Age(now, e.At))).Add(style, e.Reason+" ")
	if e.Count > 1 {
		l = l.Add(draw.Strong, fmt.Sprintf("x%d ", e.Count))
	}
	return l
}

// Age is how long ago a time was, in a few characters; empty for no time.
func Age(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(now.Sub(then), 0))
}

// keyed are the commands of hints that a key of the interface carries out, with the key and its word in the last line.
var keyed = []struct{ command, key, word string }{
	{"kubectl kruise rollout promote ", Promote, "promote"},
	{"kubectl kruise rollout resume ", PauseResume, "resume"},
	{"kubectl kruise rollout retry ", PauseResume, "retry"},
	{"kubectl kruise rollout undo ", Undo, "undo"},
	{"kubectl logs --previous ", "l, then p", ""},
}

// Promote, PauseResume, Undo, Abort and Partition are the keys of rollouts.
const (
	Promote     = ">"
	PauseResume = "P"
	Undo        = "u"
	Abort       = "a"
	Partition   = "e"
)

// keyOf is the key that carries a command out, and its word; "" for none.
func keyOf(command string) (key, word string) {
	if strings.HasPrefix(command, "kubectl kruise rollout abort ") {
		if strings.Contains(command, " --rollback") {
			return Undo, "undo"
		}
		return Abort, "abort"
	}
	for _, k := range keyed {
		if strings.HasPrefix(command, k.command) {
			return k.key, k.word
		}
	}
	return "", ""
}

// quoted is a command of a hint, and what it is said to do.
var quoted = regexp.MustCompile(`'([^']+)'( [a-z]+s\b)?`)

// Remedy is what to do about a cause: the hint of `why`, with the keys of the interface in the place of commands that
// they carry out; copyable completes those that are left.
func Remedy(c diagnose.Cause, copyable func(hint string) string) string {
	if c.Gate == plan.GatePartition && strings.HasPrefix(c.Hint, "lower the partition: ") {
		return Partition + " partition"
	}
	if key, word := keyOf(c.Hint); key != "" {
		return strings.TrimSpace(key + " " + word)
	}
	text := quoted.ReplaceAllStringFunc(c.Hint, func(part string) string {
		m := quoted.FindStringSubmatch(part)
		switch key, word := keyOf(m[1]); {
		case key == "":
			return part
		case m[2] == "" && word != "":
			return key + " " + word
		default:
			return key + m[2]
		}
	})
	if strings.Contains(text, "kubectl ") {
		return "hint: " + copyable(text)
	}
	return text
}
