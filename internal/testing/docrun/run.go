package docrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Run carries out the blocks of a page in their order and fails the test where one
// does not do what the page says. UPDATE=1 in the environment writes outputs that
// differ into the page.
func Run(t *testing.T, page string, g Ground) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	r := &run{shell: shell{Ground: g, bash: bash, top: g.Dir, state: t.TempDir()}, update: os.Getenv("UPDATE") != "", logf: t.Logf}
	if err := r.page(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	for _, fault := range r.faults {
		t.Error(fault)
	}
}

// run is a page that is being run.
type run struct {
	shell
	// update indicates that outputs that differ are written into the page.
	update bool
	// logf is told which line the run has come to, so that a waiting user sees it.
	logf   func(format string, args ...any)
	edits  []edit
	faults []string
}

// edit puts lines in the place of those of a command.
type edit struct {
	Command
	lines []string
}

func (r *run) page(ctx context.Context, path string) error {
	blocks, err := read(path)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if b.Left != "" || b.Kind == On {
			continue
		}
		if b.Needs != "" && !r.has(ctx, b.Needs) {
			r.logf("line %d: left out, there is no %s", b.Line, b.Needs)
			continue
		}
		r.logf("line %d", b.Line)
		ok, err := r.block(ctx, b)
		if err != nil {
			return err
		}
		if !ok {
			break // what is below stands on what this one does
		}
	}
	return r.write(path)
}

// block carries one block out and reports whether to go on.
func (r *run) block(ctx context.Context, b Block) (bool, error) {
	if b.Kind != Console {
		do := r.show
		if b.Kind == Before {
			do = r.do // it says which names are which
		}
		code, out, err := do(ctx, b.script())
		if code != 0 {
			r.fault(b.Line, "exit %d\n%s", code, strings.Join(out, "\n"))
		}
		return code == 0, err
	}
	for _, c := range b.Commands {
		code, out, err := r.show(ctx, c.Text)
		if err != nil {
			return false, err
		}
		if code != b.Exit {
			r.fault(c.From-1, "%s: exit %d, want %d\n%s", c.Text, code, b.Exit, strings.Join(out, "\n"))
			return false, nil
		}
		r.compare(c, out)
	}
	return true, nil
}

func (r *run) compare(c Command, out []string) {
	switch {
	case Match(c.Shown, out):
	case r.update:
		r.edits = append(r.edits, edit{c, out})
	default:
		r.fault(c.From-1, "%s prints\n%s\nnot, as shown,\n%s", c.Text, strings.Join(out, "\n"), strings.Join(c.Shown, "\n"))
	}
}

func (r *run) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// script is the text of a block, with commands that may fail only as the page says.
func (b Block) script() string {
	switch {
	case b.Until != "":
		return interrupted(b.Text, b.Until)
	case b.Exit == 0:
		return "set -euo pipefail\n" + b.Text
	}
	return fmt.Sprintf("set -uo pipefail\ntrap 'code=$?; [ $code = %d ] || exit $code' ERR\n%s\ntrue", b.Exit, b.Text)
}

// write puts the edits into the page, from the end.
func (r *run) write(path string) error {
	if len(r.edits) == 0 {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for _, e := range slices.Backward(r.edits) {
		lines = slices.Replace(lines, e.From-1, e.To-1, e.lines...)
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600) //nolint:gosec // the page is what the caller names
}
