package linear

import (
	"errors"
	"reflect"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
)

// errUnfit is why most kustomizations are left to kustomize.
var errUnfit = errors.New("the kustomization uses fields that only kustomize builds")

// read reads the kustomization in a folder as kustomize does. The lines are kustomize's messages
// about deprecated fields, and file is its real path.
func read(f *folder) (k types.Kustomization, file string, warnings []string, err error) {
	text, file, err := kustomizationFile(f)
	if err != nil {
		return k, "", nil, err
	}
	if err := k.Unmarshal(text); err != nil {
		return k, "", nil, err
	}
	warnings = *k.CheckDeprecatedFields()
	k.FixKustomization()
	if err := k.CheckEmpty(); err != nil {
		return k, "", nil, err
	}
	if len(k.EnforceFields()) > 0 || !fit(k) {
		return k, "", nil, errUnfit
	}
	return k, file, warnings, f.aliases.admitPatches(k)
}

// admitPatches counts the aliases of patches that are written in the kustomization.
func (a *allowance) admitPatches(k types.Kustomization) error {
	var texts []string
	for _, p := range slices.Concat(k.Patches, k.PatchesJson6902) { //nolint:staticcheck // what is deprecated is still built
		texts = append(texts, p.Patch)
	}
	for _, p := range k.PatchesStrategicMerge { //nolint:staticcheck // what is deprecated is still built
		texts = append(texts, string(p))
	}
	for _, text := range texts {
		if err := a.admit([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}

func kustomizationFile(f *folder) (text []byte, file string, err error) {
	found := 0
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if b, err := f.Load(name); err == nil {
			text, file, found = b, f.last, found+1
		}
	}
	if found != 1 {
		return nil, "", errors.New("there must be one kustomization file")
	}
	return text, file, nil
}

// fit reports whether a kustomization holds nothing but what is known here. Fields
// that a later kustomize may have count as unknown.
func fit(k types.Kustomization) bool {
	o := k.SortOptions
	if o != nil && (o.LegacySortOptions != nil || o.Order != types.LegacySortOrder && o.Order != types.FIFOSortOrder) {
		return false
	}
	k.TypeMeta, k.MetaData, k.SortOptions = types.TypeMeta{}, nil, nil
	k.Resources, k.Components = nil, nil
	k.NamePrefix, k.NameSuffix, k.Namespace = "", "", ""
	k.Labels, k.CommonAnnotations, k.Patches = nil, nil, nil
	k.CommonLabels, k.PatchesStrategicMerge, k.PatchesJson6902 = nil, nil, nil //nolint:staticcheck // what is deprecated is still built
	k.Images, k.Replicas, k.Replacements = nil, nil, nil
	k.ConfigMapGenerator, k.SecretGenerator, k.GeneratorOptions = nil, nil, nil
	return reflect.DeepEqual(k, types.Kustomization{})
}
