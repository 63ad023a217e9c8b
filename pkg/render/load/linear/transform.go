package linear

import (
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // kustomize exports its plugins nowhere else
	"sigs.k8s.io/kustomize/api/filters/namespace"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
)

// transform runs the transformers of the layer, in kustomize's order.
func (l *layer) transform(objects *set) error {
	for _, step := range []func(*set) error{l.patch, l.rename, l.label, l.patchJSON, l.replicas, l.images, l.replace} {
		if err := step(objects); err != nil {
			return err
		}
	}
	return nil
}

// run runs one transformer. Objects that it emptied are gone.
func run(t resmap.Transformer, objects *set) error {
	if err := t.Transform(objects); err != nil {
		return err
	}
	objects.DropEmpties()
	return nil
}

func (l *layer) patch(objects *set) error {
	if paths := l.kustomization.PatchesStrategicMerge; len(paths) > 0 { //nolint:staticcheck // what is deprecated is still built
		config := struct {
			Paths []types.PatchStrategicMerge `json:"paths,omitempty"`
		}{paths}
		if err := l.configured(builtins.NewPatchStrategicMergeTransformerPlugin(), config, objects, 1); err != nil {
			return err
		}
	}
	for _, p := range l.kustomization.Patches {
		n := 1
		if p.Target != nil {
			n = len(objects.entries)
		}
		if err := l.configured(builtins.NewPatchTransformerPlugin(), p, objects, n); err != nil {
			return err
		}
	}
	return nil
}

// configured runs a transformer that patches n objects, at the most.
func (l *layer) configured(p resmap.TransformerPlugin, config any, objects *set, n int) error {
	text, err := l.configure(p, config)
	if err != nil {
		return err
	}
	if err := l.admitPatch(text, n); err != nil {
		return err
	}
	return run(p, objects)
}

// rename sets the namespace, the prefix and the suffix.
func (l *layer) rename(objects *set) error {
	k := l.kustomization
	if err := l.admitNames(objects); err != nil {
		return err
	}
	if k.Namespace != "" {
		p := &builtins.NamespaceTransformerPlugin{FieldSpecs: l.fields.Namespace, SetRoleBindingSubjects: namespace.DefaultSubjectsOnly}
		p.Namespace = k.Namespace
		if err := p.Transform(later{objects}); err != nil {
			return err
		}
		if err := objects.unique(); err != nil {
			return err
		}
	}
	if k.NamePrefix != "" {
		if err := run(&builtins.PrefixTransformerPlugin{Prefix: k.NamePrefix, FieldSpecs: l.fields.NamePrefix}, objects); err != nil {
			return err
		}
	}
	if k.NameSuffix != "" {
		return run(&builtins.SuffixTransformerPlugin{Suffix: k.NameSuffix, FieldSpecs: l.fields.NameSuffix}, objects)
	}
	return nil
}

// later answers the question which follows the change of each namespace, whether
// another object has that identity now, with "none". It is asked once, when
// all are changed: all end in the same namespace, so two that collide on the
// way collide at the end.
type later struct{ *set }

// GetMatchingResourcesByCurrentId returns one object, as if it were the one
// that is asked for.
func (later) GetMatchingResourcesByCurrentId(resmap.IdMatcher) []*resource.Resource {
	return make([]*resource.Resource, 1)
}

// label sets labels and annotations.
func (l *layer) label(objects *set) error {
	if err := l.admitPairs(objects); err != nil {
		return err
	}
	for _, label := range l.kustomization.Labels {
		where, err := l.fields.labels(label)
		if err != nil {
			return err
		}
		if err := run(&builtins.LabelTransformerPlugin{Labels: label.Pairs, FieldSpecs: where}, objects); err != nil {
			return err
		}
	}
	common := l.kustomization.CommonLabels //nolint:staticcheck // what is deprecated is still built
	if err := run(&builtins.LabelTransformerPlugin{Labels: common, FieldSpecs: l.fields.CommonLabels}, objects); err != nil {
		return err
	}
	return run(&builtins.AnnotationsTransformerPlugin{Annotations: l.kustomization.CommonAnnotations, FieldSpecs: l.fields.CommonAnnotations}, objects)
}

// labels returns where the pairs of one entry of "labels:" belong.
func (f *fields) labels(l types.Label) (where types.FsSlice, err error) {
	where = l.FieldSpecs
	if l.IncludeSelectors {
		return where.MergeAll(f.CommonLabels)
	}
	if l.IncludeTemplates {
		if where, err = where.MergeAll(f.TemplateLabels); err != nil {
			return nil, err
		}
	}
	if l.IncludeVolumeClaimTemplates {
		if where, err = where.MergeAll(f.VolumeClaimTemplateLabels); err != nil {
			return nil, err
		}
	}
	return where.MergeOne(types.FieldSpec{Path: "metadata/labels", CreateIfNotPresent: true})
}

func (l *layer) patchJSON(objects *set) error {
	for _, p := range l.kustomization.PatchesJson6902 { //nolint:staticcheck // what is deprecated is still built
		config := struct {
			Target *types.Selector `json:"target,omitempty"`
			Path   string          `json:"path,omitempty"`
			JSONOp string          `json:"jsonOp,omitempty"`
		}{p.Target, p.Path, p.Patch}
		if err := l.configured(builtins.NewPatchJson6902TransformerPlugin(), config, objects, len(objects.entries)); err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) replicas(objects *set) error {
	for _, r := range l.kustomization.Replicas {
		if err := run(&builtins.ReplicaCountTransformerPlugin{Replica: r, FieldSpecs: l.fields.Replicas}, objects); err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) images(objects *set) error {
	for _, image := range l.kustomization.Images {
		if err := run(&builtins.ImageTagTransformerPlugin{ImageTag: image, FieldSpecs: l.fields.Images}, objects); err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) replace(objects *set) error {
	if len(l.kustomization.Replacements) == 0 {
		return nil
	}
	p := builtins.NewReplacementTransformerPlugin()
	if _, err := l.configure(p, struct{ Replacements []types.ReplacementField }{l.kustomization.Replacements}); err != nil {
		return err
	}
	return l.replaceStepwise(p, objects)
}
