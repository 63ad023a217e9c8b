package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// StoredSidecarSet returns the SidecarSet as the webhook stores it: with the two
// hashes of its containers (docs/kruise/sidecarset.md#hashes). Another
// kind comes back as it is.
func StoredSidecarSet(w *cluster.Workload) (*cluster.Workload, error) {
	if _, ok := w.Object.(*kruise.SidecarSet); !ok {
		return w, nil
	}
	full, withoutImage, err := inject.Hashes(sidecarSetSpec(w))
	if err != nil {
		return nil, err
	}
	out := *w
	out.Annotations = joined(w.Annotations, map[string]string{
		kruise.SidecarSetHashAnnotation: full, kruise.SidecarSetHashWithoutImageAnnotation: withoutImage,
	})
	return &out, nil
}

// SidecarSetRules is the set as the rules of a release of Kruise see it, without pods and
// namespaces.
func SidecarSetRules(w *cluster.Workload, o *kruise.SidecarSet, release kruise.Release) *rules.SidecarSet {
	return &rules.SidecarSet{
		Name: w.Name, Spec: &o.Spec, ResourceVersion: o.ResourceVersion, Revision: o.Status.LatestRevision,
		Hash:             w.Annotations[kruise.SidecarSetHashAnnotation],
		HashWithoutImage: w.Annotations[kruise.SidecarSetHashWithoutImageAnnotation],
		RoundsDown:       release.RoundsSidecarSetsDown(),
	}
}

// injectedSets are the names of the sets that a pod got.
func injectedSets(p *cluster.Pod) []string {
	list := p.Annotations[kruise.SidecarSetInjectedListAnnotation]
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// WakesSidecarSet reports whether a change of a pod has the controller of a
// SidecarSet look again; a nil pod is one that is not there. Under NotUpdate
// only pods that come and go do (case 313), else also what changes readiness or
// what the node runs.
func WakesSidecarSet(o *kruise.SidecarSet, before, after *cluster.Pod) bool {
	switch {
	case before == nil || after == nil || before.Deleting != after.Deleting:
		return true
	case o.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType:
		return false
	}
	return standing(before) != standing(after) || !sameRunning(before.Containers, after.Containers)
}

// standing is the readiness of a pod.
func standing(p *cluster.Pod) [2]string {
	ready, _ := p.Condition(string(corev1.PodReady))
	return [2]string{string(p.Phase), string(ready.Status)}
}

func sameRunning(a, b []cluster.Container) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Ready != b[i].Ready || a[i].StatusImage != b[i].StatusImage || a[i].ImageID != b[i].ImageID {
			return false
		}
	}
	return true
}
