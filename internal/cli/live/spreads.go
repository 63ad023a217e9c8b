package live

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// spreads asks for the present replicas of a WorkloadSpread's target whose number
// the stream leaves to an autoscaler: of the target itself, and of what an earlier
// rendering made of it.
func (a *asker) spreads() {
	for _, ws := range pick(a.stream, kruise.KindWorkloadSpread) {
		ref := tree.Get(ws.Node(), "spec", "targetRef")
		for _, k := range []*kind{deployments, statefulSets, replicaSets, cloneSets, advancedSets} {
			name := tree.StrAt(ref, "name")
			if k.group != resource.GroupOf(tree.StrAt(ref, "apiVersion")) || k.name != tree.StrAt(ref, "kind") || !a.unsized(k, ws, name) {
				continue
			}
			ns := a.namespaceOf(ws)
			a.ask(want{kind: k, what: k.title() + " " + name, namespace: ns, fields: "metadata.name=" + name})
			for _, piece := range []*kind{k, deployments} { // what a CloneSet is lowered to
				a.ask(want{kind: piece, what: piece.title() + " of " + name, namespace: ns, selector: kruise.SpreadLabel + "=" + kruise.SourceValue(kruise.KindWorkloadSpread, ws.Name())})
				if k != cloneSets {
					break
				}
			}
			a.ask(want{kind: autoscalers, what: "HorizontalPodAutoscalers in " + ns, namespace: ns})
		}
	}
}

// unsized reports whether the stream holds a workload and leaves its replicas open.
func (a *asker) unsized(k *kind, beside *resource.Resource, name string) bool {
	for _, r := range a.stream {
		if r.Is(k.group, k.name) && r.Name() == name && a.namespaceOf(r) == a.namespaceOf(beside) {
			return tree.Get(r.Node(), "spec", "replicas") == nil
		}
	}
	return false
}
