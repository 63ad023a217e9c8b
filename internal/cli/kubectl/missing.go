package kubectl

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var missing = regexp.MustCompile(`the server doesn't have a resource type "([^"]+)"|no matches for kind "([^"]+)"`)

// short are the names that Kruise gives its kinds beside their own.
var short = []string{"clone", "asts", "ads", "daemon", "bcj", "acj", "ud", "crr", "pub", "ejob", "ppm", "rd", "rollout", "rollouts"}

// Hint advises on the error of a type that the server does not have; "" on others.
func Hint(err error) string {
	if err == nil {
		return ""
	}
	m := missing.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.ToLower(m[1]+m[2]), ".")
	if ofKruise(word) {
		return "this cluster has no Kruise, or not that kind; 'kubectl get all -l " + kruise.SourceLabel + "' finds what was rendered for it"
	}
	return "'kubectl kruise api-resources' lists the types"
}

func ofKruise(word string) bool {
	return slices.Contains(short, word) || slices.ContainsFunc(kruise.Kinds(), func(k kruise.Registered) bool {
		kind := strings.ToLower(k.Kind)
		return word == kind || word == kind+"s"
	})
}
