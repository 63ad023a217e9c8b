package input

import (
	"fmt"
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Manifests returns the objects that are for a cluster. A line on w names each other one,
// with what of it a user may miss.
func Manifests(w io.Writer, list []*resource.Resource) []*resource.Resource {
	manifests, own := render.SplitToolObjects(list)
	for _, r := range own {
		_, _ = fmt.Fprintf(w, "note: %s: %s is left out: it is for kubectl kruise, not for a cluster%s\n", r.Origin, r.ID(), lostOptions(r))
	}
	return manifests
}

func lostOptions(r *resource.Resource) string {
	spec := tree.Get(r.Node(), "spec")
	switch {
	case !tree.IsMap(spec) || len(spec.Content) == 0:
		return ""
	case r.Kind() == render.ConfigKind:
		return "; its options count for Argo CD, kustomize and kpt, not here"
	case r.Kind() == render.ClusterFactsKind:
		return "; what it tells counts where its file is given with --with"
	}
	return ""
}
