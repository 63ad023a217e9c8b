// Package scale asks a cluster of many objects, and counts what the answers cost. It is
// no part of make test: filling the cluster takes minutes (make test-scale).
package scale

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// How many objects there are.
var (
	namespaces = flag.Int("namespaces", 500, "namespaces to fill")
	workloads  = flag.Int("workloads", 2_000, "CloneSets in them")
	pods       = flag.Int("pods", 10_000, "pods of these")
)

// patience bounds one call; it only ends what would hang.
const patience = 5 * time.Minute

// bound is what a call may cost: requests, and bytes for each of some objects, over what
// it costs anyway.
type bound struct {
	args     []string
	requests int
	objects  func() int
	bytes    int
}

const (
	// anyway is what a call may cost whatever there is in the cluster: discovery, above
	// all.
	anyway = 256 << 10
	one    = "cloneset/web-7"
)

func none() int { return 0 }

// TestScale_CostOfOneWorkloadIsConstant: one workload costs what it costs, however many there are beside it; all of
// them are listed in pages, compressed.
func TestScale_CostOfOneWorkloadIsConstant(t *testing.T) {
	c := cluster.Start(t, kruise.API(), cluster.WithNodes())
	start := time.Now()
	fill(t, c)
	t.Logf("%d namespaces, %d CloneSets with a revision each, %d pods after %s", *namespaces, *workloads, *pods, time.Since(start).Round(time.Second))
	m := newMeter(t, c)
	t.Log("| command | time | memory | requests | received |")
	for _, b := range slices.Concat(ofOne(), ofAll()) {
		m.hold(t, b)
	}
	m.screens(t, 24, all()*1000)
}

// ofOne are the commands that look at one workload.
func ofOne() []bound {
	in := []string{"-n", namespaceOf(7)}
	return []bound{
		{append([]string{"get", one}, in...), 12, none, 0},
		{append([]string{"get", "pods"}, in...), 12, none, 0},
		{append([]string{"rollout", "status", one, "--watch=false"}, in...), 30, none, 0},
		{append([]string{"rollout", "history", one}, in...), 30, none, 0},
		{append([]string{"why", one}, in...), 30, none, 0},
		{append([]string{"plan", one, "--image", "app=registry.example.com/shop/app:2"}, in...), 30, none, 0},
		{append([]string{"describe", one}, in...), 30, none, 0},
		{append([]string{"inventory"}, in...), 30, none, 0},
		{append([]string{"lint", "--live"}, in...), 30, none, 0},
		{append([]string{"rollout", "status"}, in...), 24, none, 0},
		{[]string{"doctor"}, 20, none, 0},
	}
}

// ofAll are those that look at the whole cluster, in pages.
func ofAll() []bound {
	sets := func() int { return *workloads }
	page := *workloads/500 + *namespaces/500
	return []bound{
		{[]string{"get", "clonesets", "-A"}, 12 + page, sets, 1000},
		{[]string{"rollout", "list", "-A"}, 12, none, 0},
		{[]string{"rollout", "status", "-A"}, 24, all, 1000},
		{[]string{"lint", "--live", "-A"}, 40 + page, sets, 1000},
		{[]string{"inventory", "-A"}, 30 + page, all, 200},
	}
}

// all are the objects that count.
func all() int { return *pods + *workloads + *namespaces }

// hold runs a command, says what it cost and fails the test if that is too much.
func (m *meter) hold(t *testing.T, b bound) {
	t.Helper()
	cmd := m.command(t, b.args)
	var out bytes.Buffer
	cmd.Stdout = writer(func(b []byte) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.look()
		out.Write(b)
	})
	cmd.Stderr = cmd.Stdout
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go m.watch(ended)
	m.measures(cmd.Process.Pid)
	err := cmd.Wait()
	close(ended)
	if exit := cmd.ProcessState; exit == nil || exit.ExitCode() < 0 || exit.ExitCode() > 5 {
		t.Fatalf("%q: %v\n%s", b.args, err, tail(out.Bytes()))
	}
	if cmd.ProcessState.ExitCode() != 0 {
		t.Logf("%q: exit %d\n%s", b.args, cmd.ProcessState.ExitCode(), tail(out.Bytes()))
	}
	m.judge(t, cmd, time.Since(start), b.requests, anyway+b.objects()*b.bytes)
}

// command is the product before the meter, which begins again.
func (m *meter) command(t *testing.T, args []string) *exec.Cmd {
	t.Helper()
	path, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, slices.Concat([]string{"--server", m.url}, args)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "KUBECONFIG=/dev/null", "HOME="+home, "KUBECACHEDIR="+filepath.Join(home, "cache"), "TERM=xterm-256color")
	m.reset()
	return cmd
}

func (m *meter) judge(t *testing.T, cmd *exec.Cmd, took time.Duration, requests, size int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	n, read := m.requests, m.bytes
	t.Logf("| `%s` | %.1f s | %d MiB | %d | %.2f MiB |", strings.Join(cmd.Args[3:], " "), took.Seconds(), m.peak>>10, n, float64(read)/(1<<20))
	if n > requests || read > size {
		t.Errorf("%q: %d requests and %d bytes are more than %d and %d: %v", cmd.Args[3:], n, read, requests, size, m.asked)
	}
}

// lookAgain notes the memory of a process that continues.
func (m *meter) lookAgain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.look()
}

// measures has the memory of a process measured from now on.
func (m *meter) measures(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid = pid
}

// writer is called with what is written.
type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// Columns and rows of the terminal.
const columns, rows = 120, 40

// screens opens the terminal interface, waits until it has all it asks for, and leaves.
func (m *meter) screens(t *testing.T, requests, size int) {
	t.Helper()
	cmd := m.command(t, []string{"ui", "-A", "--read-only"})
	start := time.Now()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	m.measures(cmd.Process.Pid)
	shown := vt.NewEmulator(columns, rows)
	defer shown.Close()
	go func() { _, _ = io.Copy(tty, shown) }() // a terminal answers what it is asked
	drawn, ended := watchFor(io.TeeReader(tty, shown), "web-")
	go m.watch(ended)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for drawn != nil || !m.loaded() {
		select {
		case <-drawn:
			drawn = nil
		case <-m.changed:
		case <-limit.C:
			t.Fatal("the interface does not show the workloads")
		}
	}
	took := time.Since(start)
	m.lookAgain() // what came last is worked out after it has come
	_, _ = tty.WriteString("q")
	<-ended
	_ = cmd.Wait()
	m.judge(t, cmd, took, requests, size)
}
