// Command bench measures rendering against the least that any tool built on
// kyaml does, reading the output and printing it again, says whether time
// grows linearly for every verb and kind of object, bounds what plans and simulations take, and sets
// kustomizations against kustomize and the start against kubectl. `make bench` runs it. Every figure
// comes from processes of its own, in this very run, so that mostly ratios matter and machines do not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// cpuLimit and memoryLimit are the most that rendering may take of a plain read-and-print.
const cpuLimit, memoryLimit = 1.5, 0.75

func main() {
	if len(os.Args) == 4 && os.Args[1] == childFlag {
		exit(child(os.Args[2], os.Args[3]))
		return
	}
	b := &bench{out: os.Stdout}
	flag.IntVar(&b.runs, "runs", 5, "processes per figure; the best counts")
	flag.IntVar(&b.objects, "n", 5000, "objects in the comparisons")
	keep := flag.String("keep", "", "directory to leave input and output in")
	flag.StringVar((*string)(&b.made), "program", "", "program to measure, instead of one that is built")
	chosen := flag.String("table", strings.Join(tableNames(), ","), "tables to print, in the order that they have here")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(), "bench [flags] [ROW ...], ROW of the tables growth and plans: VERB, VERB=PART OF A NAME, =PART OF A NAME")
		flag.PrintDefaults()
	}
	flag.Parse()
	b.rows = flag.Args()
	exit(within(*keep, func(dir string) error {
		b.dir = dir
		return b.run(context.Background(), strings.Split(*chosen, ","))
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

// bench is one run: what is measured, how, and where the tables go.
type bench struct {
	out io.Writer
	dir string
	// objects are those of the input of a comparison, runs the processes per figure.
	objects, runs int
	// rows are those of the table of exponents, all when empty.
	rows choice
	// made is the program, once a table needs it.
	made binary
}

// table prints one table and reports whether its figures are within their limits.
type table struct {
	name   string
	print  func(*bench, context.Context) (good bool, err error)
	beyond string
}

// tables are all tables, in their order.
var tables = []table{
	{"plain", (*bench).plain, fmt.Sprintf("rendering takes more than %.1f of the CPU time or %.2f of the memory of a plain read-and-print", cpuLimit, memoryLimit)},
	{"objects", (*bench).perObject, ""},
	{"kustomize", (*bench).kustomize, ""},
	{"start", (*bench).start, fmt.Sprintf("the start takes more than %.2f of kubectl's, or the program is above %s", startLimit, megabytes(sizeLimit))},
	{"diff", (*bench).diff, fmt.Sprintf("diff takes more than %s for each changed object", milliseconds(diffLimit))},
	{"growth", (*bench).growth, fmt.Sprintf("an exponent is above %.2f", steepest)},
	{"plans", (*bench).plans, "a plan or a simulation takes more than it may"},
}

func tableNames() []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	return names
}

// run prints the tables with these names, and fails when a figure is above its limit.
func (b *bench) run(ctx context.Context, names []string) error {
	_, _ = fmt.Fprintf(b.out, "%d cores, %s, best of %d\n", runtime.NumCPU(), runtime.Version(), b.runs)
	var beyond []error
	for _, t := range tables {
		if !slices.Contains(names, t.name) {
			continue
		}
		_, _ = fmt.Fprintln(b.out)
		good, err := t.print(b, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if !good {
			beyond = append(beyond, errors.New(t.beyond))
		}
	}
	return errors.Join(beyond...)
}

// program builds the program when it is asked for the first time.
func (b *bench) program(ctx context.Context) (binary, error) {
	var err error
	if b.made == "" {
		b.made, err = build(ctx, b.dir)
	}
	return b.made, err
}

// tabbed returns a writer that aligns the columns of a table.
func (b *bench) tabbed() *tabwriter.Writer {
	return tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
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

// plain prints rendering against reading and printing with kyaml alone.
func (b *bench) plain(ctx context.Context) (good bool, err error) {
	in, out, err := files(b.dir, b.objects)
	if err != nil {
		return false, err
	}
	t := b.tabbed()
	row(t, "", "file", "wall", "CPU", "peak memory")
	ours, err := measureRow(ctx, t, b.runs, "render", in)
	if err != nil {
		return false, err
	}
	if _, err := measureRow(ctx, t, b.runs, "load-emit", in); err != nil {
		return false, err
	}
	var best sample
	for i, work := range plainWorks {
		s, err := measureRow(ctx, t, b.runs, work, out)
		if err != nil {
			return false, err
		}
		if i == 0 {
			best = s
		}
		best.Wall, best.CPU, best.Peak = min(best.Wall, s.Wall), min(best.CPU, s.CPU), min(best.Peak, s.Peak)
	}
	floor, err := measureRow(ctx, t, b.runs, "parse", in)
	if err != nil {
		return false, err
	}
	cpu, peak := float64(ours.CPU)/float64(best.CPU), float64(ours.Peak)/float64(best.Peak)
	row(t, "ratio to the best plain", "", fmt.Sprintf("%.2f", float64(ours.Wall)/float64(best.Wall)), fmt.Sprintf("%.2f", cpu), fmt.Sprintf("%.2f", peak))
	row(t, "ratio to parsing the input", "", "", fmt.Sprintf("%.1f", float64(ours.CPU)/float64(floor.CPU)), "")
	return cpu <= cpuLimit && peak <= memoryLimit, t.Flush()
}

// perObject prints wall time per object for inputs of growing size.
func (b *bench) perObject(ctx context.Context) (good bool, err error) {
	t := b.tabbed()
	row(t, "objects", "wall", "per object", "peak memory")
	for _, n := range []int{1000, 5000, 20000} {
		in, _, err := files(b.dir, n)
		if err != nil {
			return false, err
		}
		s, err := measure(ctx, b.runs, "render", in)
		if err != nil {
			return false, err
		}
		row(t, strconv.Itoa(n), milliseconds(s.Wall), fmt.Sprintf("%.1f µs", float64(s.Wall.Microseconds())/float64(n)), megabytes(s.Peak))
	}
	return true, t.Flush()
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
