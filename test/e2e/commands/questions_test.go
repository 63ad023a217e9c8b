package commands

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// asking are calls that ask before they change something, and what they ask.
var asking = []struct{ line, question string }{
	{"rollout run cloneset/web --image main=registry.example.com/web:2", "Roll out cloneset/web?"},
	{"rollout restart cloneset/web", "Roll out cloneset/web?"},
	{"rollout restart cloneset/web --in-place", "Restart the containers of all pods of cloneset/web?"},
	{"migrate deployment/web --to CloneSet --dst-name moved", "Do this?"},
}

// answers are what a person can type, with the code that the call ends with where
// nothing is to change.
var answers = map[string]struct {
	typed string
	code  int
	says  string
}{
	"no":      {"n\n", 1, "error: nothing was changed"},
	"nothing": {"\n", 1, "error: nothing was changed"},
	"Ctrl-D":  {"\x04", 1, "error: nothing was changed"},
	"Ctrl-C":  {"\x03", 130, ""},
}

// TestPrompts_OnlyYesChangesAnything: on a terminal a person is asked, and whatever is no yes changes nothing;
// in a pipe there is no prompt, and the command does not wait for one.
func TestPrompts_OnlyYesChangesAnything(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "")+workload("apps/v1", "Deployment", "web", ""), webCloneSet, webDeployment)
	before := b.get(t, kruiseV1, "CloneSet", "web").GetGeneration()
	for _, c := range asking {
		for name, a := range answers {
			t.Run(c.line+" "+name, func(t *testing.T) {
				got := b.typing(t, c.question+" [y/N] ", a.typed, strings.Fields(c.line)...)
				if got.ends(t, a.code, a.says); a.code == 130 && strings.Contains(got.out, "error:") {
					t.Errorf("Ctrl-C is no error:\n%s", got.out)
				}
			})
		}
	}
	b.call(t, "rollout", "run", "cloneset/web", "--image", "main=registry.example.com/web:2").ends(t, 2, "cannot ask for confirmation: stdin is not a terminal", "hint: add --yes to confirm")
	b.call(t, "migrate", "deployment/web", "--to", "CloneSet", "--dst-name", "moved").ends(t, 2, "cannot ask for confirmation", "hint: add --yes to confirm")
	if got := b.get(t, kruiseV1, "CloneSet", "web").GetGeneration(); got != before {
		t.Errorf("generation %d, was %d: something was written", got, before)
	}
	b.typing(t, "[y/N] ", "yes\n", "rollout", "run", "cloneset/web", "--image", "main=registry.example.com/web:2").ends(t, 0)
}

// typing runs the product on a terminal, on which a person types when a question is
// there.
func (b *bed) typing(t *testing.T, question, typed string, args ...string) answer {
	t.Helper()
	cmd := b.command(t, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	must(t, err)
	defer screen.Close()
	var out bytes.Buffer
	buf, asked := make([]byte, 1<<12), false
	for {
		n, err := screen.Read(buf)
		out.Write(buf[:n])
		if !asked && strings.Contains(out.String(), question) {
			asked = true
			_, err := io.WriteString(screen, typed)
			must(t, err)
		}
		if err != nil { // when the program ends, reading a terminal is an error
			break
		}
	}
	if !asked {
		t.Errorf("%q: %q was not asked", args, question)
	}
	return answer{args, exitOf(t, cmd.Wait()), strings.ReplaceAll(out.String(), "\r\n", "\n"), ""}
}

// colourful are calls with something in colour.
var colourful = []string{
	"rollout status cloneset/web --watch=false", "rollout history cloneset/web", "plan cloneset/web --image main=registry.example.com/web:2",
	"why cloneset/web", "spread workloadspread/web", "describe rollout web",
}

// TestColour_FollowsTerminalAndFlags: a terminal has it, a pipe has not, and NO_COLOR, --color and a terminal that
// has none are heeded.
func TestColour_FollowsTerminalAndFlags(t *testing.T) {
	t.Parallel()
	b := withRollouts(t)
	b.settle(t, cloneSet("web", "")+releaseOf("other")+`
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: web}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: missing}
  subsets: [{name: a, maxReplicas: 1}, {name: b}]
---
`+strings.Replace(releaseOf("web"), "name: web}\n  strategy", "name: astray}\n  strategy", 1), webCloneSet)
	for _, line := range colourful {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			plain := map[string]answer{
				"a pipe":        b.call(t, args...),
				"--color=never": b.terminal(t, "", append([]string{"--color=never"}, args...)...),
				"NO_COLOR":      b.terminalWith(t, []string{"TERM=xterm-256color", "NO_COLOR=1"}, args...),
				"TERM=dumb":     b.terminalWith(t, []string{"TERM=dumb"}, args...),
			}
			for where, got := range plain {
				if strings.Contains(got.out+got.err, "\x1b[") || got.code == 2 {
					t.Errorf("%s: exit %d\n%q", where, got.code, got.out+got.err)
				}
			}
		})
	}
	b.call(t, "--color=always", "plan", "cloneset/web", "--image", "main=registry.example.com/web:2").ends(t, 0, "\x1b[")
	b.terminal(t, "", "plan", "cloneset/web", "--image", "main=registry.example.com/web:2").ends(t, 0, "\x1b[")
}

// terminalWith runs the product on a terminal with an environment.
func (b *bed) terminalWith(t *testing.T, env []string, args ...string) answer {
	t.Helper()
	cmd := b.command(t, args...)
	cmd.Env = append(os.Environ(), env...)
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	must(t, err)
	defer screen.Close()
	var out bytes.Buffer
	_, _ = io.Copy(&out, screen) // when the program ends, reading a terminal is an error
	return answer{args, exitOf(t, cmd.Wait()), strings.ReplaceAll(out.String(), "\r\n", "\n"), ""}
}
