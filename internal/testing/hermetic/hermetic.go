// Package hermetic gives a test binary an environment of its own: PATH, HOME, XDG
// folders, KUBECONFIG, locale and time zone do not depend on the machine or on the
// person who runs the tests. It is for tests only.
package hermetic

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/testenv"
)

// Variables of packages are set before TestMain. Of test packages, some are local times; of
// client-go, the kubeconfig and the folder for caches. This package is initialized before
// them: each of its imports is one of theirs, and its path comes first.
//
// Without a PATH, which go test always sets, the process is the isolated one that reads files of
// strangers, and its variables are what a test of it looks at.
func init() {
	time.Local = time.UTC
	if os.Getenv(testenv.Hermetic) != "" || os.Getenv("PATH") == "" {
		return
	}
	asked = os.Getenv(testenv.Spent) != ""
	entry.enter()
}

var (
	// asked reports whether Run prints the processor time.
	asked bool
	// entry is into the environment of this process.
	entry entrance
)

// Main runs the tests of a package in an environment of their own. Call it from
// TestMain and return.
func Main(m interface{ Run() int }) { os.Exit(Run(m)) }

// Run is Main for a TestMain that leaves the end of the process to another package. It
// returns the exit code.
func Run(m interface{ Run() int }) int {
	defer entry.leave()
	if err := entry.furnish(); err != nil {
		fmt.Fprintln(os.Stderr, "hermetic environment:", err)
		return 1
	}
	spacious()
	code := m.Run()
	if d, known := Spent(); asked && known {
		fmt.Printf("%s%s\n", testenv.SpentLine, d)
	}
	return code
}

const (
	// heapGrowth is the GOGC of test binaries.
	heapGrowth = 400
	// heapLimit is the size from which on garbage is collected as ever, so that packages
	// that run side by side fit into a small machine.
	heapLimit = 2 << 30
)

// spacious lets the heap of the tests grow further before garbage is collected: processor
// time is scarcer than memory. What the user has set stays. It is not in the environment,
// because the product obeys it: programs that tests start collect as they always do.
func spacious() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
}

// entrance is the change to an environment of a process's own. Without one, as in a process
// that a test binary has started, its home is "".
type entrance struct {
	// home is the new HOME. It exists from furnish to leave.
	home string
	// path is the PATH of the machine.
	path string
	err  error
}

// enter replaces the variables. It makes no file: a test binary that is started again as
// another program, without the variables, never comes to furnish and leave.
func (e *entrance) enter() {
	e.path = os.Getenv("PATH")
	e.home = filepath.Join(os.TempDir(), "kubectl-kruise-home-"+rand.Text())
	env := environment(e.home)
	os.Clearenv()
	for name, value := range env {
		e.err = errors.Join(e.err, os.Setenv(name, value))
	}
}

// furnish makes the files that the variables name.
func (e *entrance) furnish() error {
	if e.home == "" || e.err != nil {
		return e.err
	}
	if err := os.Mkdir(e.home, 0o700); err != nil {
		return err
	}
	if ownPrograms {
		if err := link(e.path, programsOf(e.home)); err != nil {
			return err
		}
	}
	return quiet()
}

// leave removes them.
func (e *entrance) leave() {
	if e.home != "" {
		_ = os.RemoveAll(e.home)
	}
}

// quiet turns off the telemetry of the go command, which would write to the home in the
// background, also after it is gone.
func quiet() error {
	config, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(config, "go", "telemetry")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "mode"), []byte("off"), 0o600)
}

// ownPrograms reports whether PATH is a folder of links. On Windows these need rights of
// their own, and PATH is the machine's.
const ownPrograms = runtime.GOOS != "windows"

func programsOf(home string) string { return filepath.Join(home, "bin") }

// environment is what tests see. Its home is a folder that is empty but for the
// programs.
func environment(home string) map[string]string {
	env := kept(os.Environ())
	if env[testenv.Tools] != "" {
		delete(env, "GOGC")
	}
	locate(env)
	maps.Copy(env, map[string]string{
		testenv.Hermetic:      "1",
		"HOME":                home,
		"XDG_CACHE_HOME":      filepath.Join(home, "cache"),
		"XDG_CONFIG_HOME":     filepath.Join(home, "config"),
		"XDG_DATA_HOME":       filepath.Join(home, "data"),
		"XDG_STATE_HOME":      filepath.Join(home, "state"),
		"XDG_RUNTIME_DIR":     filepath.Join(home, "run"),
		"KUBECONFIG":          filepath.Join(home, "no-kubeconfig"),
		"LANG":                "C.UTF-8",
		"LC_ALL":              "C.UTF-8",
		"TZ":                  "UTC",
		"USER":                "tester",
		"GIT_CONFIG_GLOBAL":   os.DevNull,
		"GIT_CONFIG_NOSYSTEM": "1",
		"PATH":                programsOf(home),
	})
	if !ownPrograms {
		env["PATH"] = os.Getenv("PATH")
	}
	return env
}

// prefixes begin the names of variables that tests, or the go command that some of them
// run, are meant to see.
var prefixes = []string{
	"CHAOS_", "CONFORMANCE_", "KRUISE_CONFORMANCE=", "UPDATE=", "KUBECTL_KRUISE_SERVER=", testenv.Servers + "=", "KUBECTL_KRUISE_TEST_",
	"GO", "CC=", "CXX=", "CGO_", "SSL_CERT_", "TMPDIR=", "SYSTEMROOT=", "TMP=", "TEMP=",
}

// kept are the variables of a list that begin with one of the prefixes.
func kept(list []string) map[string]string {
	env := map[string]string{}
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		for _, prefix := range prefixes {
			if strings.HasPrefix(strings.ToUpper(entry), prefix) {
				env[name] = value
			}
		}
	}
	return env
}

// locate names the folders that are found through HOME otherwise: the caches of the go
// command and the servers of the test cluster, which every run shares.
func locate(env map[string]string) {
	cache, cacheErr := os.UserCacheDir()
	config, configErr := os.UserConfigDir()
	home, homeErr := os.UserHomeDir()
	if env["GOENV"] == "" && configErr == nil {
		env["GOENV"] = filepath.Join(config, "go", "env")
	}
	set := settings(env["GOENV"])
	for _, v := range []struct {
		name string
		err  error
		path string
	}{
		{testenv.Servers, cacheErr, filepath.Join(cache, "kubectl-kruise", "servers")},
		{"GOCACHE", cacheErr, filepath.Join(cache, "go-build")},
		{"GOPATH", homeErr, filepath.Join(home, "go")},
	} {
		if v.err == nil && env[v.name] == "" && !set[v.name] {
			env[v.name] = v.path
		}
	}
}

// settings are the names that a file of go env -w sets. Like the go command, it takes a file
// that cannot be read for one that is not there.
func settings(file string) map[string]bool {
	out := map[string]bool{}
	text, err := os.ReadFile(file)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, "=")
		out[strings.TrimSpace(name)] = true
	}
	return out
}
