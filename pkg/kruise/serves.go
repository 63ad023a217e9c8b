package kruise

import "slices"

// Serves reports whether a kind of Kruise exists in a version, such as v1beta1.
func Serves(group, kind, version string) bool {
	k := kinds[group+"/"+kind]
	return k != nil && slices.Contains(k.versions, version)
}
