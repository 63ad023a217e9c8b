package rules

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// EffectNewPods is a field that only pods made later get; Kruise does not hold
// it against pods that lack it.
const EffectNewPods Effect = "newPods"

// SidecarSetEligible reports what a change of a SidecarSet's spec, as decoded JSON
// in v1beta1, does to pods that have its sidecars: only images of containers
// change, any other change of a container leaves the pod behind until a user
// recreates it (docs/kruise/sidecarset.md#hashes and
// docs/kruise/sidecarset.md#what-can-change-in-place). Selectors and strategies are not looked at.
func SidecarSetEligible(old, updated map[string]any) Eligibility {
	e := Eligibility{Policy: PolicyInPlaceOnly}
	hashed := map[string]bool{"containers": true, "initContainers": nativeSidecars(old) || nativeSidecars(updated)}
	for _, key := range SidecarSetFields() {
		for _, d := range tree.Differences([]string{"spec", key}, entries(old[key]), entries(updated[key])) {
			f := FieldChange{
				Path: PathText(d.Path), Old: redact.Value(d.Path, d.Old, map[string]any{"spec": old}), New: redact.Value(d.Path, d.New, map[string]any{"spec": updated}),
			}
			classifySidecar(&f, d, hashed[key], updated)
			e.Fields = append(e.Fields, f)
		}
	}
	blocking := slices.IndexFunc(e.Fields, func(f FieldChange) bool { return f.Effect == EffectRecreate })
	for _, f := range e.Fields {
		e.Restarts = append(e.Restarts, f.Restarts...)
	}
	switch {
	case blocking >= 0:
		e.refuse(e.Fields[blocking].Path + ": " + e.Fields[blocking].Why)
	case len(e.Restarts) > 0:
		e.Mode, e.Why = ModeInPlace, "only images of sidecars change"
	default:
		e.Mode, e.Why = ModeUnchanged, "nothing changes in pods that have the sidecars"
	}
	return e
}

// entries makes a missing list an empty one, so that its first entry is a change of
// that entry.
func entries(v any) any {
	if v == nil {
		return []any{}
	}
	return v
}

// classifySidecar reports what one change does; hashed are those of a list whose content, except
// for images, is part of the hash of a pod.
func classifySidecar(f *FieldChange, d tree.Difference, hashed bool, updated map[string]any) {
	image := len(d.Path) == 4 && d.Path[3] == "image" && d.Old != nil && d.New != nil
	switch {
	case image && d.Path[1] == "containers":
		f.Effect, f.Why = EffectImage, "the image of a sidecar changes in place"
		f.Restarts = []string{containerName(map[string]any{"spec": updated}, d.Path[2])}
	case hashed && !image:
		f.Effect, f.Why = EffectRecreate, "of a sidecar only the image changes in place: such pods have to be recreated"
	default:
		f.Effect, f.Why = EffectNewPods, "only pods created from now on get it"
	}
}

// nativeSidecars reports whether an init container of the set keeps running: then
// all of them count for the hashes (docs/kruise/sidecarset.md#hashes).
func nativeSidecars(spec map[string]any) bool {
	list, _ := spec["initContainers"].([]any)
	return slices.ContainsFunc(list, func(c any) bool {
		container, _ := c.(map[string]any)
		return text(container, "restartPolicy") == "Always"
	})
}

// SidecarSetFields are the fields of a SidecarSet's spec that come into pods and
// make its revisions. Selectors and strategies do not count (docs/kruise/sidecarset.md#hashes).
func SidecarSetFields() []string {
	return []string{"containers", "imagePullSecrets", "initContainers", "patchPodMetadata", "volumes"}
}
