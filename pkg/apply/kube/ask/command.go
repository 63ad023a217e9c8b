package ask

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// mostOutput is how much of what a command says is looked at, from its end.
const mostOutput = 16 << 10

// command runs a command on this machine; exit code 0 is good, and the last line that
// it wrote is the text.
func command(ctx context.Context, args []string) Answer {
	var out tail
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, time.Second
	err := c.Run()
	text := hidden(out.lastLine(), os.Environ())
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Answer{true, orText(text, "exit code 0")}
	case errors.As(err, &exit):
		return Answer{false, strings.TrimSuffix(fmt.Sprintf("%s: %s", exit.ProcessState, text), ": ")}
	}
	return Answer{false, err.Error()}
}

func orText(text, byDefault string) string {
	if text == "" {
		return byDefault
	}
	return text
}

// tail keeps the end of what is written.
type tail struct{ text []byte }

// Write takes everything.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - mostOutput; extra > 0 {
		t.text = t.text[extra:]
	}
	return len(p), nil
}

// lastLine is the last line that says anything.
func (t *tail) lastLine() string {
	text := strings.TrimSpace(string(t.text))
	return short(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}

// mostText is how many characters an answer has.
const mostText = 200

// short is printable text of a length that fits a line.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > mostText {
		return string(runes[:mostText]) + "…"
	}
	return text
}

// secretive are parts of names of variables whose values are nobody's business.
var secretive = []string{"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL"}

// leastSecret is how long a value must be to be recognised in a text.
const leastSecret = 6

// hidden is text without the values of variables that look secret.
func hidden(text string, environ []string) string {
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		for _, part := range secretive {
			if len(value) >= leastSecret && strings.Contains(strings.ToUpper(name), part) {
				text = strings.ReplaceAll(text, value, "***")
			}
		}
	}
	return text
}
