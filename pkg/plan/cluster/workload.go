package cluster

import "strings"

// Ref names an object. Namespace is empty for kinds without one.
type Ref struct {
	// Group is apps.kruise.io, apps, ... without a version.
	Group     string
	Kind      string
	Namespace string
	Name      string
}

// String returns KIND/NAME, as the commands spell it.
func (r Ref) String() string { return strings.ToLower(r.Kind) + "/" + r.Name }

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
	// *appsv1.StatefulSet or *appsv1.DaemonSet. Nobody changes it in place.
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
