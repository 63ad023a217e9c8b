package kruise

import (
	"regexp"
	"slices"
	"strings"
)

// managerImage is an image of Kruise's manager with a release as its tag; what follows the
// release, such as -alpine or the digest, is ignored.
var managerImage = regexp.MustCompile(`(?:^|/)kruise-manager:v?(1\.[0-9]+\.[0-9]+)(?:[-+@][^/]*)?$`)

// ReleaseOfImage reads the release from the image of Kruise's manager, such as
// openkruise/kruise-manager:v1.8.4; false if its name or tag has no release. What is built from
// Kruise's main branch has tags of its own.
func ReleaseOfImage(image string) (Release, bool) {
	m := managerImage.FindStringSubmatch(image)
	if m == nil {
		return Release{}, false
	}
	r, err := ParseRelease(m[1])
	return r, err == nil
}

// Definitions are the facts about the release in a cluster's definitions of Kruise's kinds.
type Definitions struct {
	// Served are the versions by kind, such as CloneSet: v1alpha1.
	Served map[string][]string
	// Schemas is nil where no schema was read.
	Schemas interface {
		// Has reports whether the schema of a kind in a version has a field, by its path as in
		// [FieldHistory].
		Has(kind, version, path string) bool
	}
}

// ReleasesOf are the releases that the definitions can be of, the oldest first: those that
// contradict them least, and exact is whether they contradict them in nothing. None where
// no kind of Kruise is served.
func ReleasesOf(d Definitions) (candidates []Release, exact bool) {
	if len(d.Served) == 0 {
		return nil, false
	}
	fewest := -1
	for _, r := range Releases() {
		n := d.contradictions(r)
		if fewest < 0 || n < fewest {
			fewest, candidates = n, nil
		}
		if n == fewest {
			candidates = append(candidates, r)
		}
	}
	return candidates, fewest == 0
}

// contradictions counts the rows of the tables that would be otherwise in the release.
func (d Definitions) contradictions(r Release) int {
	n := 0
	for _, k := range Kinds() {
		for _, v := range k.Versions {
			if slices.Contains(d.Served[k.Kind], v) != r.Serves(k.Group, k.Kind, v) {
				n++
			}
		}
	}
	if d.Schemas == nil {
		return n
	}
	for _, h := range FieldHistories() {
		if h.Value == "" && slices.Contains(d.Served[h.Kind], h.Version) && strings.HasPrefix(h.Path, "spec") && d.Schemas.Has(h.Kind, h.Version, h.Path) != h.Has(r) {
			n++
		}
	}
	return n
}
