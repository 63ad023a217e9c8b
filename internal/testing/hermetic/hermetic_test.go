package hermetic

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

// report makes the test binary print what it sees in an environment of its own.
const report = "KUBECTL_KRUISE_TEST_REPORT"

// seen is what a test sees of its surroundings.
type seen struct {
	Env      map[string]string
	Found    map[string]string
	Zone     string
	GoCache  string
	Writable bool
	Growth   int
	Limit    int64
}

// burn makes the test binary use the processor for a while, say so, and wait.
const burn = "KUBECTL_KRUISE_TEST_BURN"

const burned = 100 * time.Millisecond

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(report) != "":
		Main(printer{})
	case os.Getenv(burn) != "":
		for d := time.Duration(0); d < burned+2*tick; {
			d, _ = Spent()
		}
		fmt.Println("burned")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	Main(m)
}

type printer struct{}

func (printer) Run() int {
	s := seen{Env: map[string]string{}, Found: map[string]string{}, Zone: time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local).Format("MST")}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		s.Env[name] = value
	}
	for _, name := range []string{"kubectl-kruise", "kubectl", "sh", "go"} {
		s.Found[name], _ = exec.LookPath(name)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return 1
	}
	s.GoCache = strings.TrimSpace(string(cache))
	s.Writable = os.WriteFile(filepath.Join(s.Env["HOME"], "file"), nil, 0o600) == nil
	s.Growth, s.Limit = debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		return 1
	}
	return 0
}

// see starts the test binary in a hostile environment, with some variables set on top.
func see(t *testing.T, home string, env ...string) seen {
	t.Helper()
	programs := t.TempDir()
	write(t, filepath.Join(programs, "kubectl-kruise"), "#!/bin/sh\nexit 1\n", 0o755)
	write(t, filepath.Join(programs, "kubectl"), "#!/bin/sh\nexit 1\n", 0o755)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{
		report + "=1", "PATH=" + programs + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "KUBECONFIG=/etc/nonsense", "KUBECACHEDIR=/etc/nonsense", "NO_COLOR=1", "CLICOLOR_FORCE=1",
		"LANG=tr_TR.UTF-8", "LC_MESSAGES=tr_TR.UTF-8", "TZ=Pacific/Kiritimati",
		"HTTPS_PROXY=http://127.0.0.1:1", "KUBECTL_KRUISE_TARGET=native", "ARGOCD_APP_NAME=shop",
	}, env...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestMain_HidesTheMachine(t *testing.T) {
	home := t.TempDir()
	s := see(t, home)
	for _, name := range []string{"KUBECACHEDIR", "NO_COLOR", "CLICOLOR_FORCE", "LC_MESSAGES", "HTTPS_PROXY", "KUBECTL_KRUISE_TARGET", "ARGOCD_APP_NAME"} {
		if value, ok := s.Env[name]; ok {
			t.Errorf("%s is %q, want it unset", name, value)
		}
	}
	for name, bad := range map[string]string{"HOME": home, "KUBECONFIG": "/etc/nonsense", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati"} {
		if s.Env[name] == bad || s.Env[name] == "" {
			t.Errorf("%s is %q, want a value of the tests' own", name, s.Env[name])
		}
	}
	for _, name := range []string{"kubectl-kruise", "kubectl"} {
		if s.Found[name] != "" {
			t.Errorf("found %s of the machine: %s", name, s.Found[name])
		}
	}
	for _, name := range []string{"sh", "go"} {
		if s.Found[name] == "" {
			t.Errorf("%s is not on the PATH", name)
		}
	}
	if s.Zone != "UTC" {
		t.Errorf("the local time zone is %s, want UTC", s.Zone)
	}
	if !s.Writable {
		t.Error("HOME cannot be written")
	}
}

// TestImports_AreThoseOfClientGo: so no test binary can initialize client-go before this package.
func TestImports_AreThoseOfClientGo(t *testing.T) {
	imports := func(of string) map[string]bool {
		cmd := exec.Command("go", "list", "-deps", of)
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			all[strings.TrimSpace(line)] = true
		}
		return all
	}
	first, theirs := imports("."), imports("k8s.io/client-go/tools/clientcmd")
	if len(first) < 50 {
		t.Fatalf("only %d imports found", len(first))
	}
	for path := range first {
		if ours := strings.HasPrefix(path, "github.com/kubectl-kruise/"); !ours && !theirs[path] {
			t.Errorf("%s is not imported by client-go, which may be initialized before it", path)
		}
	}
}

// TestMain_NeedsNoHome: a HOME that is no folder, as some containers have it, is no obstacle.
func TestMain_NeedsNoHome(t *testing.T) {
	caches := t.TempDir()
	s := see(t, filepath.Join(os.DevNull, "home"), "GOENV=", "GOCACHE="+filepath.Join(caches, "build"), "GOPATH="+filepath.Join(caches, "go"), "XDG_CACHE_HOME="+caches)
	if !s.Writable {
		t.Error("HOME cannot be written")
	}
}

func TestMain_RemovesItsHome(t *testing.T) {
	s := see(t, t.TempDir())
	if _, err := os.Stat(s.Env["HOME"]); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", s.Env["HOME"], err)
	}
}

// TestMain_KeepsTheCaches: what is compiled once is used by tests that run the go command.
func TestMain_KeepsTheCaches(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	usual := filepath.Join(home, ".cache", "go-build")
	if runtime.GOOS == "darwin" {
		usual = filepath.Join(home, "Library", "Caches", "go-build")
	}
	file := filepath.Join(t.TempDir(), "go.env")
	write(t, file, "GOCACHE="+elsewhere+"\n", 0o600)
	for _, c := range []struct {
		name string
		env  []string
		want string
	}{
		{"default", []string{"GOCACHE=", "XDG_CACHE_HOME=", "GOENV="}, usual},
		{"GOCACHE", []string{"GOCACHE=" + elsewhere}, elsewhere},
		{"go env -w", []string{"GOCACHE=", "GOENV=" + file}, elsewhere},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s := see(t, home, c.env...); s.GoCache != c.want {
				t.Errorf("GOCACHE is %s, want %s", s.GoCache, c.want)
			}
		})
	}
}

// TestMain_LetsTheHeapGrow: of the test binary alone, not of programs that it starts.
func TestMain_LetsTheHeapGrow(t *testing.T) {
	for name, c := range map[string]struct {
		env    []string
		growth int
		limit  int64
		see    string
	}{
		"usually":     {nil, heapGrowth, heapLimit, " "},
		"by testrun":  {[]string{"GOGC=77", testenv.Tools + "=1"}, heapGrowth, heapLimit, " "},
		"by the user": {[]string{"GOGC=50", "GOMEMLIMIT=1GiB"}, 50, 1 << 30, "50 1GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			s := see(t, t.TempDir(), c.env...)
			if s.Growth != c.growth || s.Limit != c.limit {
				t.Errorf("the heap grows by %d%%, up to %d bytes; want %d%% and %d", s.Growth, s.Limit, c.growth, c.limit)
			}
			if see := s.Env["GOGC"] + " " + s.Env["GOMEMLIMIT"]; see != c.see {
				t.Errorf("programs see %q, want %q", see, c.see)
			}
		})
	}
}
