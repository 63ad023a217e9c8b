package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

// took is how long the tests of a package took, in seconds, and how they ended.
type took struct {
	pkg string
	// processor is the time of all that the tests started, zero if it is not known.
	processor float64
	// wall is zero where the result comes from the cache.
	wall    float64
	outcome string
}

// times reads the packages of a file of events. With a page, it writes their seconds into
// the table there; without one it prints them, the most expensive one first.
func times(file, page string, out io.Writer) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	list, err := read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if page != "" {
		return update(page, list)
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "processor\twall\t\t")
	processor, wall := 0.0, 0.0
	for _, t := range list {
		processor, wall = processor+t.processor, wall+t.wall
		_, _ = fmt.Fprintf(w, "%.1f\t%.1f\t\t%s: %s\n", t.processor, t.wall, t.pkg, t.outcome)
	}
	_, _ = fmt.Fprintf(w, "%.1f\t%.1f\t\tall\n", processor, wall)
	return w.Flush()
}

// read reads the end of each package that has tests.
func read(r io.Reader) ([]took, error) {
	var list []took
	cached, spent := map[string]bool{}, map[string]float64{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			Action, Package, Test, Output string
			Elapsed                       float64
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, err
		}
		switch {
		case e.Test != "" || e.Package == "":
		case e.Action == "output" && strings.HasSuffix(strings.TrimSpace(e.Output), "(cached)"):
			cached[e.Package] = true
		case e.Action == "output" && strings.HasPrefix(e.Output, testenv.SpentLine):
			d, err := time.ParseDuration(strings.TrimSpace(strings.TrimPrefix(e.Output, testenv.SpentLine)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.Package, err)
			}
			spent[e.Package] = d.Seconds()
		case e.Action == "pass" || e.Action == "fail":
			if cached[e.Package] {
				e.Action += ", cached"
			}
			list = append(list, took{e.Package, spent[e.Package], e.Elapsed, e.Action})
		}
	}
	slices.SortStableFunc(list, func(a, b took) int {
		return cmp.Or(cmp.Compare(b.processor, a.processor), cmp.Compare(b.wall, a.wall))
	})
	return list, lines.Err()
}
