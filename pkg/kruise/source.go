package kruise

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// SourceValue returns the value of [SourceLabel] for an object: its kind in
// lower case, a dot, its name. What a label value cannot hold is cut and ends
// in eight hexadecimal digits of a hash, so that two long names stay two.
func SourceValue(kind, name string) string {
	full := strings.ToLower(kind) + "." + name
	if len(full) <= validation.LabelValueMaxLength {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	const digits = 8
	cut := strings.TrimRight(full[:validation.LabelValueMaxLength-digits-1], "-._")
	return cut + "-" + hex.EncodeToString(sum[:])[:digits]
}

// KeepsStrategy reports whether the spec of a kind is read back from what it was rendered
// into: by a rollout of this tool, and for a PodUnavailableBudget when pods are taken.
func KeepsStrategy(kind string) bool {
	return slices.Contains(keepStrategy, kind)
}

var keepStrategy = []string{KindCloneSet, KindStatefulSet, KindDaemonSet, KindPodUnavailableBudget}
