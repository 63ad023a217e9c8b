// Package podstate is what a PersistentPodState does
// (docs/kruise/distribution.md#persistentpodstate): which object annotations on a workload make,
// what is recorded of a pod and its node, when that is forgotten, and what a pod gets that is
// created again under the same name. It knows no cluster and no other rule of Kruise.
package podstate

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// generatedWeight is that of the one preferred term that annotations make.
const generatedWeight = 100

// Generated returns the PersistentPodState that the annotations of a workload
// make: one of the workload's name. ok is false where they make none.
func Generated(workload *tree.Node) (state *kruise.PersistentPodState, ok bool) {
	meta := tree.Get(workload, "metadata")
	annotations := tree.Strings(tree.Get(meta, "annotations"))
	required := annotations[kruise.RequiredPersistentTopologyAnnotation]
	preferred := annotations[kruise.PreferredPersistentTopologyAnnotation]
	if annotations[kruise.AutoGeneratePersistentPodStateAnnotation] != "true" || required+preferred == "" {
		return nil, false
	}
	state = &kruise.PersistentPodState{
		TypeMeta:   metav1.TypeMeta{APIVersion: kruise.Group + "/" + kruise.V1beta1, Kind: kruise.KindPersistentPodState},
		ObjectMeta: metav1.ObjectMeta{Name: tree.StrAt(meta, "name"), Namespace: tree.StrAt(meta, "namespace")},
	}
	state.Spec.TargetRef = target(workload)
	if required != "" {
		state.Spec.RequiredPersistentTopology = &kruise.NodeTopologyTerm{Keys: strings.Split(required, ",")}
	}
	if preferred != "" {
		state.Spec.PreferredPersistentTopology = []kruise.PreferredTopologyTerm{{
			Weight: generatedWeight, Preference: kruise.NodeTopologyTerm{Keys: strings.Split(preferred, ",")},
		}}
	}
	if kept := annotations[kruise.PersistentPodAnnotationsAnnotation]; kept != "" {
		for key := range strings.SplitSeq(kept, ",") {
			state.Spec.PersistentPodAnnotations = append(state.Spec.PersistentPodAnnotations, kruise.PersistentPodAnnotation{Key: key})
		}
	}
	return state, true
}

// target names a workload as Kruise's controller does: its own kinds in their
// newest version.
func target(workload *tree.Node) kruise.TargetReference {
	version := tree.StrAt(workload, "apiVersion")
	if strings.HasPrefix(version, kruise.Group+"/") {
		version = kruise.Group + "/" + kruise.V1beta1
	}
	return kruise.TargetReference{APIVersion: version, Kind: tree.StrAt(workload, "kind"), Name: tree.StrAt(workload, "metadata", "name")}
}
