package commands

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
)

// TestWait_InterruptEndsWith130: a user who interrupts a wait sees that by the exit code, whatever it is
// that waits, every time.
func TestWait_InterruptEndsWith130(t *testing.T) {
	t.Parallel()
	for name, condition := range map[string]string{
		"delete": "delete", "condition": "condition=Never", "jsonpath": "jsonpath={.status.readyReplicas}=99",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.Apply(t, b.namespace, cloneSet("web", ""))
			for range 3 {
				if code := b.interrupted(t, "watch=true", "-v=6", "wait", "cloneset/web", "--for", condition, "--timeout", "5m"); code != 130 {
					t.Errorf("exit %d", code)
				}
			}
		})
	}
}

// interrupted runs the product until it has said a word on its standard error, has it
// end as Ctrl-C does, and returns the exit code.
func (b *bed) interrupted(t *testing.T, word string, args ...string) int {
	t.Helper()
	cmd := b.command(t, args...)
	said, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), word) {
	}
	must(t, cmd.Process.Signal(os.Interrupt))
	_, err = io.Copy(io.Discard, said)
	must(t, err)
	return exitOf(t, cmd.Wait())
}
