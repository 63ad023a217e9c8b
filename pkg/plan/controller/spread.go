package controller

import (
	"maps"
	"reflect"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// SpreadView is what the controller of a WorkloadSpread sees.
type SpreadView struct {
	rules.Spread
	// Subsets are spec.subsets as the object has them, in the newest version.
	Subsets []*tree.Node
	// LeaveMetadata: pods that were there before keep their labels and
	// annotations.
	LeaveMetadata bool
	Nodes         map[string]*cluster.Node
	Known         interface {
		// MetadataAndSpec returns those of a pod as far as they are known.
		MetadataAndSpec(*cluster.Pod) *tree.Node
	}
}

// SpreadPass is what one pass does. The status is written first: a controller that creates
// the next pod goes by it.
type SpreadPass struct {
	// Status is nil if it is unchanged.
	Status  *kruise.WorkloadSpreadStatus
	Actions []Action
	// RequeueAfter is when to look again without any change; 0 means not before something
	// changes.
	RequeueAfter time.Duration
}

// ReconcileSpread makes one pass of a WorkloadSpread: it finds subsets for pods
// that have none, deletes those that wait for a node in vain, and keeps deletion
// costs and counts (docs/kruise/distribution.md#workloadspread).
func ReconcileSpread(v *SpreadView) SpreadPass {
	var pass SpreadPass
	v.adopt(&pass)
	_, stuck, again := v.Reschedule()
	pass.RequeueAfter = again
	if status := v.Count(); v.Status == nil || !reflect.DeepEqual(status, v.Status) {
		pass.Status = status
	}
	for _, p := range stuck {
		pass.Actions = append(pass.Actions, DeletePod{Pod: p})
	}
	for _, c := range v.Costs() {
		cost := strconv.Itoa(c.Cost)
		if c.Pod.Annotations[corev1.PodDeletionCost] != cost {
			pass.Actions = append(pass.Actions, PatchPod{Pod: c.Pod, Change: cluster.PodChange{Annotations: map[string]*string{corev1.PodDeletionCost: &cost}}})
		}
	}
	return pass
}

// adopt counts pods in subsets that were there before the WorkloadSpread, or
// found no room. The view goes on with the pods as they are then.
func (v *SpreadView) adopt(pass *SpreadPass) {
	for _, p := range v.Unplaced() {
		node := v.Nodes[p.Node]
		if node == nil {
			continue
		}
		whole := v.Known.MetadataAndSpec(p)
		full := v.Full(v.Version(p))
		out := make([]spread.Candidate, len(full))
		for i := range out {
			patched, err := kruise.PatchTree(tree.Clone(whole), tree.Get(v.Subsets[i], "patch"))
			out[i] = spread.Candidate{WorkloadSpreadSubset: v.Spec.Subsets[i], Patched: err == nil && tree.Equal(patched, whole), Room: !full[i]}
		}
		i := spread.Adopt(out, tolerations(whole), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels}, Spec: corev1.NodeSpec{Taints: node.Taints}})
		if i == spread.None {
			continue
		}
		// What an adopted pod gets: the name of its subset and, of the subset's patch, labels and annotations. The rest of it
		// holds for new pods only.
		change := cluster.PodChange{Annotations: map[string]*string{}}
		if !v.LeaveMetadata {
			metadata := tree.Get(v.Subsets[i], "patch", "metadata")
			change.Labels = wanted(tree.Get(metadata, "labels"))
			maps.Copy(change.Annotations, wanted(tree.Get(metadata, "annotations")))
		}
		match := spread.Match{Spread: v.Name, Subset: v.Spec.Subsets[i].Name}.String()
		change.Annotations[kruise.MatchedWorkloadSpreadAnnotation] = &match

		pass.Actions = append(pass.Actions, PatchPod{Pod: p, Change: change})
		v.replace(p, p.With(change, v.Now))
	}
}

func (v *SpreadView) replace(old, now *cluster.Pod) {
	pods := make([]*cluster.Pod, len(v.Pods))
	for i, p := range v.Pods {
		if pods[i] = p; p == old {
			pods[i] = now
		}
	}
	v.Pods = pods
}

func tolerations(pod *tree.Node) []corev1.Toleration {
	var spec corev1.PodSpec
	if _, err := tree.Decode(tree.Get(pod, "spec"), &spec); err != nil {
		return nil
	}
	return spec.Tolerations
}

// wanted reads labels or annotations of a patch; null removes one.
func wanted(n *tree.Node) map[string]*string {
	out := map[string]*string{}
	tree.Each(n, func(k, value *tree.Node) {
		if tree.IsNull(value) {
			out[k.Value] = nil
			return
		}
		text := tree.Str(value)
		out[k.Value] = &text
	})
	return out
}
