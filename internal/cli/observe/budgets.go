package observe

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/state"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// budgets are those of the workload's namespace; which of them cover its pods is for
// the rules to say.
type budgets struct {
	unavailable []*kruise.PodUnavailableBudget
	disruption  []*policyv1.PodDisruptionBudget
}

func (r *reader) guards(w *cluster.Workload) error {
	if err := r.unavailable(w); err != nil {
		return err
	}
	q := query{what: "PodDisruptionBudgets", resource: gvr("policy", "v1", "poddisruptionbudgets"), namespace: w.Namespace}
	return r.list(q, func(u *unstructured.Unstructured) error {
		b := &policyv1.PodDisruptionBudget{}
		r.res.budgets.disruption = append(r.res.budgets.disruption, b)
		return runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, b)
	})
}

// unavailable reads Kruise's budgets in the newest version that is served.
func (r *reader) unavailable(w *cluster.Workload) error {
	for _, version := range versionsOf(kruise.Group) {
		q := query{what: "PodUnavailableBudgets", resource: gvr(kruise.PolicyGroup, version, "podunavailablebudgets"), namespace: w.Namespace, versioned: true}
		err := r.list(q, func(u *unstructured.Unstructured) error {
			b := &kruise.PodUnavailableBudget{}
			r.res.budgets.unavailable = append(r.res.budgets.unavailable, b)
			_, err := kruise.Decode(tree.FromValue(u.Object), b)
			return err
		})
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// Snapshot is what is known of the workload, at a time.
func (r *Result) Snapshot(gates cluster.Gates, now time.Time) (plan.Snapshot, error) {
	s, err := state.Snapshot(r.State, r.Ref, gates, now)
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
