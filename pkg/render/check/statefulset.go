package check

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var _ = add("apps.kruise.io/StatefulSet", statefulSet)

// statefulSetCheck gathers the faults of one Advanced StatefulSet.
type statefulSetCheck struct {
	r      *resource.Resource
	spec   *kruise.StatefulSetSpec
	faults resource.Errors
}

// statefulSet holds the rules of the webhook about the update strategy
// (semantics workloads 3), which also stop the workloads of a UnitedDeployment
// from being made.
func statefulSet(_ *stage.Context, r *resource.Resource) error {
	var set kruise.StatefulSet
	if _, err := kruise.Decode(r.Node(), &set); err != nil {
		return r.Wrap(err, "")
	}
	k := &statefulSetCheck{r: r, spec: &set.Spec}
	if s := k.spec.ScaleStrategy; s != nil {
		k.oneByOne("spec.scaleStrategy.maxUnavailable", s.MaxUnavailable)
	}
	k.strategy()
	return k.faults.Err()
}

func (k *statefulSetCheck) fault(path, hint, format string, args ...any) {
	k.faults.Add(k.r.Fault(path, hint, format, args...))
}

func (k *statefulSetCheck) parallel() bool {
	return k.spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

func (k *statefulSetCheck) strategy() {
	u := k.spec.UpdateStrategy
	r := u.RollingUpdate
	switch u.Type {
	case "", appsv1.RollingUpdateStatefulSetStrategyType:
	case appsv1.OnDeleteStatefulSetStrategyType:
		if r != nil {
			k.fault("spec.updateStrategy.rollingUpdate", "remove it", "OnDelete allows no rollingUpdate")
		}
		return
	default:
		k.fault("spec.updateStrategy.type", "", "%q is not allowed: want RollingUpdate or OnDelete", u.Type)
	}
	if r == nil {
		return
	}
	if r.Partition != nil && *r.Partition < 0 {
		k.fault(rolling+"partition", "", "%d is negative", *r.Partition)
	}
	if m := r.MinReadySeconds; m != nil && (*m < 0 || *m > 300) {
		k.fault(rolling+"minReadySeconds", "", "%d is not between 0 and 300", *m)
	}
	if r.UnorderedUpdate != nil && !k.parallel() {
		k.fault(rolling+"unorderedUpdate", "set podManagementPolicy: Parallel", "only allowed with podManagementPolicy Parallel")
	}
	k.oneByOne(rolling+"maxUnavailable", r.MaxUnavailable)
	k.policy(r.PodUpdatePolicy)
}

// oneByOne: an ordered StatefulSet has one pod down at a time.
func (k *statefulSetCheck) oneByOne(path string, v *intstr.IntOrString) {
	if v != nil && *v != intstr.FromInt32(1) && !k.parallel() {
		k.fault(path, "set podManagementPolicy: Parallel", "%s is only allowed with podManagementPolicy Parallel", v)
	}
}

// policy: updating in place needs the readiness gate, which nobody injects.
func (k *statefulSetCheck) policy(p kruise.PodUpdateStrategyType) {
	switch p {
	case "", kruise.RecreatePodUpdateStrategyType:
	case kruise.InPlaceIfPossiblePodUpdateStrategyType, kruise.InPlaceOnlyPodUpdateStrategyType:
		gated := slices.ContainsFunc(k.spec.Template.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool {
			return g.ConditionType == kruise.InPlaceUpdateReady
		})
		if !gated {
			k.fault("spec.template.spec.readinessGates", "add {conditionType: "+kruise.InPlaceUpdateReady+"}", "podUpdatePolicy %s needs the readiness gate %s", p, kruise.InPlaceUpdateReady)
		}
	default:
		k.fault(rolling+"podUpdatePolicy", "", "%q is not allowed: want ReCreate, InPlaceIfPossible or InPlaceOnly", p)
	}
}
