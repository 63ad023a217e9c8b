package planning

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// asCarried returns the manifest in the form of what is there: where a native
// object stands for a Kruise workload, the manifest is rendered as that was. nil
// stays nil.
func asCarried(manifest, present *resource.Resource) (*resource.Resource, error) {
	if manifest == nil || manifest.Group() != kruise.Group || present.Group() == kruise.Group {
		return manifest, nil
	}
	res, err := render.Render([]*resource.Resource{resource.Parsed(tree.Clone(manifest.Node()), nil, manifest.Origin)}, render.Options{
		Target: render.Native, Driver: driverOf(present), Namespace: present.Namespace(),
	})
	if err != nil {
		return nil, err
	}
	for _, r := range res.Resources {
		if r.Is(present.Group(), present.Kind()) && r.Name() == present.Name() {
			return r, nil
		}
	}
	return nil, manifest.Wrap(&tree.Error{
		Msg: fmt.Sprintf("does not become the %s %s that stands for it in the cluster", present.Kind(), present.Name()), Hint: "render and apply it again first",
	}, "")
}

// driverOf tells for which driver the object in the cluster was rendered.
func driverOf(present *resource.Resource) stage.Driver {
	if present.Kind() == kruise.KindReplicaSet || tree.StrAt(present.Node(), "spec", "updateStrategy", "type") == "OnDelete" {
		return stage.Client
	}
	return stage.Native
}
