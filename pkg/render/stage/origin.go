package stage

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Annotations in which kustomize keeps what an object was called before: lists
// of the same length (docs/facts/kustomize.md#what-kustomize-makes-of-a-functions-output).
const (
	previousNames      = "internal.config.kubernetes.io/previousNames"
	previousNamespaces = "internal.config.kubernetes.io/previousNamespaces"
)

// FormerIDs are the IDs that kustomize knew an object by before, namespaces
// spelled out: while it runs, references still hold those names.
func FormerIDs(f *resource.Facts, r *resource.Resource) (out []resource.ID) {
	if r.Annotation(previousNames) == "" {
		return nil
	}
	spaces := strings.Split(r.Annotation(previousNamespaces), ",")
	for i, name := range strings.Split(r.Annotation(previousNames), ",") {
		id := f.IDOf(r)
		id.Name = name
		out = append(out, id)
		if i < len(spaces) && spaces[i] != "" {
			id.Namespace = spaces[i]
			out = append(out, id)
		}
	}
	return out
}

// ForgetOrigin removes from an object what kustomize and kpt keep about the one
// object that it is a copy of, but for the annotations to keep: each of these
// values must stand on one object only. Its metadata must be its own.
func ForgetOrigin(n *tree.Node, keep ...string) {
	annotations := tree.Get(n, "metadata", "annotations")
	for key := range tree.Strings(annotations) {
		switch {
		case slices.Contains(keep, key):
		case strings.HasPrefix(key, "internal.config.kubernetes.io/"),
			strings.HasPrefix(key, "kustomize.config.k8s.io/"),
			key == "config.k8s.io/id", key == "config.kubernetes.io/index", key == "config.kubernetes.io/path":
			tree.Delete(annotations, key)
		}
	}
	if tree.IsMap(annotations) && len(annotations.Content) == 0 {
		tree.DeleteAt(n, "metadata", "annotations")
	}
}
