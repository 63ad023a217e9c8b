package build

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// heartbeat is how often a running build says how far it is.
const heartbeat = 10 * time.Second

// compile runs one go build for the binaries given, without cgo everywhere: the
// kubelet would otherwise compile everything above package net once more.
func (u unit) compile(ctx context.Context, out string, binaries []binary, progress io.Writer) error {
	dir, err := pins()
	if err != nil {
		return err
	}
	flags, err := u.linkerFlags()
	if err != nil {
		return err
	}
	args := []string{"build", "-v", "-trimpath", "-buildvcs=false", "-mod=readonly", "-tags", u.tags, "-ldflags", flags, "-o", out + "/"}
	for _, b := range binaries {
		args = append(args, b.pkg)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(dir, u.module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	return watch(cmd, progress)
}

// linkerFlags gives Kubernetes its version: clients would otherwise see v0.0.0-master.
func (u unit) linkerFlags() (string, error) {
	if u.module == "containerd" {
		return "-s -w", nil
	}
	version, err := Version(u.module)
	if err != nil {
		return "", err
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	var b strings.Builder
	b.WriteString("-s -w")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		fmt.Fprintf(&b, " -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s -X %[1]s.gitTreeState=clean",
			pkg, version, major, minor)
	}
	return b.String(), nil
}

// watch runs a go build -v, counts the packages it names, and keeps the rest of
// what it says for the error.
func watch(cmd *exec.Cmd, progress io.Writer) error {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			lines <- s.Text()
		}
	}()
	said := count(lines, progress)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, said)
	}
	return nil
}

// count reports the number of compiled packages at every heartbeat and returns
// the lines that are no package names.
func count(lines <-chan string, progress io.Writer) string {
	var said bytes.Buffer
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	start, packages, last := time.Now(), 0, ""
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return said.String()
			}
			if strings.ContainsAny(line, " :#") {
				fmt.Fprintln(&said, line)
				continue
			}
			packages, last = packages+1, line
		case <-tick.C:
			_, _ = fmt.Fprintf(progress, "  %4s  %d packages compiled, last %s\n", time.Since(start).Round(time.Second), packages, last)
		}
	}
}
