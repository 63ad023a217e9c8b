// Package terminal runs the terminal interface on the streams of a command.
package terminal

import (
	"context"
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
)

// Check refuses streams that are no terminal; instead says what to do then.
func Check(s factory.Streams, instead string) error {
	if s.InTTY && s.OutTTY {
		return nil
	}
	return command.Usagef(instead, "standard input and output are not a terminal")
}

// Appearance is how the interface looks and how it calls for attention, by flags.
type Appearance struct{ theme, notify string }

// AddFlags adds --theme and --notify.
func (l *Appearance) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&l.theme, "theme", "auto", "colors for a background that is light or dark; auto asks the terminal, then $COLORFGBG")
	f.StringVar(&l.notify, "notify", "bell", "notification when a rollout fails or waits for approval: bell, desktop (OSC 9 or 777) or off")
}

// Complete reads the flags into options.
func (l *Appearance) Complete(getenv func(string) string, o *tui.Options) error {
	switch l.theme {
	case "light", "dark":
		o.Theme.Light, o.Ground = l.theme == "light", true
	case "auto", "":
		o.Theme.Light = light(getenv("COLORFGBG"))
	default:
		return command.Usagef("light, dark or auto", "--theme: %q is not a theme", l.theme)
	}
	switch l.notify {
	case "off", "":
		o.Notify = tui.Silent
	case "bell":
		o.Notify = tui.Bell
	case "desktop":
		o.Notify = tui.OSC9
		if strings.HasPrefix(getenv("TERM"), "rxvt") || getenv("VTE_VERSION") != "" {
			o.Notify = tui.OSC777
		}
	default:
		return command.Usagef("bell, desktop or off", "--notify: %q is not a way to notify", l.notify)
	}
	return nil
}

// light reports whether COLORFGBG names a light background: white, or a bright color.
func light(value string) bool {
	n, err := strconv.Atoi(value[strings.LastIndexByte(value, ';')+1:])
	return err == nil && (n == 7 || n >= 9 && n <= 15)
}

// Run shows the interface until it is left or the context ends. color is the value of
// the flag --color. next is the context of the kubeconfig to go to, empty to end.
func Run(ctx context.Context, s factory.Streams, color string, o tui.Options) (next string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o.Theme.ASCII = factory.ASCII(s.Getenv)
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(text.Unwrap(s.Out))}
	if color == "never" {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	} else {
		o.Theme.Colors = draw.Many
	}
	end, err := tea.NewProgram(tui.New(ctx, o), options...).Run()
	if m, ok := end.(tui.Model); ok {
		if m.Err() != nil {
			return "", m.Err()
		}
		next = m.Next()
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return "", ctx.Err()
	}
	return next, err
}
