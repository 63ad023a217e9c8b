package conformance

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// makers are the kinds whose pods the recordings of the jobs leave out.
var makers = map[string]bool{kruise.KindCloneSet: true, kruise.KindDeployment: true, kruise.KindReplicaSet: true, kruise.KindStatefulSet: true}

// pullingIn are the nodes that are recorded as asked for images.
func pullingIn(want map[string]any) []string {
	var out []string
	for _, n := range items(want["nodeImages"]) {
		out = append(out, text(n, "node"))
	}
	return out
}

// podsMade are the pods of a workload, running. Where the scheduler put them is not
// recorded: if not by a name in the template, then on the nodes that are asked for
// images, one after the other.
func (r *jobsRun) podsMade(o map[string]any) []map[string]any {
	if !makers[kindOf(o)] {
		return nil
	}
	n, set := field(o, "spec", "replicas").(int64)
	if !set {
		n = 1
	}
	var out []map[string]any
	for i := range n {
		metadata := mapping(copiedValue(with(field(o, "spec", "template", "metadata"), "namespace", namespaceOf(o))))
		metadata["name"] = fmt.Sprintf("%s-%d", nameOf(o), i)
		spec := mapping(field(o, "spec", "template", "spec"))
		if spec["nodeName"] == nil && len(r.pulling) > 0 {
			spec = with(spec, "nodeName", r.pulling[int(i)%len(r.pulling)])
		}
		pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
		out = append(out, r.born(started(pod, nil)))
	}
	return out
}

// born gives a pod the time of its creation, by the time that was waited before.
func (r *jobsRun) born(o map[string]any) map[string]any {
	if kindOf(o) != "Pod" {
		return o
	}
	at := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.waited) * time.Second)
	return with(o, "metadata", with(o["metadata"], "creationTimestamp", at.Format(time.RFC3339)))
}
