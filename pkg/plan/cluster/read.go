package cluster

import (
	"encoding/json"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// readable makes the empty typed object of each kind of workload, by GROUP/KIND.
var readable = map[string]func() metav1.Object{
	kruise.Group + "/CloneSet":    func() metav1.Object { return &kruise.CloneSet{} },
	kruise.Group + "/DaemonSet":   func() metav1.Object { return &kruise.DaemonSet{} },
	kruise.Group + "/SidecarSet":  func() metav1.Object { return &kruise.SidecarSet{} },
	kruise.Group + "/StatefulSet": func() metav1.Object { return &kruise.StatefulSet{} },
	"apps/DaemonSet":              func() metav1.Object { return &appsv1.DaemonSet{} },
	"apps/Deployment":             func() metav1.Object { return &appsv1.Deployment{} },
	"apps/ReplicaSet":             func() metav1.Object { return &appsv1.ReplicaSet{} },
	"apps/StatefulSet":            func() metav1.Object { return &appsv1.StatefulSet{} },
}

// IsWorkload reports whether [ReadWorkload] reads objects of the group and kind.
func IsWorkload(group, kind string) bool { return readable[group+"/"+kind] != nil }

// ReadWorkload reads an object of any of the kinds of [Workload], in any version,
// with its status and with the defaults that a cluster would have stored
// ([kruise.DefaultStored]). Fields that the kind does not have are passed over,
// as a cluster prunes them. Another kind, and text where a number is due, is a
// *tree.Error.
func ReadWorkload(n *tree.Node) (*Workload, error) {
	read, err := readTyped(n)
	if err != nil {
		return nil, err
	}
	w, err := read.Whole()
	if err != nil {
		return nil, tree.Errorf(n, "spec", "", "%v", err)
	}
	return w, nil
}

// ReadBare is [ReadWorkload] without the Template, and with the containers and volumes of
// the Object packed, which take nine tenths of the memory: it is for whoever keeps
// thousands of workloads, and asks few at a time for them ([Workload.Whole]).
func ReadBare(n *tree.Node) (*Workload, error) {
	w, err := readTyped(n)
	if err != nil {
		return nil, err
	}
	if err := w.pack(); err != nil {
		return nil, tree.Errorf(n, "spec", "", "%v", err)
	}
	return w, nil
}

// readTyped is [ReadWorkload] without the Template.
func readTyped(n *tree.Node) (*Workload, error) {
	group, version := splitVersion(tree.StrAt(n, "apiVersion"))
	kind := tree.StrAt(n, "kind")
	empty := readable[group+"/"+kind]
	if empty == nil {
		return nil, tree.Errorf(n, "kind", "kinds: "+kindsText, "%s %s has no rollout", tree.StrAt(n, "apiVersion"), kind)
	}
	obj := empty()
	if _, err := kruise.Decode(n, obj); err != nil {
		return nil, err
	}
	kruise.DefaultStored(obj)
	return &Workload{
		Ref:     Ref{Group: group, Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()},
		Version: version, UID: string(obj.GetUID()), Generation: obj.GetGeneration(),
		Labels: obj.GetLabels(), Annotations: obj.GetAnnotations(), Object: obj,
	}, nil
}

const kindsText = "CloneSet, StatefulSet, DaemonSet, SidecarSet, Deployment, ReplicaSet"

func splitVersion(apiVersion string) (group, version string) {
	i := strings.LastIndexByte(apiVersion, '/')
	return apiVersion[:max(i, 0)], apiVersion[i+1:]
}

// ReadRevision reads a stored template: spec.template of its data or, of a
// SidecarSet, the whole spec, without "$patch" (docs/kruise/workloads.md#kubectl-operations).
func ReadRevision(r *appsv1.ControllerRevision) (Revision, error) {
	var data struct{ Spec map[string]any }
	if err := json.Unmarshal(r.Data.Raw, &data); err != nil || data.Spec == nil {
		return Revision{}, &tree.Error{Path: "data", Msg: "revision " + r.Name + " holds no spec"}
	}
	template := data.Spec
	if inner, ok := data.Spec["template"].(map[string]any); ok {
		template = inner
	}
	delete(template, "$patch")
	return Revision{
		Name: r.Name, Number: r.Revision, Template: template,
		ClaimsHash: r.Annotations[kruise.VolumeClaimTemplateHashAnnotation], Cause: r.Annotations[causeAnnotation],
	}, nil
}
