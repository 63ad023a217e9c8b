package kube

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Distributions are the objects that distribute something over subsets, namespaces or nodes, and
// what their progress is read from. Kinds that are not served or may not be read are
// missing.
type Distributions struct {
	United        []*kruise.UnitedDeployment
	Spreads       []*kruise.WorkloadSpread
	Distributions []*kruise.ResourceDistribution
	Pulls         []*kruise.ImagePullJob
	// NodeImages are those of all nodes, Pods all that are watched.
	NodeImages []*kruise.NodeImage
	Pods       []*cluster.Pod
	// Namespaces are nil where they may not be read.
	Namespaces map[string]labels.Set
}

// distributions are the mirrors of what is distributed; they start with the first request.
type distributions struct {
	started bool
	// missing is how many kinds have not answered yet.
	missing int

	united                *mirror[*kruise.UnitedDeployment]
	spreads               *mirror[*kruise.WorkloadSpread]
	resourceDistributions *mirror[*kruise.ResourceDistribution]
	pulls                 *mirror[*kruise.ImagePullJob]
	nodeImages            *mirror[*kruise.NodeImage]
}

// Distributions returns what is distributed. The first call begins the watches; ok is false
// until each kind has answered.
func (f *NamespaceWatch) Distributions() (out Distributions, ok bool) {
	if f.Loading() != "" {
		return out, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.startDistributions(); f.distributions.missing > 0 {
		return out, false
	}
	out = Distributions{
		United: listOf(f.distributions.united), Spreads: listOf(f.distributions.spreads), Distributions: listOf(f.distributions.resourceDistributions),
		Pulls: listOf(f.distributions.pulls), NodeImages: listOf(f.distributions.nodeImages), Pods: listOf(f.pods), Namespaces: f.namespaceLabels(),
	}
	return out, true
}

// namespaceLabels are the namespaces with their labels.
func (f *NamespaceWatch) namespaceLabels() map[string]labels.Set {
	if f.namespaces == nil {
		return nil
	}
	out := map[string]labels.Set{}
	for _, n := range listOf(f.namespaces) {
		if n.Status.Phase != corev1.NamespaceTerminating {
			out[n.Name] = n.Labels
		}
	}
	return out
}

// startDistributions begins to watch, once. The caller holds the lock.
func (f *NamespaceWatch) startDistributions() {
	if f.distributions.started {
		return
	}
	f.distributions.started = true
	watchDistributions(f, "uniteddeployments", func(m *mirror[*kruise.UnitedDeployment]) { f.distributions.united = m })
	watchDistributions(f, "workloadspreads", func(m *mirror[*kruise.WorkloadSpread]) { f.distributions.spreads = m })
	watchDistributions(f, "resourcedistributions", func(m *mirror[*kruise.ResourceDistribution]) { f.distributions.resourceDistributions = m })
	watchDistributions(f, "imagepulljobs", func(m *mirror[*kruise.ImagePullJob]) { f.distributions.pulls = m })
	watchDistributions(f, "nodeimages", func(m *mirror[*kruise.NodeImage]) { f.distributions.nodeImages = m })
}

// watchDistributions begins to watch one kind. The caller holds the lock.
func watchDistributions[T any](f *NamespaceWatch, resource string, there func(*mirror[*T])) {
	read := func(u *unstructured.Unstructured) (*T, error) { return decodeKruise[T](u) }
	f.distributions.missing++
	go func() {
		err := loadNewestVersion(f, kruise.Group, resource, "", read, there)
		f.mu.Lock()
		f.distributions.missing--
		f.mu.Unlock()
		f.loaded(resource+"."+kruise.Group, false, err)
	}()
}
