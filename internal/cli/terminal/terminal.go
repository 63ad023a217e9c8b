// Package terminal runs the terminal interface on the streams of a command.
package terminal

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
)

// Check refuses streams that nobody sits at; instead says what to do then.
func Check(s factory.Streams, instead string) error {
	if s.InTTY && s.OutTTY {
		return nil
	}
	return usage.Errorf(instead, "standard input and output are no terminal")
}

// Run shows the interface until it is left or the context ends. color is the value of
// the flag --color.
func Run(ctx context.Context, s factory.Streams, color string, o tui.Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.Theme.ASCII = factory.ASCII(s.Getenv)
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(text.Unwrap(s.Out))}
	if color == "never" {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	} else {
		o.Theme.Colors = theme.Many
	}
	end, err := tea.NewProgram(tui.New(ctx, o), options...).Run()
	if m, ok := end.(tui.Model); ok && m.Err() != nil {
		return m.Err()
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
