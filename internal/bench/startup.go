package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"
)

// starts is how often each program is started; the best time counts.
const starts = 20

// startup prints how long programs take to say their version, against the
// kubectl of the search path.
func startup(ctx context.Context, w io.Writer, dir string) error {
	kubectl, missing := exec.LookPath("kubectl")
	if missing != nil {
		_, _ = fmt.Fprintln(w, "\nno kubectl to compare the start with")
		return nil //nolint:nilerr // the rest has been measured
	}
	ours := filepath.Join(dir, "kubectl-kruise")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", ours, "./cmd/kubectl-kruise")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
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
	return t.Flush()
}

func started(ctx context.Context, program string) (time.Duration, error) {
	start := time.Now()
	err := exec.CommandContext(ctx, program, "version", "--client").Run()
	return time.Since(start), err
}
