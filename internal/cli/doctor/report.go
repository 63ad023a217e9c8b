package doctor

import (
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
)

// colours are those of a terminal, by status.
var colours = map[verdict.Status]string{verdict.OK: "\x1b[32m", verdict.Warn: "\x1b[33m", verdict.Fail: "\x1b[31m"}

// report writes all lines; one that fails is the exit code.
func (o *options) report(lines []verdict.Line) error {
	write := func() error {
		return verdict.Text(o.factory.Streams.Out, lines, o.factory.Streams.Width, o.paint(o.factory.OutStyle(false).Color))
	}
	if o.output == "json" {
		write = func() error { return verdict.JSON(o.factory.Streams.Out, lines) }
	}
	if err := write(); err != nil {
		return err
	}
	if verdict.Count(lines, verdict.Fail) > 0 {
		return &command.CodeError{Code: 1, Err: errors.New("")}
	}
	return nil
}

func (o *options) paint(colour bool) func(verdict.Status, string) string {
	return func(s verdict.Status, text string) string {
		if !colour {
			return text
		}
		return colours[s] + text + "\x1b[0m"
	}
}
