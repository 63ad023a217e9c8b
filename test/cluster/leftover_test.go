package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/realnode"
)

// victimEnv makes the test binary a program that starts a cluster and waits to be
// killed.
const victimEnv = "KUBECTL_KRUISE_TEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		victim()
	}
	hermetic.Main(m)
}

// trace is what the victim tells of its cluster.
type trace struct {
	PID    int
	Folder string
	Server string
	// Address, Link and Group are what a real node has outside of its folder.
	Address, Link, Group string
}

func victim() {
	options := []cluster.Option{cluster.WithProgress(io.Discard)}
	if os.Getenv(victimEnv) == "real" {
		options = append(options, cluster.RealNode())
	}
	ctx := context.Background()
	c, err := cluster.New(ctx, options...)
	if err == nil {
		_, err = c.ApplyAll(ctx, "default", strings.NewReader(realPod("web", "", "")))
	}
	if err == nil && c.Real != nil {
		_, err = cluster.Await(ctx, c.Client().CoreV1().Pods("default"), "web", func(_ watch.EventType, p *corev1.Pod) bool { return ready(p) })
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	left := trace{PID: os.Getpid(), Folder: c.Folder(), Server: strings.TrimPrefix(c.Config().Host, "https://")}
	if c.Real != nil {
		left.Address = c.Real.Address
		left.Link, left.Group = "/sys/class/net/"+c.Real.Bridge, "/sys/fs/cgroup/memory"+c.Real.Groups
	}
	line, _ := json.Marshal(left)
	fmt.Println(string(line))
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// TestKill_LeavesNothing kills a program with a running cluster.
func TestKill_LeavesNothing(t *testing.T) {
	t.Run("modelled nodes", func(t *testing.T) {
		t.Parallel()
		left := kill(t, "modelled", func(left trace) { onlyListens(t, left, "127.0.0.1") })
		nothingOf(t, left)
	})
	t.Run("a real node", func(t *testing.T) {
		t.Parallel()
		if lacks := realnode.Missing(); lacks != "" {
			t.Skipf("no real node: this test needs %s", lacks)
		}
		left := kill(t, "real", func(left trace) {
			onlyListens(t, left, "127.0.0.1", left.Address)
			for _, path := range []string{left.Link, left.Group} {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
		})
		nothingOf(t, left)
		for _, path := range []string{left.Link, left.Group} {
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("%s is left", path)
			}
		}
	})
}

// kill runs a victim, looks at it while it lives, and kills it.
func kill(t *testing.T, kind string, look func(trace)) trace {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+kind)
	cmd.Stderr = t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// It ends when its input does, so it does not outlive a killed test.
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var left trace
	if err := json.Unmarshal(line, &left); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	look(left)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return left
}

// nothingOf checks that folder, processes, port and mounts are gone.
func nothingOf(t *testing.T, left trace) {
	t.Helper()
	eventually(t, "the folder is gone", func() bool { _, err := os.Stat(left.Folder); return os.IsNotExist(err) })
	if p := processes(t, left.Folder); len(p) > 0 {
		t.Errorf("processes left: %v", p)
	}
	if conn, err := net.Dial("tcp", left.Server); err == nil {
		_ = conn.Close()
		t.Errorf("%s still listens", left.Server)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), left.Folder) {
		t.Error("mounts left")
	}
}

// eventually is for what only the system knows, which sends no events.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(cluster.Patience); !holds(); {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

// processes lists those that have the folder in their command line.
func processes(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), folder+"/") {
			out = append(out, filepath.Dir(f))
		}
	}
	return out
}

// crash kills a component behind the cluster's back.
func crash(t *testing.T, c *cluster.Cluster, name cluster.Component) {
	t.Helper()
	for _, p := range processes(t, c.Folder()) {
		line, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || filepath.Base(strings.Split(string(line), "\x00")[0]) != string(name) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(p))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}
