package docrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Ground is where a page is run.
type Ground struct {
	// Dir is the working directory at first; commands may change it for those below.
	Dir string
	// Env is added to the environment. Scripts see two variables beside it: NAMES, a
	// file to which they append lines "NAME-ON-THE-PAGE NAME-HERE", and TOP, the
	// directory at first.
	Env []string
}

// patience bounds one command; it only ends what would hang.
const patience = 5 * time.Minute

// shell runs one script after the other.
type shell struct {
	Ground
	bash, top string
	// state is a folder for what scripts tell.
	state string
}

// show runs a script of the page, with names as they are here.
func (s *shell) show(ctx context.Context, script string) (int, []string, error) {
	names, err := s.names()
	if err != nil {
		return 0, nil, err
	}
	return s.do(ctx, replaced(script, names))
}

// do runs a script where the one before ended, and returns its exit code and the lines
// of both streams, with names as on the page.
func (s *shell) do(ctx context.Context, script string) (int, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, s.bash, "-c", "trap 'pwd > \"$STATE/pwd\"' EXIT\n"+script)
	cmd.Dir, cmd.Env = s.Dir, slices.Concat(os.Environ(), s.Env, []string{"STATE=" + s.state, "TOP=" + s.top, "NAMES=" + s.namesFile()})
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	code, err := exitOf(cmd.Run())
	if err != nil {
		return 0, nil, err
	}
	if pwd, err := os.ReadFile(filepath.Join(s.state, "pwd")); err == nil {
		s.Dir = strings.TrimSpace(string(pwd))
	}
	names, err := s.names()
	return code, lines(replaced(out.String(), turned(names))), err
}

// exitOf is the exit code of a program that was run.
func exitOf(err error) (int, error) {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func lines(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (s *shell) namesFile() string { return filepath.Join(s.state, "names") }

// names are pairs of a name on the page and the one here.
func (s *shell) names() ([]string, error) {
	text, err := os.ReadFile(s.namesFile())
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	out := strings.Fields(string(text))
	if len(out)%2 != 0 {
		return nil, fmt.Errorf("names without a pair: %q", out)
	}
	return out, nil
}

func replaced(text string, pairs []string) string { return strings.NewReplacer(pairs...).Replace(text) }

// turned are the pairs the other way round.
func turned(pairs []string) []string {
	out := slices.Clone(pairs)
	for i := 0; i+1 < len(out); i += 2 {
		out[i], out[i+1] = out[i+1], out[i]
	}
	return out
}
