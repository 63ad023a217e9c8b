package placement

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// nodes are the labels of the nodes that are known, by name.
type nodes map[string]map[string]string

func readNodes(c *stage.Context) nodes {
	out := nodes{}
	for _, r := range c.Facts.All("", "Node") {
		out[r.Name()] = r.Labels()
	}
	return out
}

// known returns the state of each pod: what an earlier rendering wrote, what
// Kruise recorded, and what pods that are there now would be recorded with.
func (s *state) known() (map[string]kruise.PodState, error) {
	states := s.rendered()
	recorded, err := s.recorded()
	if err != nil {
		return nil, err
	}
	maps.Copy(states, recorded)
	states = Pass(&s.spec, states, s.ordinals(), s.pods())
	return states, s.checkRecorded(states)
}

// recorded is the status in the cluster, else in the input.
func (s *state) recorded() (map[string]kruise.PodState, error) {
	r := s.c.Facts.Find(resource.ID{Group: kruise.Group, Kind: Kind, Namespace: s.namespace, Name: s.name})
	if r == nil {
		return nil, nil
	}
	if live := s.c.Facts.Existing(r); live != nil {
		r = live
	}
	var o kruise.PersistentPodState
	if _, err := kruise.Decode(r.Node(), &o); err != nil {
		return nil, r.Wrap(err, "")
	}
	return o.Status.PodStates, nil
}

// rendered is what the ConfigMap of an earlier rendering holds.
func (s *state) rendered() map[string]kruise.PodState {
	states := map[string]kruise.PodState{}
	id := resource.ID{Kind: "ConfigMap", Namespace: s.namespace, Name: s.configMapName()}
	r := s.c.Facts.Find(id)
	if r == nil || r.Label(kruise.SourceLabel) != kruise.SourceValue(Kind, s.name) {
		return states
	}
	for pod, text := range tree.Strings(tree.Get(r.Node(), "data")) {
		labels := map[string]string{}
		for line := range strings.Lines(text) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				labels[key] = value
			}
		}
		states[pod] = kruise.PodState{NodeTopologyLabels: labels}
	}
	return states
}

// pods are those of the workload that run on a node that is known.
func (s *state) pods() []Pod {
	var out []Pod
	for _, r := range s.c.Facts.All("", "Pod") {
		labels, known := s.nodes[tree.StrAt(r.Node(), "spec", "nodeName")]
		if known && s.c.Facts.NamespaceOf(r) == s.namespace && s.owns(r) {
			out = append(out, ReadPod(r.Node(), labels))
		}
	}
	return out
}

// owns reports whether the workload, as it is or as it was, controls a pod.
func (s *state) owns(pod *resource.Resource) bool {
	for _, o := range tree.Items(tree.Get(pod.Node(), "metadata", "ownerReferences")) {
		if !tree.Bool(tree.Get(o, "controller")) {
			continue
		}
		id := s.id(stage.Target{APIVersion: tree.StrAt(o, "apiVersion"), Kind: tree.StrAt(o, "kind"), Name: tree.StrAt(o, "name")})
		return id == s.id(s.target) || id == s.id(stage.Target(s.spec.TargetRef))
	}
	return false
}

// many is the number of pods from which on ordinals are not counted any more.
const many = 1 << 20

// ordinals are those that the workload has, as far as they are known.
func (s *state) ordinals() Workload {
	first, replicas, reserved, ok := s.size()
	if !ok || replicas > many {
		return Workload{}
	}
	return Workload{Known: true, Ordinals: rules.Ordinals(first, replicas, reserved)}
}

// checkRecorded refuses what no cluster can have recorded: it would become part of
// expressions and of pods.
func (s *state) checkRecorded(states map[string]kruise.PodState) error {
	var faults resource.Errors
	for _, pod := range slices.Sorted(maps.Keys(states)) {
		path := "status.podStates[" + pod + "]"
		if len(validation.IsConfigMapKey(pod)) > 0 {
			faults.Add(s.source.Fault(path, "the controller writes the status", "%q is not a name of a pod", pod))
		}
		labels := states[pod].NodeTopologyLabels
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			if len(validation.IsQualifiedName(key))+len(validation.IsValidLabelValue(labels[key])) > 0 {
				faults.Add(s.source.Fault(path+".nodeTopologyLabels["+key+"]", "the controller writes the status", "%q: %q is not a label of a node", key, labels[key]))
			}
		}
	}
	return faults.Err()
}
