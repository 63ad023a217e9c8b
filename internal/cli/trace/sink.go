package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/go-logr/logr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
)

// withBodies is from which level client-go tells of bodies; it cuts them below the
// highest, where they are no JSON any more.
const withBodies = 8

// room is how much of a body is shown at a level, as kubectl does.
var room = map[int]int{8: 1024, 9: 10240}

// sink writes what client-go logs, without what is secret.
type sink struct {
	level  int
	out    *lines
	values []any
}

// lines keeps lines of several goroutines apart.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, line+"\n") // nobody is left to hear of it
}

// asked is the level that libraries see: bodies are masked here, and cut afterwards.
func (s *sink) asked() int {
	if s.level >= withBodies {
		return most
	}
	return s.level
}

func (*sink) Init(logr.RuntimeInfo) {}

func (s *sink) Enabled(level int) bool { return level <= s.asked() }

func (s *sink) Info(level int, msg string, more ...any) {
	if level <= s.level || s.level == withBodies && level == withBodies+1 { // as it takes the level to be higher
		s.out.write(s.line(msg, more))
	}
}

func (s *sink) Error(err error, msg string, more ...any) {
	s.out.write(s.line(msg, append([]any{"err", err}, more...)))
}

func (s *sink) WithName(string) logr.LogSink { return s }

func (s *sink) WithValues(more ...any) logr.LogSink {
	out := *s
	out.values = append(append([]any(nil), s.values...), more...)
	return &out
}

func (s *sink) line(msg string, more []any) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(msg))
	all := append(append([]any(nil), s.values...), more...)
	for i := 0; i+1 < len(all); i += 2 {
		key := fmt.Sprint(all[i])
		if key == "body" {
			_, _ = fmt.Fprintf(&b, " %s=%s", key, s.body(fmt.Sprint(all[i+1])))
			continue
		}
		_, _ = fmt.Fprintf(&b, " %s=%q", key, fmt.Sprint(all[i+1]))
	}
	return b.String()
}

// body is the body of a request or of an answer. What cannot be read is not shown: who
// knows what is in it.
func (s *sink) body(text string) string {
	if text == "" {
		return "(none)"
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return fmt.Sprintf("(%d bytes that are no JSON)", len(text))
	}
	shown, err := json.Marshal(mask.Patch(v, nil))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	if n, cut := room[s.level]; cut && len(shown) > n {
		return fmt.Sprintf("%s [truncated %d bytes]", shown[:n], len(shown)-n)
	}
	return string(shown)
}
