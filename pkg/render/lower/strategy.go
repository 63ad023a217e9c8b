package lower

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// noDeadline is what Kubernetes takes for "no progress deadline".
const noDeadline = math.MaxInt32

const rollingUpdate = "spec.updateStrategy.rollingUpdate."

// strategy returns the update strategy of the native object with its key, nil
// where the form has none, and reports what it keeps of the source's.
func (l *lowering) strategy() (key string, strategy *tree.Node) {
	onDelete := l.spec.UpdateStrategy.Type == kruise.OnDeleteCloneSetStrategyType
	if !onDelete {
		l.reportRolling()
	}
	l.reportType(onDelete)
	switch {
	case l.form.replicaSet():
		return "", nil
	case l.form.deployment():
		return "strategy", l.deploymentStrategy(onDelete)
	case l.form.client || onDelete || l.paused():
		return "updateStrategy", tree.Map("type", "OnDelete")
	default:
		return "updateStrategy", l.statefulSetStrategy()
	}
}

// deploymentStrategy writes both numbers out, because the defaults differ.
func (l *lowering) deploymentStrategy(onDelete bool) *tree.Node {
	surge, unavailable := l.budget()
	r := deploymentRolling(surge, unavailable, l.replicas)
	if !onDelete {
		l.reportUnavailable(r, unavailable)
	}
	return tree.Map("type", "RollingUpdate", "rollingUpdate",
		tree.Map("maxSurge", number(r.surge), "maxUnavailable", number(r.unavailable)))
}

// statefulSetStrategy keeps the number of pods that the partition holds back.
func (l *lowering) statefulSetStrategy() *tree.Node {
	surge, unavailable := l.budget()
	r := statefulSetRolling(surge, unavailable, l.replicas)
	l.reportUnavailable(r, unavailable)
	rolling := tree.Map()
	switch {
	case r.unavailable == intstr.FromInt32(1):
	case l.c.Since(maxUnavailableServed):
		tree.Set(rolling, "maxUnavailable", number(r.unavailable))
	default:
		l.report("cloneset/max-unavailable-statefulset", rollingUpdate+"maxUnavailable", "")
	}
	if p := l.ordinalFloor(); p > 0 {
		tree.Set(rolling, "partition", tree.Int64(int64(p)))
	}
	out := tree.Map("type", "RollingUpdate")
	if len(rolling.Content) > 0 {
		tree.Set(out, "rollingUpdate", rolling)
	}
	return out
}

// ordinalFloor is the StatefulSet partition that keeps as many pods old. An
// integer stays as it is: it means the same at any number of replicas.
func (l *lowering) ordinalFloor() int {
	p := l.rolling().Partition
	if p == nil {
		return 0
	}
	if p.Type == intstr.Int {
		return max(p.IntValue(), 0)
	}
	return kept(*p, l.declared())
}

// rolling is the source's rollingUpdate, empty where it has none.
func (l *lowering) rolling() kruise.RollingUpdateCloneSetStrategy {
	if r := l.spec.UpdateStrategy.RollingUpdate; r != nil {
		return *r
	}
	return kruise.RollingUpdateCloneSetStrategy{}
}

// budget returns maxSurge and maxUnavailable with Kruise's defaults.
func (l *lowering) budget() (surge, unavailable intstr.IntOrString) {
	surge, unavailable = intstr.FromInt32(0), defaultUnavailable
	if s := l.rolling().MaxSurge; s != nil {
		surge = *s
	}
	if m := l.rolling().MaxUnavailable; m != nil {
		unavailable = *m
	}
	return surge, unavailable
}

func (l *lowering) paused() bool {
	return l.rolling().Paused && l.spec.UpdateStrategy.Type != kruise.OnDeleteCloneSetStrategyType
}

// deadline keeps the field, above minReadySeconds as a Deployment demands.
func (l *lowering) deadline(v *tree.Node) *tree.Node {
	const field = "spec.progressDeadlineSeconds"
	if l.spec.ProgressDeadlineSeconds == nil {
		return v
	}
	if least := int64(l.spec.MinReadySeconds) + 1; int64(*l.spec.ProgressDeadlineSeconds) < least {
		l.report("cloneset/progress-deadline-raised", field, fmt.Sprintf("raised to %d, above minReadySeconds, as a Deployment demands", least))
		return tree.Int64(least)
	}
	l.report("cloneset/progress-deadline", field, "")
	return v
}

func number(v intstr.IntOrString) *tree.Node {
	if v.Type == intstr.Int {
		return tree.Int64(int64(v.IntVal))
	}
	return tree.String(v.StrVal)
}
