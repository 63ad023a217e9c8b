package product

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// Said is what a command came to.
type Said struct {
	Code     int
	Out, Err string
}

// Call runs the binary, which is ended with the test.
func Call(tb testing.TB, args ...string) Said {
	tb.Helper()
	path, err := Binary()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), path, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		tb.Fatal(err)
	}
	return Said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// Wants fails the test unless the command ended with a code and said all these texts,
// wherever.
func (s Said) Wants(tb testing.TB, code int, texts ...string) {
	tb.Helper()
	ok := s.Code == code
	for _, text := range texts {
		ok = ok && strings.Contains(s.Out+s.Err, text)
	}
	if !ok {
		tb.Errorf("exit %d, want %d and %q\n%s\n%s", s.Code, code, texts, s.Out, s.Err)
	}
}
