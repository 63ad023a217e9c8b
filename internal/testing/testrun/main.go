// Command testrun runs the tests of all modules side by side, each module with the go
// command, and merges their events (go test -json). Every part runs to its end, also when
// another one fails.
//
//	go run ./internal/testing/testrun [-parts cluster,argocd,flux,unit] [-side N] [-affected [-base REV]] [-- go test flags]
//	go run ./internal/testing/testrun -list changed|affected [-base REV]
//	go run ./internal/testing/testrun -times FILE [-table PAGE]
//
// gotestsum turns the events into lines for people (make test-all).
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

// options are the flags.
type options struct {
	parts    string
	side     int
	affected bool
	base     string
	list     string
	times    string
	table    string
	// flags are those of go test.
	flags []string
}

func main() {
	var o options
	flag.StringVar(&o.parts, "parts", "cluster,argocd,flux", "parts to run, comma-separated: cluster, argocd, flux, unit")
	flag.IntVar(&o.side, "side", runtime.NumCPU()+1, "packages of the cluster part to run side by side")
	flag.BoolVar(&o.affected, "affected", false, "in the unit part, run only packages that a change affects")
	flag.StringVar(&o.base, "base", "", "commit that changes are counted from; by default where the branch left its upstream, or HEAD")
	flag.StringVar(&o.list, "list", "", "print the packages that are `changed` or affected instead of running tests")
	flag.StringVar(&o.times, "times", "", "print the seconds of each package from a `file` of events instead of running tests")
	flag.StringVar(&o.table, "table", "", "write the seconds of -times into the table of a `page` instead of printing them")
	flag.Parse()
	o.flags = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context, out io.Writer) error {
	top, err := checkout.Top()
	if err != nil {
		return err
	}
	switch {
	case o.times != "":
		return times(o.times, o.table, out)
	case o.list != "":
		return o.packages(ctx, top, out)
	}
	return o.tests(ctx, top, out)
}

// packages prints the packages of a change.
func (o *options) packages(ctx context.Context, top string, out io.Writer) error {
	c, err := changes(ctx, top, o.base)
	if err != nil {
		return err
	}
	list, ok := map[string][]string{"changed": c.changed, "affected": c.affected}[o.list]
	if !ok {
		return fmt.Errorf("-list %s: want changed or affected", o.list)
	}
	for _, p := range list {
		if _, err := fmt.Fprintln(out, p); err != nil {
			return err
		}
	}
	return nil
}

// part is the tests of one module.
type part struct {
	name string
	// dir is the module's folder.
	dir string
	// first are packages that start before all others: the slowest ones, so that none of
	// them is left alone at the end. Packages are paths that begin with "./".
	first []string
	// without are packages that are left out.
	without []string
	// only are the packages to run, all if nil.
	only *[]string
	// flags of go test.
	flags []string
}

// parts are all tests. Those of a cluster wait now and then, so one more of their packages
// than the machine has cores runs side by side; more of them only make each other slow. The
// linters vet the modules of the cluster and unit parts (make lint), so go test does not: on a new
// machine it would read the source of all that they depend on.
func parts(side int) []part {
	return []part{
		{
			name: "cluster", dir: "test",
			first:   []string{"./e2e/rollout", "./e2e/commands", "./docs", "./cluster/standin", "./cluster", "./e2e", "./e2e/ui"},
			without: []string{"./e2e/scale"}, // make test-scale
			flags:   []string{"-timeout=45m", "-vet=off", "-p=" + strconv.Itoa(side)},
		},
		{name: "argocd", dir: filepath.Join("test", "argocd"), flags: []string{"-timeout=45m"}},
		{name: "flux", dir: filepath.Join("test", "flux")},
		{name: "unit", dir: ".", flags: []string{"-timeout=45m", "-vet=off", "-p=" + strconv.Itoa(runtime.NumCPU())}, first: []string{"./pkg/plan", "./pkg/plan/simulate", "./cmd/kubectl-kruise", "./internal/cli/ui"}},
	}
}

// tests runs the parts and writes their events.
func (o *options) tests(ctx context.Context, top string, to io.Writer) error {
	names := strings.Split(o.parts, ",")
	chosen := slices.DeleteFunc(parts(o.side), func(p part) bool { return !slices.Contains(names, p.name) })
	if len(chosen) != len(names) {
		return fmt.Errorf("-parts %s: parts are cluster, argocd, flux and unit", o.parts)
	}
	if o.affected {
		c, err := changes(ctx, top, o.base)
		if err != nil {
			return err
		}
		for i := range chosen {
			if chosen[i].name == "unit" {
				// What changed is tested first, then what depends on it.
				chosen[i].only, chosen[i].first = &c.affected, c.changed
			}
		}
	}
	if err := prepare(o.flags); err != nil {
		return err
	}
	if slices.Contains(names, "cluster") {
		if err := compile(ctx, top); err != nil {
			return err
		}
	}
	out := &lines{to: to}
	errs := make([]error, len(chosen))
	var all sync.WaitGroup
	for i, p := range chosen {
		all.Go(func() { errs[i] = p.run(ctx, top, o.flags, out) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// prepare sets what all processes of a run see. The compiler and above all the linker, which
// makes a hundred test binaries, take a quarter less of the processor when they collect
// garbage rarely. Tests do not see this GOGC, which the product would obey. One that the
// user has set stays. Without cgo, as the product is released, a link takes 1.5 seconds of the
// processor instead of 2.6, and it is the same with and without a C compiler; the race detector
// needs cgo.
func prepare(flags []string) error {
	env := map[string]string{testenv.Spent: "1"}
	if os.Getenv("CGO_ENABLED") == "" && !slices.Contains(flags, "-race") {
		env["CGO_ENABLED"] = "0"
	}
	if os.Getenv("GOGC") == "" {
		env["GOGC"], env[testenv.Tools] = "400", "1"
	}
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// compile builds the product that the suites of the cluster part run, and tells them
// through the environment. As in a release, it has no tables for debuggers, with which linking
// takes half as long again, and needs no libraries, which images may lack.
func compile(ctx context.Context, top string) error {
	path := filepath.Join(top, "out", "testrun", "kubectl-kruise")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./cmd/kubectl-kruise")
	cmd.Dir, cmd.Stderr, cmd.Env = top, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the product: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	return errors.Join(os.Setenv(testenv.Product, path), os.Setenv(testenv.ProductSum, hex.EncodeToString(sum.Sum(nil))))
}

// run runs the part's packages and writes their events.
func (p part) run(ctx context.Context, top string, flags []string, out *lines) error {
	packages, err := p.packages(ctx, top)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if len(packages) == 0 {
		return nil // without packages, go test would take the folder's own
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
		if i := slices.Index(p.first, path); i >= 0 {
			return i
		}
		return len(p.first)
	}
	list = slices.DeleteFunc(list, func(path string) bool {
		return slices.Contains(p.without, path) || p.only != nil && !slices.Contains(*p.only, path)
	})
	slices.SortStableFunc(list, func(a, b string) int { return rank(a) - rank(b) })
	return list
}

// lines writes whole lines of several writers.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

// copy writes the lines of r as they come. It ends the last one, which a process that was
// killed may have left open.
func (l *lines) copy(r io.Reader) error {
	for from := bufio.NewReader(r); ; {
		line, err := from.ReadBytes('\n')
		if len(line) > 0 {
			if err != nil {
				line = append(line, '\n')
			}
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
