// Package installed finds the programs that kubectl takes for the plugin kruise, and the
// plugin that krew has installed by this name. It runs none of them.
package installed

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	own   = "github.com/kubectl-kruise/kubectl-kruise"
	older = "github.com/openkruise/kruise-tools"
)

// Program is a file that kubectl takes for the plugin.
type Program struct {
	File string
	// Module is the Go module that the file was built from, "" where it does not tell.
	Module string
}

// Own reports whether the file is a build of this program.
func (p Program) Own() bool { return p.Module == own }

// Older reports whether the file is OpenKruise's older plugin of the same name.
func (p Program) Older() bool { return p.Module == older }

// OnPath lists the programs on a PATH, each file once. kubectl runs the first.
func OnPath(path string) []Program {
	name := "kubectl-kruise"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var out []Program
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
			out = append(out, Program{File: file, Module: module(file)})
		}
	}
	return out
}

// module is the Go module that a program was built from, "" where it does not tell.
func module(file string) string {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return ""
	}
	return info.Main.Path
}

// index is the repository of this project's index for krew.
const index = "https://github.com/kubectl-kruise/krew-index.git"

const takesOver = "; the commands and flags of the older plugin work in this one"

// Replace is how a program gives way to this one: by krew where krew has installed it.
func (p Program) Replace(getenv func(string) string) string {
	if bin := filepath.Join(krewRoot(getenv), "bin"); filepath.Clean(filepath.Dir(p.File)) == bin {
		return replaceInKrew
	}
	return "delete " + p.File + takesOver
}

var replaceInKrew = strings.Join([]string{
	"kubectl krew uninstall kruise", "kubectl krew index add kruise " + index, "kubectl krew install kruise/kruise",
}, " && ") + takesOver
