package hermetic

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

func TestParse_ReadsFieldsAfterTheName(t *testing.T) {
	p, ok := parse([]byte("77 (a) b (c) S 12 1 1 0 -1 4194304 100 200 0 0 150 25 1000 300 20 0 4 0 1234 99 88\n"))
	if want := (process{parent: 12, spent: 14750 * time.Millisecond}); !ok || p != want {
		t.Errorf("%+v, %v; want %+v", p, ok, want)
	}
	for _, broken := range []string{"", "77 (a", "77 (a) S 1", "77 (a) S x 1 1 0 -1 4194304 100 200 0 0 150 25 1000 300 20", "77 (a) S 1 1 1 0 -1 4194304 100 200 0 0 many 25 1000 300 20"} {
		if p, ok := parse([]byte(broken)); ok {
			t.Errorf("%q is %+v", broken, p)
		}
	}
}

func TestTotal_IsOfAllThatAProcessStarted(t *testing.T) {
	all := map[int]process{
		1: {0, time.Hour}, 5: {1, time.Second}, 6: {5, 2 * time.Second}, 7: {6, 4 * time.Second}, 8: {1, time.Minute},
	}
	if got := total(all, 5); got != 7*time.Second {
		t.Errorf("%s, want 7s", got)
	}
}

// TestSpent_CountsAProcessThatStillRuns: the servers of a cluster that tests share run
// until the tests have ended.
func TestSpent_CountsAProcessThatStillRuns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), burn+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stop, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := Spent()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, 1)
	if _, err := out.Read(word); err != nil {
		t.Fatal(err)
	}
	if got, known := Spent(); !known || got-before < burned {
		t.Errorf("%s, and a process that runs has spent %s alone", got-before, burned)
	}
	_ = stop.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestMain_ReportsTheCPUTimeOfTests: a test binary says it in a last line that package testrun
// reads, and a process that it starts says nothing.
func TestMain_ReportsTheCPUTimeOfTests(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	for name, c := range map[string]struct {
		env  []string
		want bool
	}{
		"asked":             {[]string{testenv.Spent + "=1"}, true},
		"not asked":         {nil, false},
		"inside of another": {[]string{testenv.Spent + "=1", testenv.Hermetic + "=1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append([]string{report + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, c.env...)
			cmd.Stderr = t.Output()
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			_, last, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			text, said := strings.CutPrefix(last, testenv.SpentLine)
			if d, err := time.ParseDuration(text); said != c.want || said && (err != nil || d < 0) {
				t.Errorf("the last line is %q: %v", last, err)
			}
		})
	}
}
