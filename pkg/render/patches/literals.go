package patches

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// secretive are parts of names of variables that hold what should be in a Secret.
var secretive = []string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "APIKEY", "API_KEY", "PRIVATE_KEY", "CREDENTIAL"}

// Literals warns of variables in patches whose name suggests a secret while their value is in the
// manifest, and so in the patch: those that patches hold as a whole, and those whose value differs
// between the old and the new object. Values of Secret objects never come into a patch.
func Literals(steps []Step, old, updated *tree.Node) []string {
	names := map[string]bool{}
	for i := range steps {
		if p := steps[i].Patch; p != nil {
			for v := range variables(p.Body) {
				names[v.name] = true
			}
		}
	}
	before := variables(tree.Value(old))
	for v := range variables(tree.Value(updated)) {
		if !before[v] {
			names[v.name] = true
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, fmt.Sprintf("the variable %s has its value in the manifest, and so in a patch: keep the folder to yourself, or take the value from a Secret", name))
	}
	return out
}

// variable is a mapping with a name that sounds secret, and a value.
type variable struct{ name, value string }

// variables are those in decoded JSON.
func variables(v any) map[variable]bool {
	found := map[variable]bool{}
	collect(v, found)
	return found
}

func collect(v any, found map[variable]bool) {
	switch v := v.(type) {
	case map[string]any:
		name, _ := v["name"].(string)
		upper := strings.ToUpper(name)
		secret := slices.ContainsFunc(secretive, func(part string) bool { return strings.Contains(upper, part) })
		if text, ok := v["value"].(string); ok && text != "" && secret {
			found[variable{name, text}] = true
		}
		for _, below := range v {
			collect(below, found)
		}
	case []any:
		for _, item := range v {
			collect(item, found)
		}
	}
}
