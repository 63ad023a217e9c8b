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
	"slices"
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
	packages := make([]string, len(binaries))
	for i, b := range binaries {
		packages[i] = b.pkg
	}
	run := func(verb string, flags ...string) *exec.Cmd {
		args := slices.Concat([]string{verb, "-trimpath", "-mod=readonly", "-tags", u.tags}, flags, packages)
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = filepath.Join(dir, u.module)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		return cmd
	}
	_, _ = fmt.Fprintln(progress, "  downloading modules and counting packages")
	todo := stale(run("list", "-deps", "-f", "{{.Stale}}"))
	return watch(run("build", "-v", "-buildvcs=false", "-ldflags", flags, "-o", out+"/"), todo, progress)
}

// stale is how many packages the build will compile: those that a go list -deps calls
// stale. It is 0 where go list fails, which the build then explains.
func stale(list *exec.Cmd) int {
	out, err := list.Output()
	if err != nil {
		return 0
	}
	return bytes.Count(out, []byte("true\n"))
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
// what it says for the error. todo is how many packages it will name.
func watch(cmd *exec.Cmd, todo int, progress io.Writer) error {
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
	said := count(lines, todo, progress)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, said)
	}
	return nil
}

// count reports how far the build is at every heartbeat, and returns the lines that are
// no package names.
func count(lines <-chan string, todo int, progress io.Writer) string {
	var said bytes.Buffer
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	start, packages := time.Now(), 0
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
			packages++
		case <-tick.C:
			_, _ = fmt.Fprintln(progress, far(packages, todo, time.Since(start)))
		}
	}
}

// far reports how far a build is after a time, and about how long it still takes at this pace.
// The pace is an estimate: packages differ in size.
func far(packages, todo int, after time.Duration) string {
	after = after.Round(time.Second)
	switch {
	case todo == 0:
		return fmt.Sprintf("  %6s  %d packages compiled", after, packages)
	case packages >= todo:
		return fmt.Sprintf("  %6s  all %d packages compiled, linking", after, packages)
	case packages == 0:
		return fmt.Sprintf("  %6s  0 of %d packages compiled", after, todo)
	}
	left := time.Duration(float64(after) / float64(packages) * float64(todo-packages))
	return fmt.Sprintf("  %6s  %d of %d packages compiled, about %s left", after, packages, todo, left.Round(10*time.Second))
}
