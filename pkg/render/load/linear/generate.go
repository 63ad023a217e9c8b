package linear

import (
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // kustomize exports its plugins nowhere else
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
)

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
		if err := objects.absorb(r); err != nil {
			return err
		}
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
