package guard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/guard"
)

// alive reports whether the process runs; a zombie has no command line any more.
func alive(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err == nil && len(line) > 0
}

func TestClose_EndsAllProcesses(t *testing.T) {
	f, err := guard.New()
	if err != nil {
		t.Fatal(err)
	}
	// The first stays in its group; the second leaves it, as shims do, and is known
	// by its command line.
	pidFile := filepath.Join(f.Path, "stray.pid")
	cmd := exec.Command("sh", "-c", `setsid sh -c 'echo $$ > "$1"; sleep 1000; :' x "$0" & while [ ! -s "$0" ]; do :; done; echo up; sleep 1000; :`, pidFile)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	strayed, err := strconv.Atoi(string(text[:len(text)-1]))
	if err != nil || !alive(strayed) {
		t.Fatalf("stray %d: %v", strayed, err)
	}
	marker := filepath.Join(t.TempDir(), "undone")
	elsewhere := filepath.Join(t.TempDir(), "group")
	if err := os.MkdirAll(filepath.Join(elsewhere, "child"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := f.Also(elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := f.After("touch", marker); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if alive(cmd.Process.Pid) || alive(strayed) {
		t.Error("a process is left")
	}
	for _, gone := range []string{f.Path, elsewhere} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", gone, err)
		}
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestSweep_KeepsLivingOnes(t *testing.T) {
	f, err := guard.New()
	if err != nil {
		t.Fatal(err)
	}
	dead, err := os.MkdirTemp(guard.Root(), "dead")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, "held"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := guard.Sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("abandoned folder: %v", err)
	}
	if _, err := os.Stat(f.Path); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
