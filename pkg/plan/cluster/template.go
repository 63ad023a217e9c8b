package cluster

import (
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Whole returns the workload with its Template, which is made from its Object where
// there is none yet ([ReadBare]).
func (w *Workload) Whole() (*Workload, error) {
	if _, ok := w.Object.(metav1.Object); w.Template != nil || !ok {
		return w, nil
	}
	out := *w
	if err := out.unpack(); err != nil {
		return nil, err
	}
	var err error
	out.Template, err = templateOf(out.Object.(metav1.Object))
	return &out, err
}

// pack takes the containers and volumes out of the object, which nobody else has seen.
func (w *Workload) pack() (err error) {
	spec := w.podSpec()
	if spec == nil {
		return nil
	}
	w.Packed, err = json.Marshal(corev1.PodSpec{Containers: spec.Containers, InitContainers: spec.InitContainers, Volumes: spec.Volumes})
	spec.Containers, spec.InitContainers, spec.Volumes = nil, nil, nil
	return err
}

// unpack has a copy of the object with what was packed.
func (w *Workload) unpack() error {
	if w.Packed == nil {
		return nil
	}
	own := reflect.New(reflect.TypeOf(w.Object).Elem())
	own.Elem().Set(reflect.ValueOf(w.Object).Elem())
	w.Object = own.Interface()
	var packed corev1.PodSpec
	err := json.Unmarshal(w.Packed, &packed)
	spec := w.podSpec()
	spec.Containers, spec.InitContainers, spec.Volumes = packed.Containers, packed.InitContainers, packed.Volumes
	w.Packed = nil
	return err
}

// LooksAtNodes reports whether a rule asks for nodes: for DaemonSets, and for topology
// spread, which decides who goes first when a CloneSet shrinks.
func (w *Workload) LooksAtNodes() bool {
	spec := w.podSpec()
	_, scheduled := Of(w.Object).Scheduled()
	return scheduled || spec != nil && len(spec.TopologySpreadConstraints) > 0
}

// podSpec is that of the typed object; a SidecarSet has none.
func (w *Workload) podSpec() *corev1.PodSpec {
	if t := Of(w.Object).Template(); t != nil {
		return &t.Spec
	}
	return nil
}

// templateOf returns what the object's revisions are made of, as decoded JSON.
func templateOf(obj metav1.Object) (map[string]any, error) {
	if t := Of(obj).Template(); t != nil {
		return tree.Plain(t)
	}
	v, err := tree.Plain(obj)
	if err != nil {
		return nil, err
	}
	spec, _ := v["spec"].(map[string]any)
	return spec, nil
}
