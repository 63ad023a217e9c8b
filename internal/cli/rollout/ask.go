package rollout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

// ask asks before something big is changed. Without a terminal nobody can answer,
// and nobody is waited for. Ctrl-C is an answer, too, and so is the end of the input.
func (c *common) ask(ctx context.Context, yes bool, question string) error {
	s := c.factory.Streams
	switch {
	case yes:
		return nil
	case !s.InTTY:
		return command.Usagef("--yes answers", "cannot ask for confirmation: stdin is not a terminal")
	}
	_, _ = fmt.Fprintf(s.Err, "%s [y/N] ", question)
	var answer string
	err := kubectl.Until(ctx, func() (err error) {
		answer, err = bufio.NewReader(s.In).ReadString('\n')
		return err
	})
	if err != nil {
		_, _ = fmt.Fprintln(s.Err) // nobody has ended the line
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was changed")
}
