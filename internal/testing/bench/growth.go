package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// small and large are the objects of the inputs that the exponent is between.
	small, large = 1000, 8000
	// steepest is the highest exponent that is taken for linear: what is above 1 is the
	// collector's, and memory that no longer fits into caches.
	steepest = 1.15
	// noise is less than what the processor's time is accounted with.
	noise = 20 * time.Millisecond
)

// growing measures how the cost of verbs grows with their input.
type growing struct {
	program binary
	dir     string
	runs    int
	// start is what the program takes to do nothing; it is no part of the cost.
	start time.Duration
}

// grow prepares the measuring of verbs.
func (b *bench) grow(ctx context.Context) (*growing, error) {
	program, err := b.program(ctx)
	if err != nil {
		return nil, err
	}
	idle, err := program.least(ctx, 2*b.runs, nil, "version", "--client")
	return &growing{program: program, dir: b.dir, runs: b.runs, start: idle.CPU}, err
}

// growth prints the exponents of the rows that are chosen.
func (b *bench) growth(ctx context.Context) (good bool, err error) {
	g, err := b.grow(ctx)
	if err != nil {
		return false, err
	}
	_, _ = fmt.Fprintf(b.out, "CPU time between %d and %d objects, as a power of the input; of the output where it says so\n", small, large)
	t := b.tabbed()
	row(t, "verb", "exponent", strconv.Itoa(small), strconv.Itoa(large), "input")
	good = true
	var failed []error
	for _, s := range shapes() {
		for _, verb := range s.verbs {
			if !b.rows.has(verb, s.name) {
				continue
			}
			e, err := g.exponent(ctx, verb, s)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s of %s: %w", verb, s.name, err))
				continue
			}
			good = good && e.power <= steepest
			row(t, append([]string{verb}, e.cells(s)...)...)
		}
		if err := t.Flush(); err != nil {
			return false, err
		}
	}
	return good, errors.Join(failed...)
}

// exponent is how a cost grows.
type exponent struct {
	power     float64
	low, high time.Duration
}

func (e exponent) cells(s shape) []string {
	name, mark := s.name, ""
	if s.product {
		name += " (of the output)"
	}
	if e.power > steepest {
		mark = "! "
	}
	return []string{mark + fmt.Sprintf("%.2f", e.power), milliseconds(e.low), milliseconds(e.high), name}
}

// exponent measures a verb with both sizes. One measurement is enough where the exponent
// is low: noise only adds to the time of the larger size.
func (g *growing) exponent(ctx context.Context, verb string, s shape) (exponent, error) {
	low, err := g.cost(ctx, verb, s, small, g.runs)
	if err != nil {
		return exponent{}, err
	}
	var e exponent
	for i := range g.runs {
		high, err := g.cost(ctx, verb, s, large, 1)
		if err != nil {
			return e, err
		}
		if i > 0 && high.CPU >= e.high {
			continue
		}
		growth := float64(s.size(large)) / float64(s.size(small))
		if s.product { // a verb that prints little about it has no more than the input to answer for
			growth = max(growth, float64(high.Output)/float64(max(low.Output, 1)))
		}
		e = exponent{math.Log(float64(high.CPU)/float64(low.CPU)) / math.Log(growth), low.CPU, high.CPU}
		if e.power <= steepest {
			break
		}
	}
	return e, nil
}

// size is the number of objects, or of pods where one object has them.
func (s shape) size(n int) int {
	sum := 0
	for _, g := range slices.Concat(s.groups, s.beside) {
		sum += g.amount(n)
	}
	if sum < len(s.groups)+len(s.beside)+1 {
		return n
	}
	return sum
}

// cost is what a verb takes for an input, beyond its start.
func (g *growing) cost(ctx context.Context, verb string, s shape, n, runs int) (cost, error) {
	dir := filepath.Join(g.dir, fmt.Sprintf("growth-%d", n))
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return cost{}, err
	}
	write := func(name string, groups []group, version int) (string, error) {
		path := filepath.Join(dir, name)
		return path, os.WriteFile(path, text(groups, n, version), 0o600)
	}
	old, err := write("old.yaml", s.groups, 1)
	changed, errChanged := write("new.yaml", s.groups, 2)
	beside, errBeside := write("with.yaml", s.beside, 1)
	if err := errors.Join(err, errChanged, errBeside); err != nil {
		return cost{}, err
	}
	var args []string
	var codes []int
	switch verb {
	case "render":
		args = []string{"render", "--allow-empty", "-f", old}
	case "lint":
		args, codes = []string{"lint", "-f", old}, []int{1}
	case "diff":
		args, codes = []string{"diff", old, changed}, []int{1}
	case "convert":
		args = []string{"convert", "-f", old, "--to", "kruise", "--to-version", "v1beta1"}
	case "plan", "simulate":
		args = []string{verb, "-f", changed, "--against", old}
	case "inventory":
		server := serve(s.groups, n)
		defer server.Close()
		args = []string{"inventory", "-A", "--server", server.URL}
	}
	if len(s.beside) > 0 {
		args = append(args, "--with", beside)
	}
	if s.product && slices.Contains(onFiles, verb) && verb != "convert" {
		args = append(args, unlimited...)
	}
	c, err := g.program.least(ctx, runs, codes, args...)
	c.CPU = max(c.CPU-g.start, noise)
	return c, err
}

// choice is which rows are measured: VERB, or VERB=PART OF A NAME, all when empty.
type choice []string

func (c choice) has(verb, name string) bool {
	return len(c) == 0 || slices.ContainsFunc(c, func(one string) bool {
		v, part, _ := strings.Cut(one, "=")
		return (v == verb || v == "") && strings.Contains(name, part)
	})
}
