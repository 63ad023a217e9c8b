package kubectl

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/ending"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
)

// Wrap makes a command of kubectl, with all below it, return its errors. It comes back
// changed: its examples call this program.
func Wrap(c *cobra.Command) *cobra.Command {
	if run := c.Run; run != nil {
		c.Run = nil
		c.RunE = func(c *cobra.Command, args []string) error {
			return Until(c.Context(), func() error { return Call(func() { run(c, args) }) })
		}
		c.PreRunE = required
	}
	c.Example = strings.ReplaceAll(c.Example, "kubectl ", "kubectl kruise ")
	for _, sub := range c.Commands() {
		Wrap(sub)
	}
	return c
}

// required asks for flags that a command cannot do without, as an error of usage.
func required(c *cobra.Command, _ []string) error {
	if err := c.ValidateRequiredFlags(); err != nil {
		return usage.Errorf("see '"+c.CommandPath()+" --help'", "%w", err)
	}
	return nil
}

// Call runs what kubectl would end the process from, and returns that end as an error.
func Call(run func()) (err error) {
	cmdutil.BehaviorOnFatal(func(text string, code int) { panic(end{text, code}) })
	defer func() {
		switch e := recover().(type) {
		case nil:
		case end:
			err = e.err()
		default:
			panic(e)
		}
	}()
	run()
	return nil
}

// end is how kubectl wanted to end the process.
type end struct {
	text string
	code int
}

// errWithout is an end of which kubectl has told everything itself.
var errWithout = errors.New("")

func (e end) err() error {
	text := strings.TrimSpace(strings.TrimPrefix(e.text, "error: "))
	if said, see, ok := strings.Cut(text, "\nSee '"); ok {
		call, _, _ := strings.Cut(see, "'")
		return usage.Errorf("see '"+strings.TrimSuffix(call, " -h")+" --help'", "%s", said)
	}
	if text == "" {
		return &ending.CodeError{Code: e.code, Err: errWithout}
	}
	if e.code > 1 {
		return &ending.CodeError{Code: e.code, Err: errors.New(text)}
	}
	return errors.New(text)
}
