package argocd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// given is how Argo CD names the variables of an application; prefix is what those that
// are options begin with.
const (
	given  = "ARGOCD_ENV_"
	prefix = "KRUISE_"
)

// Stray returns a line for each variable of the application, among NAME=VALUE, that
// begins as an option does and is none. Values, which may be secret, are not in them.
func Stray(environ []string) []string {
	var known, lines []string
	for _, name := range names() {
		known = append(known, variable(name))
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(name, given)
		if !ours || !strings.HasPrefix(strings.ToUpper(name), prefix) || slices.Contains(known, name) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s is not an option: %s", name, meant(name, known)))
	}
	slices.Sort(lines)
	return lines
}

func meant(name string, known []string) string {
	if near := tree.Nearest(name, slices.Values(known)); near != "" {
		return "did you mean " + near + "?"
	}
	return "one of " + strings.Join(known, ", ")
}
