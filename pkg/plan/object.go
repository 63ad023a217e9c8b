package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// hub is the newest version of Kruise's workloads, which their types are in.
const hub = "v1beta1"

// versionOf is the version in which an object is patched. An Advanced StatefulSet
// loses fields in v1alpha1, so it never is (docs/kruise/workloads.md#cloneset-in-two-versions).
func versionOf(w *cluster.Workload) string {
	if w.Group == kruise.Group && w.Kind == kruise.KindStatefulSet {
		return hub
	}
	return w.Version
}

// targetOf names an object as its patches are written.
func targetOf(w *cluster.Workload) Target {
	return Target{APIVersion: w.Group + "/" + versionOf(w), Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}
}

// specOf returns the object's spec as decoded JSON, in a version.
func specOf(w *cluster.Workload, version string) (map[string]any, error) {
	v, err := tree.Plain(w.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w, err)
	}
	if w.Group == kruise.Group && version != hub {
		delete(v, "status")
		v["apiVersion"], v["kind"] = w.Group+"/"+hub, w.Kind
		n, _, err := kruise.FromHub(tree.FromValue(v), version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		v, _ = tree.Value(n).(map[string]any)
	}
	spec, _ := v["spec"].(map[string]any)
	return spec, nil
}

// metaOf returns what all objects have.
func metaOf(w *cluster.Workload) metav1.Object {
	m, ok := w.Object.(metav1.Object)
	if !ok {
		return &metav1.ObjectMeta{}
	}
	return m
}

// replicasOf returns spec.replicas; ok is false for kinds that have none.
func replicasOf(obj any) (n int, ok bool) { return cluster.Of(obj).Replicas() }

// SelectorOf returns spec.selector of a workload, nil for none.
func SelectorOf(w *cluster.Workload) *metav1.LabelSelector { return selectorOf(w.Object) }

// selectorOf returns spec.selector, which is immutable but for SidecarSets.
func selectorOf(obj any) *metav1.LabelSelector { return cluster.Of(obj).Selector() }
