package rollout

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
)

// ask asks before something big is changed. Without a terminal nobody can answer,
// and nobody is waited for.
func (c *common) ask(yes bool, question string) error {
	s := c.factory.Streams
	switch {
	case yes:
		return nil
	case !s.InTTY:
		return usage.Errorf("--yes answers", "nobody can be asked: stdin is no terminal")
	}
	_, _ = fmt.Fprintf(s.Err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was changed")
}
