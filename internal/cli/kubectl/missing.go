package kubectl

import (
	"regexp"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var missing = regexp.MustCompile(`the server doesn't have a resource type "([^"]+)"|no matches for kind "([^"]+)"`)

// short are the names that Kruise gives its kinds beside their own.
var short = map[string]string{
	"clone": "CloneSet", "asts": "StatefulSet", "ads": "DaemonSet", "daemon": "DaemonSet", "bcj": "BroadcastJob", "acj": "AdvancedCronJob",
	"ud": "UnitedDeployment", "crr": "ContainerRecreateRequest", "pub": "PodUnavailableBudget", "ejob": "EphemeralJob", "ppm": "PodProbeMarker",
	"rd": "ResourceDistribution", "rollout": "Rollout", "rollouts": "Rollout",
}

// Hint advises on the error of a type that the server does not have; "" on others.
func Hint(err error) string {
	word := lacking(err)
	if word == "" {
		return ""
	}
	if _, ok := KindOf(word); ok {
		return "this cluster has no Kruise, or not that kind; 'kubectl get all -l " + kruise.SourceLabel + "' finds what was rendered for it"
	}
	return "'kubectl kruise api-resources' lists the types"
}

// LacksKruise reports whether an error is that the server does not have a kind of Kruise.
func LacksKruise(err error) bool {
	_, ok := KindOf(lacking(err))
	return ok
}

// lacking is the type that the server does not have, without its group; "" for any other
// error.
func lacking(err error) string {
	if err == nil {
		return ""
	}
	m := missing.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.ToLower(m[1]+m[2]), ".")
	return word
}

// KindOf is the kind of Kruise, or of Kruise Rollout, that a word can mean: its name, one
// or many, or a short name.
func KindOf(word string) (kind string, ok bool) {
	if kind, ok := short[word]; ok {
		return kind, true
	}
	for _, k := range kruise.Kinds() {
		if name := strings.ToLower(k.Kind); word == name || word == name+"s" {
			return k.Kind, true
		}
	}
	return "", false
}
