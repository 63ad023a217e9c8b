package doctor

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
)

const (
	own      = "github.com/kubectl-kruise/kubectl-kruise"
	switchTo = "remove it: kubectl krew uninstall kruise, or delete the file; its commands and flags work here, too"
)

// client says which build this is, and whether it is the one that kubectl runs: that is
// the first on the PATH.
func client(path string) []verdict.Line {
	i := version.Get()
	out := []verdict.Line{verdict.Good("client", "kubectl-kruise %s, %s", i.Version, i.Platform)}
	found := plugins(path)
	if len(found) == 0 {
		return append(out, verdict.Odd("plugin", "put the program on the PATH as kubectl-kruise", "kubectl finds no plugin kruise on the PATH"))
	}
	if module := module(found[0]); module != own {
		return append(out, verdict.Odd("plugin", switchTo, "kubectl runs %s, which is another program%s", found[0], of(module)))
	}
	for _, other := range found[1:] {
		out = append(out, verdict.Odd("plugin", "remove it, so that nobody runs it by accident", "%s is on the PATH, too%s", other, of(module(other))))
	}
	return append(out, verdict.Good("plugin", "kubectl runs %s", found[0]))
}

func of(module string) string {
	if module == "" || module == own {
		return ""
	}
	return " (" + module + ")"
}

// plugins are all files on the path that kubectl would run, each once, first come first.
func plugins(path string) []string {
	name := "kubectl-kruise"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var out []string
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil || info.IsDir() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		target, err := filepath.EvalSymlinks(file)
		if err == nil && !seen[target] {
			seen[target] = true
			out = append(out, file)
		}
	}
	return out
}

// module is where a Go program comes from, "" where it does not say. It is not run for it.
func module(file string) string {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return ""
	}
	return info.Main.Path
}
