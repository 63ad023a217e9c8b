package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// diffLimit is the most that diff may take for each changed workload, in CPU time: it runs a model of
// what becomes of the pods.
const diffLimit = 10 * time.Millisecond

// diff prints what diff takes where 30 % of the objects have another image.
func (b *bench) diff(ctx context.Context) (good bool, err error) {
	program, err := b.program(ctx)
	if err != nil {
		return false, err
	}
	before, after := filepath.Join(b.dir, "before.yaml"), filepath.Join(b.dir, "after.yaml")
	if err := errors.Join(os.WriteFile(before, generate(b.objects), 0o600), os.WriteFile(after, generateChanged(b.objects), 0o600)); err != nil {
		return false, err
	}
	c, err := program.least(ctx, b.runs, []int{1}, append([]string{"diff", before, after}, unlimited...)...)
	if err != nil {
		return false, err
	}
	most := time.Duration(b.objects*3/10) * diffLimit
	t := b.tabbed()
	row(t, "objects, 30 % changed", "CPU", "at most")
	row(t, strconv.Itoa(b.objects), milliseconds(c.CPU), milliseconds(most))
	return c.CPU <= most, t.Flush()
}
