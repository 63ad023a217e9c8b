// Package cluster holds what planning knows of a cluster: pods, revisions,
// nodes and feature gates, in terms of its own. The rules read it, the planner
// and the simulator are built on it, and what talks to a real API server
// translates into it. It knows no client, no file and no clock; nothing here
// decides anything.
package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Ref names an object. Namespace is empty for kinds without one.
type Ref struct {
	// Group is apps.kruise.io, apps, ... without a version.
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns KIND/NAME, as the commands spell it.
func (r Ref) String() string { return strings.ToLower(r.Kind) + "/" + r.Name }

// Compare orders references by namespace, kind and name.
func (r Ref) Compare(other Ref) int {
	return cmp.Or(
		strings.Compare(r.Namespace, other.Namespace), strings.Compare(r.Kind, other.Kind),
		strings.Compare(r.Name, other.Name), strings.Compare(r.Group, other.Group),
	)
}

// Check returns an error for a reference that the API server would not take for a workload.
// References in plans and records are written by others, and become part of commands that people
// copy.
func (r Ref) Check() error {
	switch {
	case !kindName.MatchString(r.Kind):
		return fmt.Errorf("%q is not a kind", r.Kind)
	case r.Group != "" && len(validation.IsDNS1123Subdomain(r.Group)) > 0:
		return fmt.Errorf("%q is not an API group", r.Group)
	case r.Namespace != "" && len(validation.IsDNS1123Label(r.Namespace)) > 0:
		return fmt.Errorf("%q is not a name of a namespace", r.Namespace)
	case len(validation.IsDNS1123Subdomain(r.Name)) > 0:
		return fmt.Errorf("%q is not a name of a workload", r.Name)
	}
	return nil
}

var kindName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// Workload is one object whose pods are rolled out, as its controller reads it.
type Workload struct {
	Ref
	// Version is the API version that it is written in, without the group:
	// patches are spelt in it.
	Version string
	UID     string
	// Generation counts changes of the spec.
	Generation  int64
	Labels      map[string]string
	Annotations map[string]string
	// Object is the typed object in its kind's newest version, with its status:
	// *kruise.CloneSet, *kruise.StatefulSet, *kruise.DaemonSet,
	// *kruise.SidecarSet, *appsv1.Deployment, *appsv1.ReplicaSet,
	// *appsv1.StatefulSet or *appsv1.DaemonSet. It is never changed in place.
	Object any
	// Template is spec.template as decoded JSON; a SidecarSet has its whole
	// spec in v1beta1 here, which is what its revisions are made of.
	Template map[string]any
	// Packed is what a bare workload has instead of the containers and volumes of its
	// Object ([ReadBare]).
	Packed []byte
}

// Owner is the controller of a pod or a claim.
type Owner struct{ Kind, Name, UID string }

// Claim is a PersistentVolumeClaim of a workload's pod.
type Claim struct {
	Namespace string
	Name      string
	Labels    map[string]string
	Owner     Owner
	Deleting  bool
}

// Revision is one stored template of a workload, a ControllerRevision in the
// cluster (docs/kruise/workloads.md#revisions and docs/kruise/workloads.md#kubectl-operations).
type Revision struct {
	// Name is the full name, WORKLOAD-HASH.
	Name string
	// Number rises with every use; the largest is the newest.
	Number int64
	// Template is spec.template as decoded JSON, without "$patch".
	Template map[string]any
	// ClaimsHash is the hash of the volume claim templates; only CloneSets have it.
	ClaimsHash string
	// Cause is why it came, where a user recorded it.
	Cause string
}

// Hash returns what identifies a revision: the text after the last dash.
// CloneSets put the full name on their pods, or only the hash with the gate
// CloneSetShortHash; DaemonSets always the hash (docs/kruise/workloads.md#revisions and
// docs/kruise/workloads.md#advanced-daemonset).
func Hash(revision string) string {
	return revision[strings.LastIndexByte(revision, '-')+1:]
}

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

// pack takes the containers and volumes out of the object, which no caller has seen.
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

// Node is what the rules read of a node.
type Node struct {
	Name   string
	Labels map[string]string
	// Taints keep pods away that do not tolerate them. An unschedulable node has
	// one for that.
	Taints []corev1.Taint
}

// WithKey returns a copy in which one key is set, or removed when v is nil.
func WithKey(m map[string]any, key string, v any) map[string]any {
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	if out[key] = v; v == nil {
		delete(out, key)
	}
	return out
}

// WithLabel returns a copy of a template in which one label is set, or removed when v is nil. It
// shares the rest of the template; one without a label that is removed is the template itself.
func WithLabel(template map[string]any, key string, v any) map[string]any {
	meta, _ := template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	if _, ok := labels[key]; !ok && v == nil {
		return template
	}
	return WithKey(template, "metadata", WithKey(meta, "labels", WithKey(labels, key, v)))
}
