package kubectl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var missing = regexp.MustCompile(`the server doesn't have a resource type "([^"]+)"|no matches for kind "([^"]+)"`)

// others are words for kinds of Kruise that no cluster takes, and for those of Kruise
// Rollout.
var others = map[string]string{
	"ppm": kruise.KindPodProbeMarker, "rd": kruise.KindResourceDistribution, "rollout": "Rollout", "rollouts": "Rollout",
}

// Hint advises on the error of a type that the server does not have; "" on others.
func Hint(err error) string {
	word := lacking(err)
	if word == "" {
		return ""
	}
	if m := inVersion.FindStringSubmatch(err.Error()); m != nil {
		if hint := elsewhere(m[1], m[2], m[3]); hint != "" {
			return hint
		}
	}
	if _, ok := KindOf(word); ok {
		return "this cluster has no Kruise, or not that kind; 'kubectl get all -l " + kruise.SourceLabel + "' finds what was rendered for it"
	}
	return "'kubectl kruise api-resources' lists the types"
}

// inVersion is a kind that a server does not have in one version.
var inVersion = regexp.MustCompile(`no matches for kind "([^"]+)" in version "([^"/]+)/([^"]+)"`)

// elsewhere advises on a kind of Kruise in a version that not all releases serve; "" on
// others.
func elsewhere(kind, group, version string) string {
	k, ours := kruise.Lookup(group, kind)
	in, some := kruise.ServedIn(group, kind, version)
	if !ours || !some || in.Has(kruise.OldestRecorded) || len(k.Versions) < 2 {
		return ""
	}
	return fmt.Sprintf("%s is served as %s %s: 'kubectl kruise convert -f FILE --to-version %s' writes it for every release", kind, version, in.Words(), k.Versions[0])
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

// nativeShort is a short name of Kruise's StatefulSet that Kubernetes' has too.
const nativeShort = "sts"

// KindOf is the kind of Kruise, or of Kruise Rollout, that a word can mean: its name, one
// or many, or a short name.
func KindOf(word string) (kind string, ok bool) {
	if kind, ok := others[word]; ok {
		return kind, true
	}
	for _, k := range kruise.Kinds() {
		if slices.Contains(k.Words(), word) && word != nativeShort {
			return k.Kind, true
		}
	}
	return "", false
}
