package kube

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// FanOuts are the objects of a fleet's place that spread something over subsets,
// namespaces or nodes, and what tells how far they are. Kinds that are not served or may
// not be read are missing.
type FanOuts struct {
	United        []*kruise.UnitedDeployment
	Spreads       []*kruise.WorkloadSpread
	Distributions []*kruise.ResourceDistribution
	Pulls         []*kruise.ImagePullJob
	// NodeImages are those of all nodes, Pods all that are looked at.
	NodeImages []*kruise.NodeImage
	Pods       []*cluster.Pod
	// Namespaces are nil where they may not be read.
	Namespaces map[string]labels.Set
}

// fans are the mirrors of what fans out; they begin when somebody asks.
type fans struct {
	begun bool
	// missing is how many kinds have not answered yet.
	missing int

	united        *mirror[*kruise.UnitedDeployment]
	spreads       *mirror[*kruise.WorkloadSpread]
	distributions *mirror[*kruise.ResourceDistribution]
	pulls         *mirror[*kruise.ImagePullJob]
	nodeImages    *mirror[*kruise.NodeImage]
}

// FanOuts returns what fans out. The first question begins the watches; ok is false
// until each kind has answered.
func (f *Fleet) FanOuts() (out FanOuts, ok bool) {
	if f.Loading() != "" {
		return out, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.beginFans(); f.fans.missing > 0 {
		return out, false
	}
	out = FanOuts{
		United: listed(f.fans.united), Spreads: listed(f.fans.spreads), Distributions: listed(f.fans.distributions),
		Pulls: listed(f.fans.pulls), NodeImages: listed(f.fans.nodeImages), Pods: listed(f.pods), Namespaces: f.labelled(),
	}
	return out, true
}

// labelled are the namespaces with their labels.
func (f *Fleet) labelled() map[string]labels.Set {
	if f.namespaces == nil {
		return nil
	}
	out := map[string]labels.Set{}
	for _, n := range listed(f.namespaces) {
		if n.Status.Phase != corev1.NamespaceTerminating {
			out[n.Name] = n.Labels
		}
	}
	return out
}

// beginFans begins to watch, once.
func (f *Fleet) beginFans() {
	if f.fans.begun {
		return
	}
	parts := f.fanParts()
	f.fans.begun, f.fans.missing = true, len(parts)
	for _, p := range parts {
		go func() {
			err := p.begin()
			f.mu.Lock()
			f.fans.missing--
			f.mu.Unlock()
			f.began(p, err)
		}()
	}
}

func (f *Fleet) fanParts() []part {
	return []part{
		fan(f, "uniteddeployments", func(m *mirror[*kruise.UnitedDeployment]) { f.fans.united = m }),
		fan(f, "workloadspreads", func(m *mirror[*kruise.WorkloadSpread]) { f.fans.spreads = m }),
		fan(f, "resourcedistributions", func(m *mirror[*kruise.ResourceDistribution]) { f.fans.distributions = m }),
		fan(f, "imagepulljobs", func(m *mirror[*kruise.ImagePullJob]) { f.fans.pulls = m }),
		fan(f, "nodeimages", func(m *mirror[*kruise.NodeImage]) { f.fans.nodeImages = m }),
	}
}

// fan is one kind that fans out.
func fan[T any](f *Fleet, resource string, there func(*mirror[*T])) part {
	read := func(u *unstructured.Unstructured) (*T, error) { return decoded[T](u) }
	return part{what: resource + "." + kruise.Group, begin: func() error { return versioned(f, kruise.Group, resource, "", read, there) }}
}
