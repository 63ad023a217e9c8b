package lower

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// noDeadline is the value with which a Deployment has no progress deadline.
const noDeadline = math.MaxInt32

const rollingUpdate = "spec.updateStrategy.rollingUpdate."

// strategy returns the update strategy of the native object with its key, nil
// where the form has none, and reports what it keeps of the source's.
func (l *cloneSetExpansion) strategy() (key string, strategy *tree.Node) {
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
func (l *cloneSetExpansion) deploymentStrategy(onDelete bool) *tree.Node {
	surge, unavailable := l.budget()
	r := deploymentRolling(surge, unavailable, l.replicas)
	if !onDelete {
		l.reportUnavailable(r, unavailable)
	}
	return tree.Map("type", "RollingUpdate", "rollingUpdate",
		tree.Map("maxSurge", intOrStringNode(r.surge), "maxUnavailable", intOrStringNode(r.unavailable)))
}

// statefulSetStrategy keeps the number of pods that the partition holds back.
func (l *cloneSetExpansion) statefulSetStrategy() *tree.Node {
	surge, unavailable := l.budget()
	r := statefulSetRolling(surge, unavailable, l.replicas)
	l.reportUnavailable(r, unavailable)
	rolling := tree.Map()
	switch {
	case r.unavailable == intstr.FromInt32(1):
	case l.c.Since(maxUnavailableServed):
		tree.Set(rolling, "maxUnavailable", intOrStringNode(r.unavailable))
	default:
		l.report("cloneset/max-unavailable-statefulset", rollingUpdate+"maxUnavailable", "")
	}
	if p := l.ordinalFloor(); p > 0 {
		tree.Set(rolling, "partition", tree.Int64(int64(p)))
	}
	return rollingStrategy(rolling)
}

// rollingStrategy is the update strategy of a StatefulSet with these settings, which may be none.
func rollingStrategy(rolling *tree.Node) *tree.Node {
	out := tree.Map("type", "RollingUpdate")
	if len(rolling.Content) > 0 {
		tree.Set(out, "rollingUpdate", rolling)
	}
	return out
}

// ordinalFloor is the StatefulSet partition that keeps as many pods old. An
// integer stays as it is: it means the same at any number of replicas.
func (l *cloneSetExpansion) ordinalFloor() int {
	p := l.rolling().Partition
	if p == nil {
		return 0
	}
	if p.Type == intstr.Int {
		return max(p.IntValue(), 0)
	}
	return rules.Partition(p, l.declaredReplicas())
}

// rolling is the source's rollingUpdate, empty where it has none.
func (l *cloneSetExpansion) rolling() kruise.RollingUpdateCloneSetStrategy {
	if r := l.spec.UpdateStrategy.RollingUpdate; r != nil {
		return *r
	}
	return kruise.RollingUpdateCloneSetStrategy{}
}

// budget returns maxSurge and maxUnavailable with Kruise's defaults.
func (l *cloneSetExpansion) budget() (surge, unavailable intstr.IntOrString) {
	surge, unavailable = intstr.FromInt32(0), defaultUnavailable
	if s := l.rolling().MaxSurge; s != nil {
		surge = *s
	}
	if m := l.rolling().MaxUnavailable; m != nil {
		unavailable = *m
	}
	return surge, unavailable
}

func (l *cloneSetExpansion) paused() bool {
	return l.rolling().Paused && l.spec.UpdateStrategy.Type != kruise.OnDeleteCloneSetStrategyType
}

// deadline keeps the field, above minReadySeconds as a Deployment demands.
func (l *cloneSetExpansion) deadline(v *tree.Node) *tree.Node {
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

func intOrStringNode(v intstr.IntOrString) *tree.Node {
	if v.Type == intstr.Int {
		return tree.Int64(int64(v.IntVal))
	}
	return tree.String(v.StrVal)
}

// rollingBudget has maxSurge and maxUnavailable as a native workload writes them, and the
// catalogue entry about maxUnavailable.
type rollingBudget struct {
	surge, unavailable intstr.IntOrString
	rule               string
}

// deploymentRolling returns the values with which a Deployment moves as many
// pods at a time as the CloneSet. replicas is nil where an autoscaler owns it.
func deploymentRolling(surge, unavailable intstr.IntOrString, replicas *int) rollingBudget {
	r := rollingBudget{normalized(surge), capAtAll(normalized(unavailable)), "cloneset/max-unavailable"}
	switch {
	case isZero(r.surge) && isZero(r.unavailable):
		r.unavailable, r.rule = intstr.FromInt32(1), "cloneset/max-unavailable-zero"
	case r.unavailable.Type == intstr.Int:
	case replicas == nil || *replicas == 0:
		if isZero(r.surge) && r.unavailable.StrVal != "100%" {
			r.rule = "cloneset/max-unavailable-percent"
		}
	default:
		_, want := cloneSetBudget(surge, unavailable, *replicas)
		if _, have := deploymentBudget(r.surge, r.unavailable, *replicas); have != min(want, *replicas) {
			r.unavailable, r.rule = intstr.FromInt(want), "cloneset/max-unavailable-rounded"
		}
	}
	return r
}

// statefulSetRolling returns the same for a StatefulSet, which knows no surge
// and needs at least 1; its own default is 1.
func statefulSetRolling(surge, unavailable intstr.IntOrString, replicas *int) rollingBudget {
	r := rollingBudget{intstr.FromInt32(0), capAtAll(normalized(unavailable)), "cloneset/max-unavailable"}
	if replicas == nil || *replicas == 0 {
		if r.unavailable.Type == intstr.String {
			r.rule = "cloneset/max-unavailable-percent"
		}
	} else {
		_, down := cloneSetBudget(surge, unavailable, *replicas)
		r.unavailable = intstr.FromInt(min(down, *replicas))
	}
	if isZero(r.unavailable) {
		return rollingBudget{r.surge, intstr.FromInt32(1), "cloneset/max-unavailable-zero"}
	}
	return r
}

// defaultUnavailable is a CloneSet's maxUnavailable where none is given.
var defaultUnavailable = intstr.FromString("20%")

// podCount returns the number of pods that v stands for with this number of replicas. A fractional
// percentage, which Kruise's webhook accepts, counts as 0
// (docs/kruise/workloads.md#percentages-and-defaults).
func podCount(v intstr.IntOrString, replicas int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, replicas, up)
	if err != nil {
		return 0
	}
	return n
}

// cloneSetBudget returns how many pods a CloneSet may have beyond replicas
// during an update, and how many may be unavailable
// (docs/kruise/workloads.md#percentages-and-defaults).
func cloneSetBudget(surge, unavailable intstr.IntOrString, replicas int) (more, down int) {
	more = podCount(surge, replicas, true)
	return more, podCount(unavailable, replicas, more == 0)
}

// deploymentBudget returns the same for a Deployment: it rounds down, and
// takes 1 where nothing could move.
func deploymentBudget(surge, unavailable intstr.IntOrString, replicas int) (more, down int) {
	more, down = podCount(surge, replicas, true), podCount(unavailable, replicas, false)
	if more == 0 && down == 0 {
		down = 1
	}
	return more, down
}

// normalized returns v in an equal form that native workloads accept: a fractional
// percentage is 0, and a percentage above 100 is 100%.
func normalized(v intstr.IntOrString) intstr.IntOrString {
	if v.Type == intstr.Int {
		return v
	}
	p, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	if err != nil || p < 0 {
		return intstr.FromInt32(0)
	}
	return v
}

// capAtAll returns v with percentages above 100 cut, for maxUnavailable.
func capAtAll(v intstr.IntOrString) intstr.IntOrString {
	if v.Type == intstr.String && podCount(v, 100, false) > 100 {
		return intstr.FromString("100%")
	}
	return v
}

// isZero reports whether v is zero however many replicas there are.
func isZero(v intstr.IntOrString) bool { return podCount(v, 100, true) == 0 }
