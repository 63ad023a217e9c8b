package factory

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
)

// maxVerbosity is the highest level: bodies as long as they are.
const maxVerbosity = 10

// logs says whether libraries log nothing already: their logger is one for the process, and is not replaced while
// they use it.
var logs struct {
	sync.Mutex

	silent bool
}

// SilenceLogs has libraries log nothing: what they say is not meant for users.
func SilenceLogs() {
	logs.Lock()
	defer logs.Unlock()
	if logs.silent {
		return
	}
	klog.SetLogger(logr.Discard())
	setVerbosity(0)
	logs.silent = true
}

func setVerbosity(level int) {
	fl := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(fl)
	_ = fl.Set("v", strconv.Itoa(level)) // it is a number
}

// AddVerbosityFlag adds --v, which writes to out from when it is read. It is hidden among
// kubectl's other flags.
func AddVerbosityFlag(fl *pflag.FlagSet, out io.Writer) {
	fl.Var(&verbosityFlag{out: out}, "v", "log requests to the server on stderr: 6 requests, 7 and headers, 8 and 9 and bodies, 10 in full; values of Secrets are not shown")
	_ = fl.MarkHidden("v")
}

// SpellVerbosity spells kubectl's -v=9 as --v=9, up to a --: in many commands -v is --verbose,
// which takes no number.
func SpellVerbosity(args []string) []string {
	out := append([]string(nil), args...)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		number, ok := strings.CutPrefix(arg, "-v=")
		if n, err := strconv.Atoi(number); ok && err == nil && n > 1 {
			out[i] = "-" + arg
		}
	}
	return out
}

// verbosityFlag is the value of --v.
type verbosityFlag struct {
	n   int
	out io.Writer
}

func (l *verbosityFlag) String() string { return strconv.Itoa(l.n) }

func (*verbosityFlag) Type() string { return "level" }

// Set has libraries log up to a level.
func (l *verbosityFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a level: want a number from 0 to %d", text, maxVerbosity)
	}
	if l.n = min(n, maxVerbosity); l.n == 0 {
		SilenceLogs()
		return nil
	}
	s := &logSink{level: l.n, out: &lineWriter{out: l.out}}
	logs.Lock()
	defer logs.Unlock()
	logs.silent = false
	klog.SetLoggerWithOptions(logr.New(s), klog.ContextualLogger(true))
	setVerbosity(s.libraryLevel())
	return nil
}

// bodyVerbosity is from which level client-go logs bodies; it cuts them below the
// highest, where they are no JSON any more.
const bodyVerbosity = 8

// bodyLimits is how much of a body is shown at a level, as kubectl does.
var bodyLimits = map[int]int{8: 1024, 9: 10240}

// logSink writes what client-go logs, without what is secret.
type logSink struct {
	level  int
	out    *lineWriter
	values []any
}

// lineWriter keeps lines of several goroutines apart.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lineWriter) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, line+"\n") // there is no other stream to report it on
}

// libraryLevel is the level that libraries see: bodies are masked here, and cut afterwards.
func (s *logSink) libraryLevel() int {
	if s.level >= bodyVerbosity {
		return maxVerbosity
	}
	return s.level
}

func (*logSink) Init(logr.RuntimeInfo) {}

func (s *logSink) Enabled(level int) bool { return level <= s.libraryLevel() }

func (s *logSink) Info(level int, msg string, more ...any) {
	if level <= s.level || s.level == bodyVerbosity && level == bodyVerbosity+1 { // as it takes the level to be higher
		s.out.write(s.line(msg, more))
	}
}

func (s *logSink) Error(err error, msg string, more ...any) {
	s.out.write(s.line(msg, append([]any{"err", err}, more...)))
}

func (s *logSink) WithName(string) logr.LogSink { return s }

func (s *logSink) WithValues(more ...any) logr.LogSink {
	out := *s
	out.values = append(append([]any(nil), s.values...), more...)
	return &out
}

func (s *logSink) line(msg string, more []any) string {
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
func (s *logSink) body(text string) string {
	if text == "" {
		return "(none)"
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return fmt.Sprintf("(not JSON: %s)", counted.Of(len(text), "byte"))
	}
	shown, err := json.Marshal(redact.Patch(v, nil))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	if n, cut := bodyLimits[s.level]; cut && len(shown) > n {
		return fmt.Sprintf("%s [truncated %s]", shown[:n], counted.Of(len(shown)-n, "byte"))
	}
	return string(shown)
}
