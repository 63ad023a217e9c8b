package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// binary is the program itself, whose verbs are run as people do.
type binary string

// build makes the program in the folder, with the flags of a release (.goreleaser.yaml).
func build(ctx context.Context, dir string) (binary, error) {
	out := filepath.Join(dir, "kubectl-kruise")
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", out, "./cmd/kubectl-kruise")
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("go build: %w", err)
	}
	return binary(out), nil
}

// unlimited lifts the limits on what the input becomes, which some inputs are above.
var unlimited = []string{"--limit", "output-nodes=1000000000,copies=1000000000,copy-bytes=64Gi"}

// cost is what one run of the program took.
type cost struct {
	// CPU is the time of all its threads, Output how many bytes it wrote.
	CPU    time.Duration
	Output int64
}

// run runs a verb; the codes are those of its exit that are no error beside 0.
func (b binary) run(ctx context.Context, codes []int, args ...string) (cost, error) {
	c := exec.CommandContext(ctx, string(b), args...)
	var out counter
	var said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	c.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	err := c.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && slices.Contains(codes, failed.ExitCode()) {
		err = nil
	}
	if err != nil {
		return cost{}, fmt.Errorf("%v: %w\n%s", args, err, said.Bytes()[:min(said.Len(), 1000)])
	}
	return cost{CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), Output: int64(out) + int64(said.Len())}, nil
}

// least runs a verb several times and returns the least of what it took: what is above is
// noise of the machine.
func (b binary) least(ctx context.Context, runs int, codes []int, args ...string) (cost, error) {
	var best cost
	for i := range runs {
		c, err := b.run(ctx, codes, args...)
		if err != nil {
			return best, err
		}
		if i == 0 || c.CPU < best.CPU {
			best = c
		}
	}
	return best, nil
}

// counter is a writer that counts bytes.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
