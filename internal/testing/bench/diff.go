package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// diffLimit is the most that diff may take of rendering both sides, in CPU time.
const diffLimit = 1.5

// diff prints what diff takes where 30 % of the objects have another image, against
// rendering both sides.
func (b *bench) diff(ctx context.Context) (good bool, err error) {
	program, err := b.program(ctx)
	if err != nil {
		return false, err
	}
	before, after := filepath.Join(b.dir, "before.yaml"), filepath.Join(b.dir, "after.yaml")
	if err := errors.Join(os.WriteFile(before, generate(b.objects), 0o600), os.WriteFile(after, generateChanged(b.objects), 0o600)); err != nil {
		return false, err
	}
	measured := func(args ...string) time.Duration {
		c, failed := program.least(ctx, b.runs, []int{1}, append(args, unlimited...)...)
		err = errors.Join(err, failed)
		return c.CPU
	}
	renders := measured("render", "-f", before) + measured("render", "-f", after)
	diff := measured("diff", before, after)
	if err != nil {
		return false, err
	}
	ratio := float64(diff) / float64(renders)
	t := b.tabbed()
	row(t, "objects, 30 % changed", "diff", "two renders", "ratio, CPU")
	row(t, strconv.Itoa(b.objects), milliseconds(diff), milliseconds(renders), fmt.Sprintf("%.2f", ratio))
	return ratio <= diffLimit, t.Flush()
}
