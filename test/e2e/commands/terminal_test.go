package commands

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// terminal runs the product on a terminal of 120 columns, on which a person types a
// text.
func (b *bed) terminal(t *testing.T, typed string, args ...string) answer {
	t.Helper()
	cmd := b.command(t, args...)
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	must(t, err)
	defer screen.Close()
	_, err = io.WriteString(screen, typed)
	must(t, err)
	var out bytes.Buffer
	// When the program ends, reading a terminal is an error.
	_, _ = io.Copy(&out, screen)
	return answer{args, exitOf(t, cmd.Wait()), strings.ReplaceAll(out.String(), "\r\n", "\n"), ""}
}
