package placement

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// What a PersistentPodState does (docs/kruise/distribution.md#persistentpodstate): which object
// annotations on a workload make, what is recorded of a pod and its node, when that is forgotten, and
// what a pod gets that is created again under the same name.

// Pod is what a record is made of.
type Pod struct {
	Name string
	// Node is the name of its node, "" without one; Labels are that node's.
	Node   string
	Labels map[string]string
	// Annotations are the pod's own.
	Annotations map[string]string
	// Active pods have not ended and are not about to.
	Active, Ready bool
}

// ReadPod reads a pod as the API server shows it. labels are those of its node.
func ReadPod(pod *tree.Node, labels map[string]string) Pod {
	phase := tree.StrAt(pod, "status", "phase")
	ready, _ := tree.Find(tree.Get(pod, "status", "conditions"), "type", "Ready")
	return Pod{
		Name: tree.StrAt(pod, "metadata", "name"), Node: tree.StrAt(pod, "spec", "nodeName"), Labels: labels,
		Annotations: tree.Strings(tree.Get(pod, "metadata", "annotations")),
		Active:      phase != "Succeeded" && phase != "Failed" && tree.Get(pod, "metadata", "deletionTimestamp") == nil,
		Ready:       tree.StrAt(ready, "status") == "True",
	}
}

// Workload is what decides which states are kept.
type Workload struct {
	// Gone is a workload that does not exist or is being deleted.
	Gone bool
	// Ordinals, in order, are those of the pods that belong to the workload as it is
	// now, if that is Known.
	Ordinals []int
	Known    bool
}

// Pass returns the states after one look of Kruise's controller at a workload and
// its pods. The states handed in stay as they are.
func Pass(spec *kruise.PersistentPodStateSpec, states map[string]kruise.PodState, w Workload, pods []Pod) map[string]kruise.PodState {
	if w.Gone {
		return nil
	}
	out := maps.Clone(states)
	if out == nil {
		out = map[string]kruise.PodState{}
	}
	active := map[string]bool{}
	for _, p := range pods {
		active[p.Name] = active[p.Name] || p.Active
		if p.Active && p.Ready && p.Node != "" {
			// What is kept of a pod: labels and annotations that are not there are left out.
			var annotations []string
			for _, a := range spec.PersistentPodAnnotations {
				annotations = append(annotations, a.Key)
			}
			out[p.Name] = kruise.PodState{
				NodeName: p.Node, NodeTopologyLabels: present(p.Labels, keys(spec)), Annotations: present(p.Annotations, annotations),
			}
		}
	}
	if spec.PersistentPodStateRetentionPolicy == kruise.PersistentPodStateRetainedWhenDeleted || !w.Known {
		return out
	}
	maps.DeleteFunc(out, func(name string, _ kruise.PodState) bool {
		n, ok := ordinal(name)
		_, wanted := slices.BinarySearch(w.Ordinals, n)
		return ok && !wanted && !active[name]
	})
	return out
}

// keys are the node labels that a spec speaks of.
func keys(spec *kruise.PersistentPodStateSpec) []string {
	var out []string
	if spec.RequiredPersistentTopology != nil {
		out = append(out, spec.RequiredPersistentTopology.Keys...)
	}
	for _, t := range spec.PreferredPersistentTopology {
		out = append(out, t.Preference.Keys...)
	}
	return out
}

// present returns the entries of all under these keys, nil for none.
func present(all map[string]string, keys []string) map[string]string {
	var out map[string]string
	for _, k := range keys {
		if v, ok := all[k]; ok {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = v
		}
	}
	return out
}

// ordinal is the number that a pod's name ends in.
func ordinal(name string) (n int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return 0, false
	}
	n, err := strconv.Atoi(name[i+1:])
	return n, err == nil && n >= 0
}

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
