package rules

// SidecarSetFields are the fields of a SidecarSet's spec that come into pods and
// make its revisions. Selectors and strategies do not count (docs/kruise/sidecarset.md#hashes).
func SidecarSetFields() []string {
	return []string{"containers", "imagePullSecrets", "initContainers", "patchPodMetadata", "volumes"}
}
