package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// childFlag makes this program do one work and report on stdout.
const childFlag = "-child"

// sample is what one child reports.
type sample struct {
	Wall time.Duration
	// CPU is the time of all threads.
	CPU time.Duration
	// Peak is the most memory that the process held, in bytes.
	Peak int64
}

// child does the work and prints its sample.
func child(work, file string) error {
	f, ok := works[work]
	if !ok {
		return fmt.Errorf("no work %q", work)
	}
	start, begun := time.Now(), computed()
	if err := f(file, io.Discard); err != nil {
		return err
	}
	s := sample{Wall: time.Since(start), CPU: computed() - begun}
	var err error
	if s.Peak, err = peak(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// computed is how long this process has computed.
func computed() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak reads the high-water mark of this process. It is the kernel's, so it
// counts all that the Go runtime took; a child that was forked from a large
// parent does not inherit it, unlike the maximum of getrusage.
func peak() (int64, error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("peak memory can be measured on Linux only: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			var kib int64
			_, err := fmt.Sscanf(v, "%d kB", &kib)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmHWM in /proc/self/status")
}

// measure runs the work in fresh processes and returns the least times and the least
// peak: what is above them is noise of the machine.
func measure(ctx context.Context, runs int, work, file string) (sample, error) {
	var best sample
	for i := range runs {
		s, err := spawn(ctx, work, file)
		if err != nil {
			return best, fmt.Errorf("%s: %w", work, err)
		}
		if i == 0 {
			best = s
		}
		best.Wall, best.CPU, best.Peak = min(best.Wall, s.Wall), min(best.CPU, s.CPU), min(best.Peak, s.Peak)
	}
	return best, nil
}

func spawn(ctx context.Context, work, file string) (s sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	cmd := exec.CommandContext(ctx, self, childFlag, work, filepath.Clean(file))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(out, &s)
}
