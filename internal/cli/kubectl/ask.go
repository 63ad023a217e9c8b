package kubectl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// Ask asks a question that only "y" or "yes" answers with yes; any other answer is an error. Without a
// terminal there is no answer, and none is waited for. Ctrl-C is an answer, too, and so is the end of
// the input.
func Ask(ctx context.Context, f *factory.Factory, question string) error {
	s := f.Streams
	if !s.InTTY {
		return command.Usagef("add --yes to confirm without being asked", "cannot ask for confirmation: stdin is not a terminal")
	}
	defer f.Hold()()
	_, _ = fmt.Fprintf(s.Err, "%s [y/N] ", question)
	var answer string
	err := Until(ctx, func() (err error) {
		answer, err = bufio.NewReader(s.In).ReadString('\n')
		return err
	})
	if err != nil {
		_, _ = fmt.Fprintln(s.Err) // the user has not ended the line
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
