package version

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"k8s.io/client-go/util/homedir"
	"sigs.k8s.io/yaml"
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
			out = append(out, Program{File: file, Module: modulePath(file)})
		}
	}
	return out
}

// modulePath is the Go module that a program was built from, "" where it does not tell.
func modulePath(file string) string {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return ""
	}
	return info.Main.Path
}

// krewIndex is the repository of this project's index for krew.
const krewIndex = "https://github.com/kubectl-kruise/krew-index.git"

const takesOverHint = "; the commands and flags of the older plugin work in this one"

// Replace is how a program gives way to this one: by krew where krew has installed it.
func (p Program) Replace(getenv func(string) string) string {
	if bin := filepath.Join(krewRoot(getenv), "bin"); filepath.Clean(filepath.Dir(p.File)) == bin {
		return replaceInKrew
	}
	return "delete " + p.File + takesOverHint
}

var replaceInKrew = strings.Join([]string{
	"kubectl krew uninstall kruise", "kubectl krew index add kruise " + krewIndex, "kubectl krew install kruise/kruise",
}, " && ") + takesOverHint

// Receipt is what krew keeps of the plugin kruise that it has installed.
type Receipt struct {
	// Version is a tag, such as v1.1.2.
	Version string
	// Index is the name of the index that it came from, such as default.
	Index string
	// Homepage is the address of the project.
	Homepage string
}

// InKrew reads krew's receipt of the plugin kruise; ok is false where krew has none.
func InKrew(getenv func(string) string) (r Receipt, ok bool) {
	b, err := os.ReadFile(filepath.Join(krewRoot(getenv), "receipts", "kruise.yaml"))
	if err != nil {
		return Receipt{}, false
	}
	var text struct {
		Spec   struct{ Version, Homepage string }
		Status struct{ Source struct{ Name string } }
	}
	if yaml.Unmarshal(b, &text) != nil {
		return Receipt{}, false
	}
	return Receipt{Version: text.Spec.Version, Homepage: text.Spec.Homepage, Index: text.Status.Source.Name}, true
}

// Own reports whether krew has installed this program.
func (r Receipt) Own() bool { return r.Homepage == "https://"+own }

// Older reports whether krew has installed OpenKruise's older plugin.
func (r Receipt) Older() bool { return r.Homepage == "https://"+older }

func (r Receipt) String() string {
	s := "kruise " + r.Version
	if r.Index != "" {
		s += " of the index " + r.Index
	}
	return s
}

// Replace is how the plugin gives way to this one.
func (r Receipt) Replace() string { return replaceInKrew }

// krewRoot is krew's folder, found as krew finds it.
func krewRoot(getenv func(string) string) string {
	root := getenv("KREW_ROOT")
	if root == "" {
		home := getenv("HOME")
		if home == "" {
			home = homedir.HomeDir()
		}
		root = filepath.Join(home, ".krew")
	}
	if abs, err := filepath.Abs(root); err == nil {
		return abs
	}
	return root
}

// Warning is a sentence about the older plugin, and what to do.
type Warning struct{ Text, Hint string }

// Warnings tell where the older plugin would be run or kept in the place of this program:
// first on the PATH, or by krew.
func Warnings(getenv func(string) string) []Warning {
	var out []Warning
	if found := OnPath(getenv("PATH")); len(found) > 0 && found[0].Older() {
		out = append(out, Warning{
			fmt.Sprintf("kubectl runs %s, which is the older plugin (%s)", found[0].File, older), found[0].Replace(getenv),
		})
	}
	if r, ok := InKrew(getenv); ok && r.Older() && (len(out) == 0 || out[0].Hint != r.Replace()) {
		out = append(out, Warning{fmt.Sprintf("krew has installed %s, which is the older plugin", r), r.Replace()})
	}
	return out
}
