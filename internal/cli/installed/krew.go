package installed

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/homedir"
	"sigs.k8s.io/yaml"
)

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
