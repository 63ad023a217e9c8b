// Package hermetic gives a test binary an environment of its own: PATH, HOME, XDG
// folders, KUBECONFIG, locale and time zone do not depend on the machine or on the
// person who runs the tests. It is for tests only.
package hermetic

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Variables of test packages are set before TestMain, and some are local times; this
// package is initialized before them.
func init() { time.Local = time.UTC }

// Main runs the tests of a package in an environment of their own. Call it from
// TestMain and return.
func Main(m interface{ Run() int }) { os.Exit(Run(m)) }

// Run is Main for a TestMain that leaves the end of the process to another package. It
// returns the exit code.
func Run(m interface{ Run() int }) int {
	asked := os.Getenv(SpentEnv) != "" && os.Getenv(marker) == ""
	leave, err := enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hermetic environment:", err)
		return 1
	}
	defer leave()
	spacious()
	code := m.Run()
	if d, known := Spent(); asked && known {
		fmt.Printf("%s%s\n", SpentLine, d)
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

// marker indicates that the environment is already one of Enter's: a test binary may start
// itself again.
const marker = "KUBECTL_KRUISE_HERMETIC"

// enter replaces the environment of the process. The function that it returns removes
// the files of the new one. In a process that a hermetic process started, Enter changes
// nothing.
func enter() (leave func(), err error) {
	if os.Getenv(marker) != "" {
		return func() {}, nil
	}
	home, err := os.MkdirTemp("", "kubectl-kruise-home-")
	if err != nil {
		return nil, err
	}
	leave = func() { _ = os.RemoveAll(home) }
	env, err := environment(home)
	if err != nil {
		leave()
		return nil, err
	}
	os.Clearenv()
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil {
			leave()
			return nil, err
		}
	}
	if err := quiet(); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
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

// environment is what tests see. Its home is a folder that is empty but for the
// programs.
func environment(home string) (map[string]string, error) {
	env := kept(os.Environ())
	if env[ToolsEnv] != "" {
		delete(env, "GOGC")
	}
	locate(env)
	maps.Copy(env, map[string]string{
		marker:                "1",
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
	})
	if runtime.GOOS == "windows" { // where links need rights of their own
		env["PATH"] = os.Getenv("PATH")
		return env, nil
	}
	bin := filepath.Join(home, "bin")
	env["PATH"] = bin
	return env, link(bin)
}

// prefixes begin the names of variables that tests, or the go command that some of them
// run, are meant to see.
var prefixes = []string{
	"CHAOS_", "CONFORMANCE_", "KRUISE_CONFORMANCE=", "UPDATE=", "KUBECTL_KRUISE_SERVER=", ServersEnv + "=", "KUBECTL_KRUISE_TEST_",
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

// Variables that tests see.
const (
	// ServersEnv names the folder with the servers of the test cluster.
	ServersEnv = "KUBECTL_KRUISE_SERVERS"
	// ProductEnv is the path of the product that package testrun has built.
	ProductEnv = "KUBECTL_KRUISE_TEST_PRODUCT"
	// ProductSumEnv is the checksum of that file: go test runs suites again when it changes.
	ProductSumEnv = "KUBECTL_KRUISE_TEST_PRODUCT_SUM"
	// ToolsEnv indicates that GOGC is for the go command alone, so that tests do not see it.
	ToolsEnv = "KUBECTL_KRUISE_TEST_TOOLS"
)

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
		{ServersEnv, cacheErr, filepath.Join(cache, "kubectl-kruise", "servers")},
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
