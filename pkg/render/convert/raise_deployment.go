package convert

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// deployment is one Deployment on its way to a CloneSet.
type deployment struct {
	object
	spec appsv1.DeploymentSpec
}

const rollingUpdate = "spec.strategy.rollingUpdate."

func raiseDeployment(o object) (*tree.Node, error) {
	var source appsv1.Deployment
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	d := &deployment{object: o, spec: source.Spec}
	surge, _ := d.declared()
	if d.opt.PodUpdatePolicy == kruise.InPlaceOnlyPodUpdateStrategyType && !d.recreates() && !none(surge) {
		return nil, o.r.Fault("spec.strategy", "set maxSurge to 0, or use InPlaceIfPossible", "pods that are only updated in place cannot surge")
	}
	d.reportFields()
	return d.kruiseObject(kruise.Group, kruise.KindCloneSet, d.cloneSetSpec), nil
}

// cloneSetSpec returns the spec of the CloneSet.
func (d *deployment) cloneSetSpec(spec *tree.Node) *tree.Node {
	strategy := d.updateStrategy(tree.Get(spec, "strategy"))
	out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
		switch name {
		case "strategy":
			return "updateStrategy", strategy
		case "paused":
			return name, nil
		case "template":
			return name, d.template("deployment", "spec.template", v)
		}
		return name, v
	})
	if !tree.Has(out, "updateStrategy") {
		tree.InsertAfter(out, "selector", "updateStrategy", strategy)
	}
	return out
}

// updateStrategy returns the strategy; fields of the source stay as they were written.
func (d *deployment) updateStrategy(source *tree.Node) *tree.Node {
	out, rolling := copied(source), copied(tree.Get(source, "rollingUpdate"))
	setUnlessEqual(out, "type", tree.String(string(kruise.RollingUpdateCloneSetStrategyType)))
	if d.opt.inPlace() {
		tree.Set(rolling, "podUpdatePolicy", tree.String(string(d.opt.PodUpdatePolicy)))
	}
	surge, unavailable := d.budget()
	setUnlessEqual(rolling, "maxSurge", tree.FromValue(surge))
	setUnlessEqual(rolling, "maxUnavailable", tree.FromValue(unavailable))
	if d.spec.Paused {
		tree.Set(rolling, "paused", tree.Get(d.r.Node(), "spec", "paused"))
	}
	tree.Set(out, "rollingUpdate", rolling)
	return out
}

// declared returns maxSurge and maxUnavailable with a Deployment's defaults.
func (d *deployment) declared() (surge, unavailable intstr.IntOrString) {
	surge, unavailable = intstr.FromString("25%"), intstr.FromString("25%")
	if r := d.spec.Strategy.RollingUpdate; r != nil {
		surge = *intstr.ValueOrDefault(r.MaxSurge, surge)
		unavailable = *intstr.ValueOrDefault(r.MaxUnavailable, unavailable)
	}
	return surge, unavailable
}

func (d *deployment) recreates() bool {
	return d.spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// budget returns the values with which a CloneSet moves as many pods at a time
// (docs/kruise/workloads.md#percentages-and-defaults).
func (d *deployment) budget() (surge, unavailable intstr.IntOrString) {
	if d.recreates() {
		d.report("deployment/recreate", "spec.strategy.type", "")
		return intstr.FromInt32(0), intstr.FromString("100%")
	}
	surge, unavailable = d.declared()
	d.report("deployment/strategy", "spec.strategy", "")
	switch {
	case !none(surge) && unavailable == intstr.FromInt32(0):
		d.report("deployment/max-unavailable-zero", rollingUpdate+"maxUnavailable", "")
		return surge, intstr.FromString("0%")
	case !none(surge) || unavailable.Type == intstr.Int && unavailable.IntVal > 0:
		return surge, unavailable
	case d.scaled || d.spec.Replicas != nil && *d.spec.Replicas == 0:
		if none(unavailable) {
			return surge, intstr.FromInt32(1)
		}
		d.report("deployment/max-unavailable-percent", rollingUpdate+"maxUnavailable", "")
		return surge, unavailable
	}
	return surge, d.rounded(surge, unavailable)
}

// rounded returns the percentage where both kinds make the same number of it,
// else a Deployment's number.
func (d *deployment) rounded(surge, unavailable intstr.IntOrString) intstr.IntOrString {
	want := rules.LimitsOfDeployment(&d.spec).MaxUnavailable
	have := rules.LimitsOfCloneSet(&kruise.CloneSetSpec{
		Replicas: d.spec.Replicas,
		UpdateStrategy: kruise.CloneSetUpdateStrategy{
			RollingUpdate: &kruise.RollingUpdateCloneSetStrategy{MaxSurge: &surge, MaxUnavailable: &unavailable},
		},
	}).MaxUnavailable
	if have == want {
		return unavailable
	}
	d.report("deployment/max-unavailable-rounded", rollingUpdate+"maxUnavailable", "")
	return intstr.FromInt(want)
}

// none reports whether v is zero however many replicas there are.
func none(v intstr.IntOrString) bool {
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, 100, true)
	return err != nil || n == 0
}

func (d *deployment) reportFields() {
	d.reportSame("deployment/same", "replicas", "selector", "minReadySeconds", "revisionHistoryLimit")
	if d.spec.Paused {
		d.report("deployment/paused", "spec.paused", "")
	}
	if d.opt.inPlace() {
		d.report("deployment/in-place", "spec.template", "")
	}
	if d.spec.ProgressDeadlineSeconds == nil {
		d.report("deployment/progress-deadline-none", "spec.progressDeadlineSeconds", "")
		return
	}
	d.report("deployment/progress-deadline", "spec.progressDeadlineSeconds", "")
}
