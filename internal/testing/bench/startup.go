package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"text/tabwriter"
	"time"
)

// starts is how often each program is started; the best time counts.
const starts = 20

// startup prints how long programs take to say their version, against the
// kubectl of the search path.
func startup(ctx context.Context, w io.Writer, program binary) error {
	kubectl, missing := exec.LookPath("kubectl")
	if missing != nil {
		_, _ = fmt.Fprintln(w, "\nno kubectl to compare the start with")
		return nil //nolint:nilerr // the rest has been measured
	}
	ours := string(program)
	best := map[string]time.Duration{}
	for range starts {
		for _, program := range []string{ours, kubectl} {
			took, err := started(ctx, program)
			if err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
			if have, ok := best[program]; !ok || took < have {
				best[program] = took
			}
		}
	}
	_, _ = fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row(t, "version --client", "kubectl-kruise", "kubectl", "ratio")
	row(t, "", milliseconds(best[ours]), milliseconds(best[kubectl]), fmt.Sprintf("%.2f", float64(best[ours])/float64(best[kubectl])))
	if err := t.Flush(); err != nil {
		return err
	}
	info, err := os.Stat(ours)
	if err == nil {
		_, err = fmt.Fprintf(w, "the program is %s\n", megabytes(info.Size()))
	}
	return err
}

func started(ctx context.Context, program string) (time.Duration, error) {
	start := time.Now()
	err := exec.CommandContext(ctx, program, "version", "--client").Run()
	return time.Since(start), err
}
