package clusterread

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// around reads what belongs to the workload.
func (r *workloadReader) around(w *cluster.Workload) error {
	compiled, err := metav1.LabelSelectorAsSelector(plan.SelectorOf(w))
	if err != nil {
		return r.res.Object.Fault("spec.selector", "", "%v", err)
	}
	selector := compiled.String()
	owners := map[string]bool{w.UID: true}
	r.res.owners = owners
	steps := []func() error{
		func() error { return r.children(w, selector, owners) },
		func() error { return r.pods(w, selector, owners) },
		func() error { return r.revisions(w, selector) },
		func() error { return r.nodes(w) },
		func() error { return r.guards(w) },
		func() error { return r.namespaces(w) },
		func() error { return r.claims(w, selector) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// children are the ReplicaSets of a Deployment, which own its pods.
func (r *workloadReader) children(w *cluster.Workload, selector string, owners map[string]bool) error {
	if w.Group != "apps" || w.Kind != kruise.KindDeployment {
		return nil
	}
	q := query{what: "ReplicaSets", group: "apps", resource: "replicasets", namespace: w.Namespace, selector: selector, needed: true, unserved: failed}
	return r.list(q, func(u *unstructured.Unstructured) error {
		if owner := metav1.GetControllerOfNoCopy(u); owner != nil && string(owner.UID) == w.UID {
			owners[string(u.GetUID())] = true
			r.keep(u)
		}
		return nil
	})
}

// pods are those that the workload owns; a SidecarSet's are all that its selector
// matches, in every namespace.
func (r *workloadReader) pods(w *cluster.Workload, selector string, owners map[string]bool) error {
	_, sidecars := w.Object.(*kruise.SidecarSet)
	q := query{what: "pods", resource: "pods", namespace: w.Namespace, selector: selector, needed: true, unserved: failed}
	return r.list(q, func(u *unstructured.Unstructured) error {
		owner := metav1.GetControllerOfNoCopy(u)
		if !sidecars && (owner == nil || !owners[string(owner.UID)]) {
			return nil
		}
		var p corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p); err != nil {
			return err
		}
		r.res.State.Pods = append(r.res.State.Pods, cluster.ReadPod(&p))
		return nil
	})
}

// revisions are the stored templates; a Deployment has its ReplicaSets instead.
func (r *workloadReader) revisions(w *cluster.Workload, selector string) error {
	q := query{what: "stored revisions", group: "apps", resource: "controllerrevisions", namespace: w.Namespace, selector: selector}
	switch w.Kind {
	case kruise.KindDeployment, kruise.KindReplicaSet:
		return nil
	case kruise.KindSidecarSet:
		q.namespace, q.selector = kruise.DefaultNamespace, kruise.SidecarSetNameLabel+"="+w.Name
	}
	return r.list(q, func(u *unstructured.Unstructured) error {
		owner := metav1.GetControllerOfNoCopy(u)
		if w.Kind != kruise.KindSidecarSet && (owner == nil || string(owner.UID) != w.UID) {
			return nil
		}
		var c appsv1.ControllerRevision
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &c); err != nil {
			return err
		}
		return addRevision(&r.res.State, &c)
	})
}

// nodes are read only where a rule looks at them.
func (r *workloadReader) nodes(w *cluster.Workload) error {
	if !w.LooksAtNodes() {
		return nil
	}
	q := query{what: "nodes", resource: "nodes"}
	if w.Kind == kruise.KindDaemonSet {
		q.needed, q.unserved = true, failed
	}
	return r.list(q, func(u *unstructured.Unstructured) error {
		r.res.State.Nodes = append(r.res.State.Nodes, &cluster.Node{Name: u.GetName(), Labels: u.GetLabels()})
		return nil
	})
}

// namespaces matter to SidecarSets alone.
func (r *workloadReader) namespaces(w *cluster.Workload) error {
	if w.Kind != kruise.KindSidecarSet {
		return nil
	}
	return r.list(query{what: "namespaces", resource: "namespaces"}, func(u *unstructured.Unstructured) error {
		r.keep(u)
		return nil
	})
}

// claims are those of the pods of a workload that makes any.
func (r *workloadReader) claims(w *cluster.Workload, selector string) error {
	if len(cluster.Of(w.Object).Claims()) == 0 {
		return nil
	}
	q := query{what: "PersistentVolumeClaims", resource: "persistentvolumeclaims", namespace: w.Namespace, selector: selector}
	return r.list(q, func(u *unstructured.Unstructured) error {
		c := &cluster.Claim{Namespace: u.GetNamespace(), Name: u.GetName(), Labels: u.GetLabels(), Deleting: u.GetDeletionTimestamp() != nil}
		if o := metav1.GetControllerOfNoCopy(u); o != nil {
			c.Owner = cluster.Owner{Kind: o.Kind, Name: o.Name, UID: string(o.UID)}
		}
		r.res.State.Claims = append(r.res.State.Claims, c)
		return nil
	})
}

// budgetLists are those of the workload's namespace; which of them cover its pods is for
// the rules to say.
type budgetLists struct {
	unavailable []*kruise.PodUnavailableBudget
	disruption  []*policyv1.PodDisruptionBudget
}

func (r *workloadReader) guards(w *cluster.Workload) error {
	if err := r.unavailable(w); err != nil {
		return err
	}
	q := query{what: "PodDisruptionBudgets", group: "policy", resource: "poddisruptionbudgets", namespace: w.Namespace}
	return r.list(q, func(u *unstructured.Unstructured) error {
		b := &policyv1.PodDisruptionBudget{}
		r.res.budgets.disruption = append(r.res.budgets.disruption, b)
		return runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, b)
	})
}

// unavailable reads Kruise's budgets in the newest version that is served.
func (r *workloadReader) unavailable(w *cluster.Workload) error {
	q := query{what: "PodUnavailableBudgets", group: kruise.PolicyGroup, resource: "podunavailablebudgets", namespace: w.Namespace}
	return r.list(q, func(u *unstructured.Unstructured) error {
		b := &kruise.PodUnavailableBudget{}
		r.res.budgets.unavailable = append(r.res.budgets.unavailable, b)
		_, err := kruise.Decode(tree.FromValue(u.Object), b)
		return err
	})
}

// Snapshot is what is known of the workload, at a time.
func (r *WorkloadState) Snapshot(gates cluster.Gates, now time.Time) (plan.Snapshot, error) {
	s, err := Snapshot(r.State, r.Ref, gates, now)
	if err != nil {
		return s, err
	}
	g := &controller.Guards{
		Now: now, Unavailable: r.budgets.unavailable, Disruption: r.budgets.disruption,
		Pods: s.Pods, Reports: s.Reports, Workloads: controller.OwnedBy(s.Workload, r.owners),
	}
	if s.Budgets, s.Disruptions, err = g.Rules(); err != nil {
		return s, err
	}
	if r.Source != nil {
		s.Workload, s.Carrier = r.Source, s.Workload
	}
	return s, nil
}
