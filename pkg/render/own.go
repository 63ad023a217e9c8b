package render

import "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"

// Own reports whether an object is a document of this program: a RenderConfig, a plan,
// ClusterFacts. No API server has a kind of this group.
func Own(r *resource.Resource) bool { return r.Group() == clusterFactsGroup }

// Manifests parts what is for a cluster from the documents of this program.
func Manifests(in []*resource.Resource) (manifests, own []*resource.Resource) {
	for _, r := range in {
		if Own(r) {
			own = append(own, r)
		} else {
			manifests = append(manifests, r)
		}
	}
	return manifests, own
}
