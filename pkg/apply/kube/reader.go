package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// objectQuery names objects of one resource, in whatever version of it is served.
type objectQuery struct {
	// Description names the objects in errors, such as "stored revisions".
	Description string
	Resource    schema.GroupResource
	// Namespace is empty for all of them, and for resources without.
	Namespace string
	// Selector is a label selector, Name the only object; both may be empty.
	Selector, Name string
	// Needed makes it an error that the objects are not served or may not be read.
	Needed bool
}

// kindPod is the kind of a workload that is one pod, of a Job or an unmanaged one: only its containers can be restarted.
const kindPod = "Pod"

// versionsOf are the versions in which the resources of a group may be served, newest first.
func versionsOf(group string) []string {
	if group == kruise.Group || group == kruise.PolicyGroup {
		return []string{kruise.V1beta1, kruise.V1alpha1}
	}
	return []string{"v1"}
}

// surroundings are the queries for everything besides a workload that decides on its
// rollout; nil where a kind has none.
type surroundings struct {
	// Pods are those that the selector matches; which of them the workload owns, their
	// owners say.
	Pods *objectQuery
	// ReplicaSets own the pods of a Deployment; other kinds have Revisions.
	ReplicaSets, Revisions *objectQuery
	// Nodes are nil where no rule looks at them, Namespaces for all but SidecarSets.
	Nodes, Namespaces *objectQuery
	// Disruptions and Budgets are those of Kubernetes and of Kruise.
	Disruptions, Budgets *objectQuery
}

// surroundingsOf is the one place that says where these are.
func surroundingsOf(w *cluster.Workload) (surroundings, error) {
	selector, err := metav1.LabelSelectorAsSelector(plan.SelectorOf(w))
	if err != nil {
		return surroundings{}, err
	}
	out := surroundings{
		Pods:        &objectQuery{"pods", schema.GroupResource{Resource: "pods"}, w.Namespace, selector.String(), "", true},
		Revisions:   &objectQuery{"stored revisions", schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}, w.Namespace, selector.String(), "", false},
		Disruptions: &objectQuery{"PodDisruptionBudgets", schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}, w.Namespace, "", "", false},
		Budgets:     &objectQuery{"PodUnavailableBudgets", schema.GroupResource{Group: kruise.PolicyGroup, Resource: "podunavailablebudgets"}, w.Namespace, "", "", false},
	}
	switch w.Kind {
	case kruise.KindDeployment:
		out.Revisions, out.ReplicaSets = nil, &objectQuery{"ReplicaSets", schema.GroupResource{Group: "apps", Resource: "replicasets"}, w.Namespace, selector.String(), "", true}
	case kruise.KindReplicaSet:
		out.Revisions = nil
	case kindPod:
		out.Revisions, out.Pods.Selector, out.Pods.Name = nil, "", w.Name
	case kruise.KindSidecarSet:
		out.Revisions.Namespace, out.Revisions.Selector = kruise.DefaultNamespace, kruise.SidecarSetNameLabel+"="+w.Name
		out.Namespaces = &objectQuery{"namespaces", schema.GroupResource{Resource: "namespaces"}, "", "", "", false}
	}
	if w.LooksAtNodes() {
		out.Nodes = &objectQuery{"nodes", schema.GroupResource{Resource: "nodes"}, "", "", "", w.Kind == kruise.KindDaemonSet}
	}
	return out, nil
}
