package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const (
	// starts is how often each program is started; the least CPU time counts.
	starts = 20
	// startLimit is the most that a start may take of kubectl's, in CPU time.
	startLimit = 0.5
	// sizeLimit is the most that the program may be, in bytes.
	sizeLimit = 85_000_000
)

// start prints what programs take to print their version and to complete a word, against
// the kubectl of the search path, and the size of the program.
func (b *bench) start(ctx context.Context) (good bool, err error) {
	program, err := b.program(ctx)
	if err != nil {
		return false, err
	}
	info, err := os.Stat(string(program))
	if err != nil {
		return false, err
	}
	good = info.Size() <= sizeLimit
	_, _ = fmt.Fprintf(b.out, "the program is %s\n", megabytes(info.Size()))
	kubectl, missing := exec.LookPath("kubectl")
	if missing != nil {
		_, _ = fmt.Fprintln(b.out, "no kubectl to compare the start with")
		return good, nil //nolint:nilerr // the rest has been measured
	}
	t := b.tabbed()
	row(t, "start, CPU", "kubectl-kruise", "kubectl", "ratio")
	for _, args := range [][]string{{"version", "--client"}, {"__complete", "g"}} {
		ours, err := program.least(ctx, starts, nil, args...)
		if err != nil {
			return false, err
		}
		theirs, err := binary(kubectl).least(ctx, starts, nil, args...)
		if err != nil {
			return false, err
		}
		ratio := float64(ours.CPU) / float64(theirs.CPU)
		good = good && ratio <= startLimit
		row(t, strings.Join(args, " "), milliseconds(ours.CPU), milliseconds(theirs.CPU), fmt.Sprintf("%.2f", ratio))
	}
	return good, t.Flush()
}
