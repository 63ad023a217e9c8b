package kubectl

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl/english"
)

func TestCall_ReturnsErrorsOfKubectl(t *testing.T) {
	parent := &cobra.Command{Use: "kruise"}
	c := &cobra.Command{Use: "patch"}
	parent.AddCommand(c)
	for name, test := range map[string]struct {
		err        error
		text, hint string
		code       int
	}{
		"done":          {},
		"plain":         {err: errors.New("no"), text: "no"},
		"wrong call":    {err: cmdutil.UsageErrorf(c, "name one"), text: "name one", hint: "see 'kruise patch --help'"},
		"said all":      {err: cmdutil.ErrExit, code: 1},
		"a code of its": {err: exit{}, text: "ended", code: 7},
	} {
		t.Run(name, func(t *testing.T) {
			err := withoutExit(func() { cmdutil.CheckErr(test.err) })
			if test.err == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || err.Error() != test.text {
				t.Errorf("%v, want %q", err, test.text)
			}
			bad, wrong := errors.AsType[*command.UsageError](err)
			if wrong != (test.hint != "") || wrong && bad.Hint != test.hint {
				t.Errorf("%+v, want the hint %q", err, test.hint)
			}
			own, coded := errors.AsType[*command.CodeError](err)
			if coded != (test.code != 0) || coded && own.Code != test.code {
				t.Errorf("%+v, want the code %d", err, test.code)
			}
			if command.Silent(err) != (test.text == "") {
				t.Errorf("%v: silent is %v", err, command.Silent(err))
			}
		})
	}
}

// exit is the end of a program that ran elsewhere.
type exit struct{}

func (exit) Error() string   { return "ended" }
func (exit) String() string  { return "ended" }
func (exit) Exited() bool    { return true }
func (exit) ExitStatus() int { return 7 }

// TestCall_PassesPanics: only ends of kubectl become errors.
func TestCall_PassesPanics(t *testing.T) {
	defer func() {
		if recover() != "broken" {
			t.Error("the panic is gone")
		}
	}()
	_ = withoutExit(func() { panic("broken") })
}

// TestWrap: no command that is taken over can end the process, and what its help shows
// can be typed.
func TestWrap(t *testing.T) {
	f := factory.New(factory.Streams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Run != nil {
			t.Errorf("%s: would end the process", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			if strings.Contains(line, "kubectl ") && !strings.Contains(line, "kubectl kruise ") {
				t.Errorf("%s: the example calls another program: %s", c.CommandPath(), line)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, c := range Commands(f) {
		walk(c)
	}
}

func TestMessages_AreEnglish(t *testing.T) {
	if !english.Only {
		t.Error("translations were loaded before")
	}
}
