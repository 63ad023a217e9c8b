package raise

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// raiseDaemonSet returns the Advanced DaemonSet: its fields have the same names
// and meaning, but for updates in place (docs/kruise/workloads.md#advanced-daemonset).
func raiseDaemonSet(o object) (*tree.Node, error) {
	var source appsv1.DaemonSet
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	strategy := source.Spec.UpdateStrategy
	inPlace := o.opt.inPlace() && strategy.Type != appsv1.OnDeleteDaemonSetStrategyType
	if r := strategy.RollingUpdate; inPlace && r != nil && r.MaxSurge != nil && !none(*r.MaxSurge) {
		return nil, o.r.Fault("spec.updateStrategy.rollingUpdate.maxSurge", "set maxSurge to 0, or keep ReCreate", "pods that are updated in place cannot surge")
	}
	if inPlace && o.opt.PodUpdatePolicy == kruise.InPlaceOnlyPodUpdateStrategyType {
		return nil, o.r.Fault("spec.updateStrategy", "use InPlaceIfPossible", "an Advanced DaemonSet has no InPlaceOnly")
	}
	o.reportSame("nativedaemonset/same", "selector", "template", "minReadySeconds", "revisionHistoryLimit")
	o.reportSame("nativedaemonset/strategy", "updateStrategy")
	return o.become(kruise.Group, kruise.KindDaemonSet, func(spec *tree.Node) *tree.Node {
		if !inPlace {
			return spec
		}
		o.report("nativedaemonset/in-place", "spec.template", "")
		return inPlaceDaemonSet(spec)
	}), nil
}

func inPlaceDaemonSet(spec *tree.Node) *tree.Node {
	strategy := tree.Get(spec, "updateStrategy")
	rolling := with(tree.Get(strategy, "rollingUpdate"), "rollingUpdateType", tree.String(string(kruise.InPlaceIfPossibleRollingUpdateType)))
	strategy = with(strategy, "rollingUpdate", rolling)
	if tree.Has(spec, "updateStrategy") {
		return with(spec, "updateStrategy", strategy)
	}
	out := tree.Shallow(spec)
	tree.InsertAfter(out, "selector", "updateStrategy", strategy)
	return out
}
