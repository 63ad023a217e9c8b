package fn

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Annotations of orchestrators (docs/facts/kustomize.md#annotations).
const (
	localConfig  = "config.kubernetes.io/local-config"
	prefix       = "internal.config.kubernetes.io/"
	legacyPath   = "config.kubernetes.io/path"
	legacyIndex  = "config.kubernetes.io/index"
	origin       = "config.kubernetes.io/origin"
	path         = prefix + "path"
	index        = prefix + "index"
	seqIndent    = prefix + "seqindent"
	packagePath  = prefix + "package-path"
	prefixes     = prefix + "prefixes"
	suffixes     = prefix + "suffixes"
	prevNames    = prefix + "previousNames"
	prevSpaces   = prefix + "previousNamespaces"
	prevKinds    = prefix + "previousKinds"
	transformers = "alpha.config.kubernetes.io/transformations"
)

// internal reports whether an annotation belongs to the orchestrator.
func internal(key string) bool {
	switch key {
	case legacyPath, legacyIndex, "config.k8s.io/id", origin, transformers:
		return true
	}
	return strings.HasPrefix(key, prefix) || strings.HasPrefix(key, "kustomize.config.k8s.io/")
}

// local reports whether an object is for tools only and never applied: any
// value but false says so.
func local(n *tree.Node) bool {
	v := tree.Get(n, "metadata", "annotations", localConfig)
	return v != nil && tree.Str(v) != "false"
}

// heir says what a new object has in common with the one it stands for.
type heir struct {
	// same: it is the old object, made anew; it takes all that the old one had.
	same bool
	// first: it is the first of the new objects, and takes the place in a file.
	first bool
	// named: its name is that of the old object, with rest behind it.
	named bool
	rest  string
	// kind and was are the new object's kind and the old one's.
	kind, was string
}

// inherit returns what the new object's annotation key must say, given the old
// one's; ok is false where it must not be there. Kustomize finds an object by
// what it was called before, under its present group and its former kinds: a
// new object takes the old one's history as if it had always been of its kind.
func (h heir) inherit(key, value string) (v string, ok bool) {
	if h.same {
		return value, true
	}
	switch key {
	case path, legacyPath, packagePath, seqIndent, origin, transformers, prefixes, suffixes:
		return value, true
	case index, legacyIndex:
		return value, h.first
	case prevSpaces:
		return value, h.named
	case prevNames:
		return each(value, func(name string) string { return name + h.rest }), h.named
	case prevKinds:
		return each(value, func(kind string) string {
			if kind == h.was {
				return h.kind
			}
			return kind
		}), h.named
	}
	return "", false
}

func each(list string, f func(string) string) string {
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = f(parts[i])
	}
	return strings.Join(parts, ",")
}

// pass gives r, which stands for an object with the annotations old, the
// annotations of orchestrators that it must have, and no others.
func (h heir) pass(old *tree.Node, r *resource.Resource) {
	if tree.Get(r.Node(), "metadata") == nil {
		return
	}
	kept := tree.Map()
	tree.Each(tree.Get(r.Node(), "metadata", "annotations"), func(k, v *tree.Node) {
		if !internal(k.Value) {
			kept.Content = append(kept.Content, k, v)
		}
	})
	tree.Each(old, func(k, v *tree.Node) {
		if !internal(k.Value) {
			return
		}
		if value, ok := h.inherit(k.Value, tree.Str(v)); ok {
			kept.Content = append(kept.Content, k, tree.String(value))
		}
	})
	// Metadata may be shared with other new objects.
	metadata := tree.Shallow(tree.Get(r.Node(), "metadata"))
	if len(kept.Content) > 0 {
		tree.Set(metadata, "annotations", kept)
	} else {
		tree.Delete(metadata, "annotations")
	}
	tree.Set(r.Edit(), "metadata", metadata)
}
