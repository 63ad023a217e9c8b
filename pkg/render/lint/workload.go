package lint

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const rolling = "spec.updateStrategy.rollingUpdate."

var workloads = []string{cloneSet, statefulSet, daemonSet}

// Rules about how a workload is updated.
var workloadAdvice = []advice{
	{id: "workload/partition-updates-nothing", kinds: workloads, check: partitionUpdatesNothing},
	{id: "workload/max-unavailable-zero", kinds: []string{cloneSet}, check: maxUnavailableZero},
	{id: "workload/fractional-percentage", kinds: []string{cloneSet}, check: fractionalPercentage},
	{id: "workload/not-in-place", kinds: workloads, check: notInPlace},
	{id: "workload/in-place-with-surge", kinds: []string{cloneSet}, check: inPlaceWithSurge},
	{id: "statefulset/claim-templates", kinds: []string{statefulSet, nativeStatefulSet}, check: claimTemplates},
	{id: "workload/restart-in-place", kinds: workloads, check: restartInPlace},
	{id: "workload/paused", kinds: workloads, check: paused},
	{id: "statefulset/lost-by-v1alpha1", kinds: []string{statefulSet}, check: lostByOlderVersion},
	{id: "statefulset/v1alpha1", kinds: []string{statefulSet}, check: throughOlderVersion},
}

func partitionUpdatesNothing(s *subject) {
	const hint = "lower the partition to update pods"
	const say = "keeps all pods (%s) at the old revision"
	switch o := s.workload.Object.(type) {
	case *kruise.CloneSet:
		if l := rules.LimitsOfCloneSet(&o.Spec); l.Replicas > 0 && l.Partition >= l.Replicas {
			s.report(rolling+"partition", hint, say, strconv.Itoa(l.Replicas))
		}
	case *kruise.StatefulSet:
		if l := rules.LimitsOfStatefulSet(&o.Spec); l.Replicas > 0 && l.Partition >= l.Replicas {
			s.report(rolling+"partition", hint, say, strconv.Itoa(l.Replicas))
		}
	case *kruise.DaemonSet:
		if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil && r.Partition.StrVal == "100%" {
			s.report(rolling+"partition", hint, "keeps all pods at the old revision")
		}
	}
}

func maxUnavailableZero(s *subject) {
	o, _ := s.workload.Object.(*kruise.CloneSet)
	l := rules.LimitsOfCloneSet(&o.Spec)
	if v := o.Spec.ScaleStrategy.MaxUnavailable; v != nil && podsOf(v, many) == 0 {
		s.report("spec.scaleStrategy.maxUnavailable", "allow at least 1, or leave it out", "resolves to 0: no pod can be added")
	}
	if r := o.Spec.UpdateStrategy.RollingUpdate; r == nil || l.Replicas == 0 || l.MaxUnavailable > 0 || l.MaxSurge > 0 || textOf(r.MaxUnavailable) == "0" {
		return
	}
	s.report(rolling+"maxUnavailable", "use a number, or a larger percentage", "resolves to 0 of the pods (%d): the update will make no progress", l.Replicas)
}

func textOf(v *intstr.IntOrString) string {
	if v == nil {
		return ""
	}
	return v.String()
}

func fractionalPercentage(s *subject) {
	o, _ := s.workload.Object.(*kruise.CloneSet)
	r := o.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return
	}
	s.wholePercentage("maxSurge", r.MaxSurge)
	s.wholePercentage("maxUnavailable", r.MaxUnavailable)
}

func (s *subject) wholePercentage(field string, v *intstr.IntOrString) {
	if text := textOf(v); strings.HasSuffix(text, "%") && strings.Contains(text, ".") {
		s.report(rolling+field, "use a whole percentage, or a number", "%s counts as 0: only whole percentages are understood here", text)
	}
}

func notInPlace(s *subject) {
	if s.was == nil || rules.PolicyOf(s.workload.Object) == rules.PolicyRecreate {
		return
	}
	e := rules.Change(s.was, s.workload, rules.PolicyOf(s.workload.Object), cluster.GatesOf(s.c.Kruise))
	for _, f := range e.Fields {
		if f.Effect != rules.EffectRecreate {
			continue
		}
		switch e.Mode {
		case rules.ModeRecreate:
			s.report("spec.template."+f.Path, "change it apart from images, when pods may be recreated", "the policy is %s, but this change recreates every pod", e.Policy)
		case rules.ModeNotAllowed:
			s.report("spec.template."+f.Path, "undo it, or set InPlaceIfPossible", "the policy is %s: no pod will be updated, without an error", e.Policy)
		}
	}
}

func inPlaceWithSurge(s *subject) {
	o, _ := s.workload.Object.(*kruise.CloneSet)
	policy := rules.PolicyOf(o)
	if policy == rules.PolicyRecreate || rules.LimitsOfCloneSet(&o.Spec).MaxSurge == 0 {
		return
	}
	s.report(rolling+"maxSurge", "leave maxSurge out where pods should stay, or use ReCreate", "the policy is %s, but as many pods as surge pods are created are deleted, with their claims", policy)
}

func claimTemplates(s *subject) {
	if s.was == nil {
		return
	}
	if err := rules.CheckClaims(s.was, s.workload); err != nil {
		s.report(err.Path, err.Hint, "%s", err.Msg)
	}
}

// restartAnnotations are what kubectl and the older plugin write to restart pods.
var restartAnnotations = []string{kruise.RestartedAtAnnotation, "kubectl.kubernetes.io/restartedAt"}

func restartInPlace(s *subject) {
	if s.was == nil || rules.PolicyOf(s.workload.Object) == rules.PolicyRecreate {
		return
	}
	for _, f := range rules.Change(s.was, s.workload, rules.PolicyOf(s.workload.Object), cluster.GatesOf(s.c.Kruise)).Fields {
		for _, a := range restartAnnotations {
			if f.Effect == rules.EffectMetadata && strings.Contains(f.Path, a) {
				s.report("spec.template.metadata.annotations["+a+"]", "restart with a ContainerRecreateRequest, or mark the pods for deletion", "has no effect with %s", rules.PolicyOf(s.workload.Object))
			}
		}
	}
}

func paused(s *subject) {
	if tree.Bool(tree.Get(s.hub(), tree.Steps(rolling+"paused")...)) {
		s.report(rolling+"paused", "", "updates wait until they are resumed")
	}
}

// stored returns the existing object, nil if it is not known.
func (s *subject) stored() *resource.Resource {
	if s.old != nil {
		return s.old
	}
	return s.c.Facts.Existing(s.r)
}

func throughOlderVersion(s *subject) {
	if s.r.Version() == kruise.V1alpha1 && s.stored() == nil {
		s.report("apiVersion", "write it as "+kruise.Group+"/"+kruise.V1beta1, "an update through v1alpha1 removes fields that only v1beta1 has")
	}
}

func lostByOlderVersion(s *subject) {
	stored := s.stored()
	if stored == nil || s.r.Version() != kruise.V1alpha1 || stored.Version() == kruise.V1alpha1 {
		return
	}
	_, lost, err := kruise.FromHub(stored.Node(), kruise.V1alpha1)
	if err != nil {
		return
	}
	for _, l := range lost {
		s.report("apiVersion", "write it as "+kruise.Group+"/"+kruise.V1beta1, "removes %s, which the stored object has and v1alpha1 does not", l.Path)
	}
}
