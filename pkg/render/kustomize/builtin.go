package kustomize

import (
	_ "embed"
	"slices"
	"sync"

	"sigs.k8s.io/yaml"
)

// BuiltIn is the configuration of its transformers that kustomize brings along,
// without that of vars.
//
//go:embed fieldspecs.yaml
var BuiltIn []byte

var builtInConfiguration = sync.OnceValues(func() (c configuration, err error) {
	return c, yaml.Unmarshal(BuiltIn, &c)
})

// without takes away what the other configuration says already. It must not be
// said again: where kustomize merges the fields of layers, it takes a field of one
// kind and the same field of every group for one, and keeps the first only, which
// would be that of Kruise's kind.
func (c *configuration) without(known configuration) {
	for _, l := range []struct{ ours, known *[]fieldSpec }{
		{&c.CommonLabels, &known.CommonLabels},
		{&c.TemplateLabels, &known.TemplateLabels},
		{&c.VolumeClaimTemplateLabels, &known.VolumeClaimTemplateLabels},
		{&c.CommonAnnotations, &known.CommonAnnotations},
		{&c.Images, &known.Images},
		{&c.Replicas, &known.Replicas},
	} {
		*l.ours = uncovered(*l.ours, *l.known)
	}
	for i, r := range c.NameReference {
		for _, k := range known.NameReference {
			if k.Kind == r.Kind && k.Group == r.Group && k.Version == "" {
				c.NameReference[i].FieldSpecs = uncovered(c.NameReference[i].FieldSpecs, k.FieldSpecs)
			}
		}
	}
}

func uncovered(ours, known []fieldSpec) []fieldSpec {
	return slices.DeleteFunc(ours, func(f fieldSpec) bool {
		return slices.ContainsFunc(known, func(k fieldSpec) bool { return k.covers(f) })
	})
}

// covers reports whether a field of some kinds is the other one for that kind, too.
func (f fieldSpec) covers(o fieldSpec) bool {
	return f.Path == o.Path && f.Version == "" && (f.Group == "" || f.Group == o.Group) && (f.Kind == "" || f.Kind == o.Kind)
}
