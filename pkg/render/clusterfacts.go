package render

import (
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// The identity of the context object that describes the API server, as kubectl kruise inventory
// writes it.
const (
	ClusterFactsKind    = "ClusterFacts"
	clusterFactsGroup   = "kubectl-kruise.dev"
	ClusterFactsVersion = clusterFactsGroup + "/v1alpha1"
)

// ClusterFacts are the facts about a cluster in context objects of that kind. If two have the same
// field, the last one counts.
type ClusterFacts struct {
	// Kubernetes is the minor version of the server, 0 when it is not known.
	Kubernetes int
	// APIVersions are the group/versions that it serves, empty when they are not
	// known.
	APIVersions []string
	// Kruise is the release of Kruise that the cluster runs, the zero value when it is not
	// known.
	Kruise kruise.Release
}

// ReadClusterFacts reads the ClusterFacts among context objects. An error is a
// *resource.Error.
func ReadClusterFacts(context []*resource.Resource) (ClusterFacts, error) {
	var facts ClusterFacts
	var errs resource.Errors
	for _, r := range context {
		if !r.Is(clusterFactsGroup, ClusterFactsKind) {
			continue
		}
		errs.Add(facts.read(r))
	}
	return facts, errs.Err()
}

func (f *ClusterFacts) read(r *resource.Resource) error {
	if v := r.APIVersion(); v != ClusterFactsVersion {
		return r.Fault("apiVersion", "this version reads "+ClusterFactsVersion, "unknown version %q of %s", v, ClusterFactsKind)
	}
	var spec struct {
		KubernetesVersion string   `json:"kubernetesVersion"`
		APIVersions       []string `json:"apiVersions"`
		Kruise            string   `json:"kruise"`
	}
	unknown, err := tree.Decode(tree.Get(r.Node(), "spec"), &spec)
	if err != nil {
		return r.Wrap(err, "spec")
	}
	if len(unknown) > 0 {
		return r.Fault("spec."+unknown[0], "kubernetesVersion, apiVersions and kruise", "unknown field")
	}
	if len(spec.APIVersions) > 0 {
		f.APIVersions = spec.APIVersions
	}
	if spec.Kruise != "" {
		if f.Kruise, err = kruise.ParseRelease(spec.Kruise); err != nil {
			return r.Fault("spec.kruise", "name the release with --kruise-version", "%v", err)
		}
	}
	if spec.KubernetesVersion == "" {
		return nil
	}
	minor, err := stage.ParseKubernetes(spec.KubernetesVersion)
	if err != nil {
		return r.Fault("spec.kubernetesVersion", "name the version to render for with --kubernetes-version", "%v", err)
	}
	f.Kubernetes = minor
	return nil
}

// WithFacts fills unset options from ClusterFacts; Render calls it by itself. A version that was
// given is not looked up, so that it helps with a server that is too old.
func (o Options) WithFacts() (Options, error) {
	facts, err := ReadClusterFacts(o.Context)
	if err != nil && o.Kubernetes == 0 {
		return o, err
	}
	if o.Kubernetes == 0 {
		o.Kubernetes = facts.Kubernetes
	}
	if o.Kruise.IsZero() {
		o.Kruise = facts.Kruise
	}
	if len(o.APIVersions) == 0 {
		o.APIVersions = facts.APIVersions
	}
	if o.Target == Auto && len(o.APIVersions) == 0 {
		return o, errors.New("target auto needs to know what the cluster serves: give apiVersions, or context with " + ClusterFactsKind)
	}
	return o, nil
}

// IsToolObject reports whether an object is a document of this program: a RenderConfig, a plan,
// ClusterFacts. No API server has a kind of this group.
func IsToolObject(r *resource.Resource) bool { return r.Group() == clusterFactsGroup }

// SplitToolObjects parts what is for a cluster from the documents of this program.
func SplitToolObjects(in []*resource.Resource) (manifests, own []*resource.Resource) {
	for _, r := range in {
		if IsToolObject(r) {
			own = append(own, r)
		} else {
			manifests = append(manifests, r)
		}
	}
	return manifests, own
}
