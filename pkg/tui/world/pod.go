package world

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// PodName is how a pod of a workload is named: where the workload has no namespace, as
// a SidecarSet, that of the pod and a slash stand before its name.
func PodName(workload cluster.Ref, p *cluster.Pod) string {
	if workload.Namespace != "" {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// Pod returns a pod by its [PodName], nil without it.
func (d *Detail) Pod(name string) *cluster.Pod {
	for _, p := range d.Snapshot.Pods {
		if PodName(d.Ref, p) == name {
			return p
		}
	}
	return nil
}

// PodRef names a pod of a workload as an object.
func PodRef(workload cluster.Ref, name string) cluster.Ref {
	ref := cluster.Ref{Kind: "Pod", Namespace: workload.Namespace, Name: name}
	if workload.Namespace != "" {
		return ref
	}
	if space, rest, ok := strings.Cut(name, "/"); ok {
		ref.Namespace, ref.Name = space, rest
	}
	return ref
}
