package isolated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

// What the processes of the tests do.
type task struct{ Do, With string }

const name = "test"

// parent is the argument of a process that starts another one, as a parent that dies.
const parent = "isolated-test-parent"

func init() {
	Serve(name, func(request []byte, answer io.Writer) error {
		var t task
		if err := json.Unmarshal(request, &t); err != nil {
			return err
		}
		return t.run(answer)
	})
	if len(os.Args) == 3 && os.Args[1] == parent {
		_, _, err := Run(context.Background(), name, os.Args[2], task{"wait", filepath.Join(os.Args[2], "pid")}, Limits{1 << 30, time.Hour, 1 << 20})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var kept [][]byte

func (t task) run(answer io.Writer) (err error) {
	switch t.Do {
	case "say":
		_, err = io.WriteString(answer, t.With+strings.Join(os.Environ(), " "))
	case "fill":
		for {
			b := make([]byte, 1<<24)
			for i := range b {
				b[i] = 1
			}
			kept = append(kept, b)
		}
	case "flood":
		for b := make([]byte, 1<<20); err == nil; {
			_, err = answer.Write(b)
		}
	case "wait":
		fmt.Fprintln(os.Stderr, os.Getpid())
		select {}
	case "panic":
		panic("s3cret")
	case "get":
		_, err = http.Get(t.With) //nolint:bodyclose,noctx // it must fail
	case "get by a client":
		_, err = (&http.Client{}).Get(t.With) //nolint:bodyclose,noctx // it must fail
	case "dial":
		_, err = net.Dial("tcp", t.With) //nolint:noctx // it must fail
	case "look up":
		_, err = net.LookupHost("example.com")
	case "run":
		_, err = exec.LookPath(t.With)
	case "run by path":
		err = exec.Command(t.With).Run() //nolint:noctx // it must fail
	case "read":
		_, err = os.ReadFile(t.With)
	case "write":
		err = os.WriteFile(t.With, []byte("x"), 0o600)
	case "fork":
		err = exec.Command("/proc/self/exe").Run() //nolint:noctx // it must fail
	}
	return err
}

func do(t *testing.T, what, with string, l Limits) (answer, said string, err error) {
	t.Helper()
	out, errs, err := Run(t.Context(), name, t.TempDir(), task{what, with}, l)
	return string(out), string(errs), err
}

var roomy = Limits{MemoryBytes: 1 << 30, Time: 30 * time.Second, OutputBytes: 1 << 20}

// TestRun: the answer comes back, and nothing of the environment is there.
func TestRun(t *testing.T) {
	t.Setenv("TOKEN", "s3cret")
	t.Setenv("HTTPS_PROXY", "http://localhost:1")
	got, _, err := do(t, "say", "hello ", roomy)
	if err != nil || got != "hello PATH= GOTRACEBACK=none" && runtime.GOOS != "windows" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestRun_Limits: memory, time and what is answered are bounded, and a panic is an error.
func TestRun_Limits(t *testing.T) {
	for what, c := range map[string]struct {
		limits Limits
		want   error
	}{
		"fill":  {Limits{256 << 20, time.Minute, 1 << 20}, ErrMemory},
		"wait":  {Limits{1 << 30, 500 * time.Millisecond, 1 << 20}, ErrTime},
		"flood": {Limits{1 << 30, time.Minute, 1 << 20}, ErrOutput},
	} {
		if hermetic.Race && what == "fill" {
			continue // the race detector ends a program for which it has no memory, in its own way
		}
		begin := time.Now()
		if _, _, err := do(t, what, "", c.limits); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: took %s", what, took)
		}
	}
	if _, _, err := do(t, "panic", "", roomy); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

// TestRun_ReachesNoNetworkOrProgram: there is no way to a network or to a program.
func TestRun_ReachesNoNetworkOrProgram(t *testing.T) {
	hits := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer server.Close()
	for what, with := range map[string]string{"get": server.URL, "get by a client": server.URL, "look up": "", "run": "git"} {
		if _, said, err := do(t, what, with, roomy); err == nil || said == "" {
			t.Errorf("%s: %v, %s", what, err, said)
		}
	}
	if hits > 0 {
		t.Errorf("%d requests", hits)
	}
}

// TestRun_KernelRefusesOtherCalls: the kernel refuses the rest, where it can.
func TestRun_KernelRefusesOtherCalls(t *testing.T) {
	if !confines() {
		t.Skip("the kernel has no Landlock")
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, with := range map[string]string{
		"dial": strings.TrimPrefix(server.URL, "http://"), "read": secret, "write": secret, "run by path": "/bin/sh", "fork": "",
	} {
		if _, said, err := do(t, what, with, roomy); err == nil || !strings.Contains(said, "denied") {
			t.Errorf("%s: %v, %s", what, err, said)
		}
	}
}

// TestRun_EndsWithItsContext: the process ends with its context.
func TestRun_EndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	begin := time.Now()
	_, said, err := Run(ctx, name, t.TempDir(), task{"wait", ""}, roomy)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	gone(t, strings.TrimSpace(string(said)))
}

func gone(t *testing.T, pid string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	if _, err := strconv.Atoi(pid); err != nil {
		t.Fatalf("%q is no process", pid)
	}
	for range 500 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %s is still there", pid)
}
