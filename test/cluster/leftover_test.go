package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// victimEnv makes the test binary a program that starts a cluster and waits to be
// killed.
const victimEnv = "KUBECTL_KRUISE_TEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		victim()
	}
	os.Exit(m.Run())
}

// trace is what the victim tells of its cluster.
type trace struct {
	Folder string
	Server string
}

func victim() {
	c, err := cluster.New(context.Background(), cluster.WithProgress(io.Discard))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	line, _ := json.Marshal(trace{Folder: c.Folder(), Server: strings.TrimPrefix(c.Config().Host, "https://")})
	fmt.Println(string(line))
	select {}
}

// TestNothingIsLeftAfterKill kills a program with a running cluster.
func TestNothingIsLeftAfterKill(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
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
	onlyLoopback(t, left.Folder)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
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
	for deadline := time.After(30 * time.Second); !holds(); {
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

// onlyLoopback checks every listening socket of the folder's processes.
func onlyLoopback(t *testing.T, folder string) {
	t.Helper()
	own := map[string]bool{}
	for _, p := range processes(t, folder) {
		links, _ := filepath.Glob(p + "/fd/*")
		for _, l := range links {
			if target, err := os.Readlink(l); err == nil {
				own[strings.Trim(strings.TrimPrefix(target, "socket:"), "[]")] = true
			}
		}
	}
	found := 0
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != "0A" || !own[f[9]] {
				continue
			}
			found++
			if !strings.HasPrefix(f[1], "0100007F:") {
				t.Errorf("listens on %s", f[1])
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d listeners found", found)
	}
}
