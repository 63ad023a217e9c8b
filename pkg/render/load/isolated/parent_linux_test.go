package isolated

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// confines reports whether the kernel can confine processes, connections included.
func confines() bool {
	version, err := ll.LandlockGetABIVersion()
	return err == nil && version >= 4
}

// TestRun_DiesWithItsParent: a process does not outlive the one that waits for it, even
// when that one is killed.
func TestRun_DiesWithItsParent(t *testing.T) {
	c := exec.Command(os.Args[0], parent, t.TempDir()) //nolint:noctx // it is killed
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	child := ""
	for deadline := time.Now().Add(20 * time.Second); child == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		lists, _ := filepath.Glob("/proc/" + strconv.Itoa(c.Process.Pid) + "/task/*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			child += strings.TrimSpace(string(text))
		}
	}
	if child == "" {
		t.Skip("the kernel does not tell children")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	gone(t, child)
}
