package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// bound is the most CPU time that a verb may take for so many objects, or pods of one object, beyond
// its start. Plans and simulations have bounds, as the rules are written to be read: what grows
// faster than the pods may, within these.
type bound struct {
	verb string
	n    int
	most time.Duration
}

// The bounds of plans and simulations.
var (
	// atOnce is for workloads that update a share of their pods together, oneByOne for those that
	// update one pod after the other, and severalObjects for many small ones.
	atOnce         = []bound{{"plan", 5000, 1500 * time.Millisecond}, {"simulate", 5000, 1500 * time.Millisecond}}
	oneByOne       = []bound{{"plan", 1000, time.Second}, {"plan", 8000, 20 * time.Second}}
	severalObjects = []bound{{"plan", 1000, 3 * time.Second}}
)

// plans prints what plans and simulations take of the rows that are chosen.
func (b *bench) plans(ctx context.Context) (good bool, err error) {
	g, err := b.grow(ctx)
	if err != nil {
		return false, err
	}
	_, _ = fmt.Fprintln(b.out, "CPU time of plans and simulations")
	t := b.tabbed()
	row(t, "verb", "objects", "CPU", "at most", "input")
	good = true
	var failed []error
	for _, s := range slices.Concat(singleKinds(), manyPods(), podsWithSidecars(), manyPlans()) {
		for _, most := range s.bounds {
			if !b.rows.has(most.verb, s.name) {
				continue
			}
			within, took, err := g.within(ctx, s, most)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s of %s: %w", most.verb, s.name, err))
				continue
			}
			mark := ""
			if !within {
				mark, good = "! ", false
			}
			row(t, most.verb, strconv.Itoa(most.n), mark+milliseconds(took), milliseconds(most.most), s.name)
			if err := t.Flush(); err != nil {
				return false, err
			}
		}
	}
	return good, errors.Join(failed...)
}

// within measures a verb until it stays within its bound: other work of the machine only adds to
// the time.
func (g *growing) within(ctx context.Context, s shape, most bound) (good bool, took time.Duration, err error) {
	for range g.runs {
		c, err := g.cost(ctx, most.verb, s, most.n, 1)
		if err != nil {
			return false, 0, err
		}
		if took == 0 || c.CPU < took {
			took = c.CPU
		}
		if took <= most.most {
			return true, took, nil
		}
	}
	return false, took, nil
}
