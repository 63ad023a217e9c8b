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
)

// took is how long the tests of a package took, in seconds, and how they ended.
type took struct {
	pkg     string
	seconds float64
	outcome string
}

// times prints the packages of a file of events, the slowest first.
func times(file string, out io.Writer) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	list, err := read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	sum := 0.0
	for _, t := range list {
		sum += t.seconds
		_, _ = fmt.Fprintf(w, "%.1f\t%s\t%s\n", t.seconds, t.pkg, t.outcome)
	}
	_, _ = fmt.Fprintf(w, "%.1f\tall\t\n", sum)
	return w.Flush()
}

// read reads the end of each package that has tests.
func read(r io.Reader) ([]took, error) {
	var list []took
	cached := map[string]bool{}
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
		case e.Action == "pass" || e.Action == "fail":
			if cached[e.Package] {
				e.Action += ", cached"
			}
			list = append(list, took{e.Package, e.Elapsed, e.Action})
		}
	}
	slices.SortStableFunc(list, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
	return list, lines.Err()
}
