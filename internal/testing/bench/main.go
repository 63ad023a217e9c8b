// Command bench measures rendering against the least that any tool built on
// kyaml does, reading the output and printing it again, says whether time
// grows linearly for every verb and kind of object, and sets kustomizations against kustomize and
// the start against kubectl. `make bench` runs it. Every figure comes from processes of
// its own, in this very run, so that only ratios matter and machines do not.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"text/tabwriter"
	"time"
)

// limit is the most that rendering may take of a plain read-and-print, in
// wall time and in peak memory.
const limit = 0.5

func main() {
	if len(os.Args) == 4 && os.Args[1] == childFlag {
		exit(child(os.Args[2], os.Args[3]))
		return
	}
	runs := flag.Int("runs", 5, "processes per figure; the best counts")
	n := flag.Int("n", 5000, "objects in the comparison")
	keep := flag.String("keep", "", "directory to leave input and output in")
	growth := flag.Bool("growth", false, "print the table of exponents alone; arguments choose rows: VERB, VERB=PART OF A NAME, =PART OF A NAME")
	flag.Parse()
	ctx := context.Background()
	exit(within(*keep, func(dir string) error {
		if *growth {
			return growthAlone(ctx, os.Stdout, dir, *runs, flag.Args())
		}
		return run(ctx, os.Stdout, *n, *runs, dir)
	}))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// within runs f in the directory, or in a temporary one.
func within(dir string, f func(dir string) error) error {
	if dir != "" {
		return f(dir)
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a leftover in the temporary folder harms nobody
	return f(dir)
}

// growthAlone measures exponents and nothing else.
func growthAlone(ctx context.Context, w io.Writer, dir string, runs int, rows choice) error {
	program, err := build(ctx, dir)
	if err != nil {
		return err
	}
	good, err := exponents(ctx, w, program, dir, runs, rows)
	if err == nil && !good {
		err = errSteep
	}
	return err
}

var errSteep = fmt.Errorf("an exponent is above %.2f", steepest)

func run(ctx context.Context, w io.Writer, n, runs int, dir string) error {
	_, _ = fmt.Fprintf(w, "%d cores, %s, best of %d\n\n", runtime.NumCPU(), runtime.Version(), runs)
	good, err := compare(ctx, w, dir, n, runs)
	if err != nil {
		return err
	}
	if err := growth(ctx, w, dir, runs); err != nil {
		return err
	}
	if err := customized(ctx, w, dir, runs); err != nil {
		return err
	}
	program, err := build(ctx, dir)
	if err != nil {
		return err
	}
	if err := startup(ctx, w, program); err != nil {
		return err
	}
	flat, err := exponents(ctx, w, program, dir, runs, nil)
	if err != nil {
		return err
	}
	if !good {
		return fmt.Errorf("a ratio is above %.1f", limit)
	}
	if !flat {
		return errSteep
	}
	return nil
}

// files writes the input of n objects and what becomes of it.
func files(dir string, n int) (in, out string, err error) {
	in, out = filepath.Join(dir, fmt.Sprintf("in-%d.yaml", n)), filepath.Join(dir, fmt.Sprintf("out-%d.yaml", n))
	if err := os.WriteFile(in, generate(n), 0o600); err != nil {
		return in, out, err
	}
	f, err := os.Create(out)
	if err != nil {
		return in, out, err
	}
	if err := renderFile(in, f); err != nil {
		return in, out, err
	}
	return in, out, f.Close()
}

// compare prints the ratios and reports whether they are within the limit.
func compare(ctx context.Context, w io.Writer, dir string, n, runs int) (good bool, err error) {
	in, out, err := files(dir, n)
	if err != nil {
		return false, err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row(t, "", "file", "wall", "CPU", "peak memory")
	ours, err := measureRow(ctx, t, runs, "render", in)
	if err != nil {
		return false, err
	}
	if _, err := measureRow(ctx, t, runs, "load-emit", in); err != nil {
		return false, err
	}
	var best sample
	for i, work := range plainWorks {
		s, err := measureRow(ctx, t, runs, work, out)
		if err != nil {
			return false, err
		}
		if i == 0 {
			best = s
		}
		best.Wall, best.CPU, best.Peak = min(best.Wall, s.Wall), min(best.CPU, s.CPU), min(best.Peak, s.Peak)
	}
	floor, err := measureRow(ctx, t, runs, "parse", in)
	if err != nil {
		return false, err
	}
	wall, peak := float64(ours.Wall)/float64(best.Wall), float64(ours.Peak)/float64(best.Peak)
	row(t, "ratio to the best plain", "", fmt.Sprintf("%.2f", wall), fmt.Sprintf("%.2f", float64(ours.CPU)/float64(best.CPU)), fmt.Sprintf("%.2f", peak))
	row(t, "ratio to parsing the input", "", "", fmt.Sprintf("%.1f", float64(ours.CPU)/float64(floor.CPU)), "")
	return wall <= limit && peak <= limit, t.Flush()
}

// growth prints wall time per object for inputs of growing size.
func growth(ctx context.Context, w io.Writer, dir string, runs int) error {
	_, _ = fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row(t, "objects", "wall", "per object", "peak memory")
	for _, n := range []int{1000, 5000, 20000} {
		in, _, err := files(dir, n)
		if err != nil {
			return err
		}
		s, err := measure(ctx, runs, "render", in)
		if err != nil {
			return err
		}
		row(t, strconv.Itoa(n), milliseconds(s.Wall), fmt.Sprintf("%.1f µs", float64(s.Wall.Microseconds())/float64(n)), megabytes(s.Peak))
	}
	return t.Flush()
}

func measureRow(ctx context.Context, t io.Writer, runs int, work, file string) (sample, error) {
	s, err := measure(ctx, runs, work, file)
	if err != nil {
		return s, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return s, err
	}
	row(t, work, megabytes(info.Size()), milliseconds(s.Wall), milliseconds(s.CPU), megabytes(s.Peak))
	return s, nil
}

func row(t io.Writer, cells ...string) {
	for _, c := range cells {
		_, _ = fmt.Fprint(t, c, "\t")
	}
	_, _ = fmt.Fprintln(t)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.0f ms", d.Seconds()*1000) }

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
