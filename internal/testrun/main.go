// Command testrun runs the tests of all modules side by side, each module with the go
// command, and merges their events (go test -json). Every part runs to its end, also when
// another one fails.
//
//	go run ./internal/testrun [-parts unit,cluster,argocd] [-side N] [go test flags]
//
// gotestsum turns the events into lines for people (make test).
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/kubectl-kruise/kubectl-kruise/internal/checkout"
)

func main() {
	names := flag.String("parts", "unit,cluster,argocd", "parts to run, comma-separated")
	side := flag.Int("side", 2*runtime.NumCPU(), "packages of the cluster part to run side by side")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, strings.Split(*names, ","), *side, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// part is the tests of one module.
type part struct {
	name string
	// dir is the module's folder.
	dir string
	// first are packages that start before all others, without the module path: the
	// slowest ones, so that none of them is left alone at the end.
	first []string
	// without are packages that are left out.
	without []string
	// flags of go test.
	flags []string
}

// parts are all tests. Those of a cluster mostly wait, so more of their packages than the
// machine has cores run side by side.
func parts(side int) []part {
	return []part{
		{
			name: "cluster", dir: "test",
			first:   []string{"e2e/rollout", "e2e/commands", "docs", "cluster/standin", "cluster", "e2e", "e2e/ui"},
			without: []string{"e2e/scale"}, // make test-scale
			flags:   []string{"-timeout=45m", "-p=" + strconv.Itoa(side)},
		},
		{name: "argocd", dir: filepath.Join("test", "argocd"), flags: []string{"-timeout=45m"}},
		{name: "unit", dir: ".", first: []string{"pkg/plan", "pkg/plan/simulate", "cmd/kubectl-kruise", "internal/cli/ui"}},
	}
}

func run(ctx context.Context, names []string, side int, flags []string) error {
	top, err := checkout.Top()
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(parts(side), func(p part) bool { return !slices.Contains(names, p.name) })
	if len(chosen) != len(names) {
		return fmt.Errorf("no such parts: %s (parts are unit, cluster and argocd)", strings.Join(names, ","))
	}
	// The suites run this file; go test runs them again when it changes.
	if err := compile(ctx, top); err != nil {
		return err
	}
	out := &lines{to: os.Stdout}
	errs := make([]error, len(chosen))
	var all sync.WaitGroup
	for i, p := range chosen {
		all.Go(func() { errs[i] = p.run(ctx, top, flags, out) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// compile builds the product that the suites of the cluster part run.
func compile(ctx context.Context, top string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(top, "test", "bin", "kubectl-kruise"), "./cmd/kubectl-kruise")
	cmd.Dir, cmd.Stderr = top, os.Stderr
	return cmd.Run()
}

// run runs the part's packages and writes their events.
func (p part) run(ctx context.Context, top string, flags []string, out *lines) error {
	packages, err := p.packages(ctx, top)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-json"}, p.flags, flags, packages)...)
	cmd.Dir = filepath.Join(top, p.dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var said bytes.Buffer
	cmd.Stderr = &said
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	copied := out.copy(events)
	err = errors.Join(copied, cmd.Wait())
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, err, &said)
	}
	return nil
}

// packages lists the module's packages in the order in which they start.
func (p part) packages(ctx context.Context, top string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.ImportPath}} {{.Module.Path}}", "./...")
	cmd.Dir, cmd.Stderr = filepath.Join(top, p.dir), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		list = append(list, "."+strings.TrimPrefix(path, module))
	}
	return p.order(list), nil
}

// order puts the slowest packages first and leaves some out.
func (p part) order(list []string) []string {
	rank := func(path string) int {
		if i := slices.Index(p.first, strings.TrimPrefix(path, "./")); i >= 0 {
			return i
		}
		return len(p.first)
	}
	list = slices.DeleteFunc(list, func(path string) bool { return slices.Contains(p.without, strings.TrimPrefix(path, "./")) })
	slices.SortStableFunc(list, func(a, b string) int { return rank(a) - rank(b) })
	return list
}

// lines writes whole lines of several writers.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

// copy writes the lines of r as they come.
func (l *lines) copy(r io.Reader) error {
	for from := bufio.NewReader(r); ; {
		line, err := from.ReadBytes('\n')
		if len(line) > 0 {
			l.mu.Lock()
			_, writeErr := l.to.Write(line)
			l.mu.Unlock()
			if writeErr != nil {
				return writeErr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
