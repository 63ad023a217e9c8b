package linear

import (
	"errors"

	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // kustomize exports its plugins nowhere else
	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	ours "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// builder is what all layers of a build share.
type builder struct {
	fields    *fields
	validator ifc.Validator
	factory   *resmap.Factory
	warnings  []string
	room      *room
	// sources are those of the objects that were read or generated.
	sources map[*resource.Resource]Source
}

// layer is one kustomization.
type layer struct {
	*builder
	folder        *folder
	kustomization types.Kustomization
	// file is the real path of the kustomization.
	file string
}

func (b *builder) layer(f *folder) (*layer, error) {
	k, file, warnings, err := read(f)
	b.warnings = append(b.warnings, warnings...)
	return &layer{builder: b, folder: f, kustomization: k, file: file}, err
}

// build adds what the layer makes to objects, which are empty except for a
// component: that works on what the kustomization has which names it.
func (l *layer) build(objects *set, progress ours.Progress) error {
	for i, path := range l.kustomization.Resources {
		if err := l.resource(path, objects, progress.Within(l.part(i), l.part(i+1))); err != nil {
			return err
		}
		progress.Of(i+1, len(l.kustomization.Resources))
	}
	if err := l.generate(objects); err != nil {
		return err
	}
	for _, path := range l.kustomization.Components {
		if err := l.component(path, objects); err != nil {
			return err
		}
	}
	return l.transform(objects)
}

// part is which part of the resources is done before one of them.
func (l *layer) part(i int) float64 { return float64(i) / float64(len(l.kustomization.Resources)) }

// resource adds what a file or another kustomization holds. Whatever cannot be
// read as a file is taken for a directory, as in kustomize.
func (l *layer) resource(path string, objects *set, progress ours.Progress) error {
	text, err := l.folder.Load(path)
	if err != nil {
		return l.base(path, objects, progress)
	}
	list, err := l.factory.RF().SliceFromBytes(text)
	if err != nil {
		return err
	}
	for _, r := range list {
		l.sources[r] = Source{File: l.folder.last}
	}
	return objects.appendAll(list)
}

func (l *layer) base(path string, objects *set, progress ours.Progress) error {
	below, err := l.named(path, false)
	if err != nil {
		return err
	}
	theirs := newSet()
	if err := below.build(theirs, progress); err != nil {
		return err
	}
	return objects.appendAll(theirs.Resources())
}

func (l *layer) component(path string, objects *set) error {
	below, err := l.named(path, true)
	if err != nil {
		return err
	}
	if err := below.build(objects, nil); err != nil {
		return err
	}
	return objects.unique()
}

func (l *layer) named(path string, component bool) (*layer, error) {
	f, err := l.folder.below(path)
	if err != nil {
		return nil, err
	}
	below, err := l.layer(f)
	if err == nil && (below.kustomization.Kind == types.ComponentKind) != component {
		err = errors.New("a component is used as a kustomization, or a kustomization as a component")
	}
	return below, err
}

// configure gives one of kustomize's plugins its configuration, in the form in
// which it takes it from a kustomization, and returns that.
func (l *layer) configure(p resmap.Configurable, config any) (text []byte, err error) {
	if text, err = yaml.Marshal(config); err != nil {
		return nil, err
	}
	l.folder.aliases.last = nil
	return text, p.Config(resmap.NewPluginHelpers(l.folder, l.validator, l.factory, types.DisabledPluginConfig()), text)
}

// generate runs the generators of the layer.
func (l *layer) generate(objects *set) error {
	for _, args := range l.kustomization.ConfigMapGenerator {
		args.Options = types.MergeGlobalOptionsIntoLocal(args.Options, l.kustomization.GeneratorOptions)
		if err := l.generated(builtins.NewConfigMapGeneratorPlugin(), struct{ types.ConfigMapArgs }{args}, objects); err != nil {
			return err
		}
	}
	for _, args := range l.kustomization.SecretGenerator {
		args.Options = types.MergeGlobalOptionsIntoLocal(args.Options, l.kustomization.GeneratorOptions)
		if err := l.generated(builtins.NewSecretGeneratorPlugin(), struct{ types.SecretArgs }{args}, objects); err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) generated(p resmap.GeneratorPlugin, config any, objects *set) error {
	if _, err := l.configure(p, config); err != nil {
		return err
	}
	made, err := p.Generate()
	if err != nil {
		return err
	}
	for _, r := range made.Resources() {
		merged, err := objects.absorb(r)
		if err != nil {
			return err
		}
		source := Source{File: l.file, Generator: r.GetKind() + "Generator"}
		if merged != nil {
			source = l.sources[merged]
		}
		l.sources[r] = source
	}
	return nil
}

// hash adds hashes to the names of what was generated.
func (l *layer) hash(objects *set) error {
	p := builtins.HashTransformerPlugin{}
	if _, err := l.configure(&p, nil); err != nil {
		return err
	}
	return p.Transform(objects)
}
