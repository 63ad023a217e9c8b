package convert

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// statefulSet is one StatefulSet on its way to an Advanced StatefulSet.
type statefulSet struct {
	object
	spec appsv1.StatefulSetSpec
}

// maxReadySeconds is the longest minReadySeconds of an Advanced StatefulSet
// (docs/kruise/workloads.md#percentages-and-defaults).
const maxReadySeconds = 300

func raiseStatefulSet(o object) (*tree.Node, error) {
	var source appsv1.StatefulSet
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	s := &statefulSet{object: o, spec: source.Spec}
	s.reportSame("nativestatefulset/same", "replicas", "selector", "serviceName", "podManagementPolicy",
		"revisionHistoryLimit", "volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy")
	s.reportSame("nativestatefulset/ordinals", "ordinals")
	return s.kruiseObject(kruise.Group, kruise.KindStatefulSet, s.advancedSpec), nil
}

// advancedSpec returns the spec of the Advanced StatefulSet.
func (s *statefulSet) advancedSpec(spec *tree.Node) *tree.Node {
	strategy := s.updateStrategy(tree.Get(spec, "updateStrategy"))
	out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
		switch name {
		case "updateStrategy":
			return name, strategy
		case "minReadySeconds":
			return name, nil
		case "template":
			v = s.template("nativestatefulset", "spec.template", v)
			if s.inPlace() {
				v = s.withReadinessGate("nativestatefulset", v)
			}
			return name, v
		}
		return name, v
	})
	if strategy != nil && !tree.Has(out, "updateStrategy") {
		tree.InsertAfter(out, "selector", "updateStrategy", strategy)
	}
	return out
}

func (s *statefulSet) onDelete() bool {
	return s.spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
}

func (s *statefulSet) inPlace() bool { return s.opt.inPlace() && !s.onDelete() }

// updateStrategy returns the strategy, nil if all values are defaults.
func (s *statefulSet) updateStrategy(source *tree.Node) *tree.Node {
	if s.onDelete() {
		if s.spec.MinReadySeconds > 0 {
			s.report("nativestatefulset/min-ready-seconds-none", "spec.minReadySeconds", "")
		}
		s.report("nativestatefulset/type", "spec.updateStrategy.type", "")
		if s.opt.inPlace() {
			s.report("nativestatefulset/in-place-on-delete", "spec.updateStrategy.type", "")
		}
		return tree.Map("type", string(appsv1.OnDeleteStatefulSetStrategyType))
	}
	out := tree.Map("type", string(appsv1.RollingUpdateStatefulSetStrategyType))
	if source != nil {
		out = tree.Shallow(source)
		s.reportType(out)
	}
	rolling := s.rolling(tree.Get(source, "rollingUpdate"))
	switch {
	case len(rolling.Content) > 0:
		tree.Set(out, "rollingUpdate", rolling)
	case source == nil:
		return nil
	default:
		tree.Delete(out, "rollingUpdate")
	}
	return out
}

// reportType leaves an unknown type out.
func (s *statefulSet) reportType(strategy *tree.Node) {
	switch s.spec.UpdateStrategy.Type {
	case "":
	case appsv1.RollingUpdateStatefulSetStrategyType:
		s.report("nativestatefulset/type", "spec.updateStrategy.type", "")
	default:
		s.report("nativestatefulset/type-other", "spec.updateStrategy.type", "")
		tree.Set(strategy, "type", tree.String(string(appsv1.RollingUpdateStatefulSetStrategyType)))
	}
}

// rolling returns the pace of the update, an empty mapping where it is the
// default.
func (s *statefulSet) rolling(source *tree.Node) *tree.Node {
	out := copied(source)
	if s.opt.inPlace() {
		tree.Set(out, "podUpdatePolicy", tree.String(string(s.opt.PodUpdatePolicy)))
		s.report("nativestatefulset/in-place", "spec.template", "")
	}
	s.maxUnavailable(out)
	s.reportSame("nativestatefulset/partition", "updateStrategy.rollingUpdate.partition")
	s.minReadySeconds(out)
	return out
}

// maxUnavailable goes where Kruise would refuse it.
func (s *statefulSet) maxUnavailable(rolling *tree.Node) {
	r := s.spec.UpdateStrategy.RollingUpdate
	if r == nil || r.MaxUnavailable == nil {
		return
	}
	const field, id = "spec.updateStrategy.rollingUpdate.maxUnavailable", "nativestatefulset/max-unavailable"
	if s.spec.PodManagementPolicy == appsv1.ParallelPodManagement || r.MaxUnavailable.String() == "1" {
		s.report(id, field, "")
		return
	}
	tree.Delete(rolling, "maxUnavailable")
	s.report(id+"-ordered", field, "")
}

// minReadySeconds has its place among the fields of an update in an Advanced
// StatefulSet, and a limit.
func (s *statefulSet) minReadySeconds(rolling *tree.Node) {
	const field, id = "spec.minReadySeconds", "nativestatefulset/min-ready-seconds"
	switch seconds := s.spec.MinReadySeconds; {
	case seconds <= 0:
	case seconds > maxReadySeconds:
		tree.Set(rolling, "minReadySeconds", tree.Int64(maxReadySeconds))
		s.report(id+"-most", field, "")
	default:
		tree.Set(rolling, "minReadySeconds", tree.Get(s.r.Node(), "spec", "minReadySeconds"))
		s.report(id, field, "")
	}
}
