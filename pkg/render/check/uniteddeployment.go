package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var _ = add("apps.kruise.io/UnitedDeployment", unitedDeployment)

// unitedDeploymentCheck gathers the faults of one UnitedDeployment.
type unitedDeploymentCheck struct {
	r *resource.Resource
	// spec has Kruise's defaults filled in.
	spec *kruise.UnitedDeploymentSpec
	// selector is nil when it is at fault itself.
	selector labels.Selector
	faults   resource.Errors
}

// unitedDeployment holds the rules of the webhook and the schema (semantics
// fanout-and-jobs 1.1 and 12).
func unitedDeployment(c *stage.Context, r *resource.Resource) error {
	var ud kruise.UnitedDeployment
	unknown, err := kruise.Decode(r.Node(), &ud)
	if err != nil {
		return r.Wrap(err, "")
	}
	kruise.Default(&ud)
	k := &unitedDeploymentCheck{r: r, spec: &ud.Spec}
	k.name()
	k.readSelector()
	k.unknown(unknown)
	k.template()
	k.topology()
	k.updateStrategy()
	k.change(c)
	return k.faults.Err()
}

func (k *unitedDeploymentCheck) fault(path, hint, format string, args ...any) {
	k.faults.Add(k.r.Fault(path, hint, format, args...))
}

func (k *unitedDeploymentCheck) name() {
	meta := tree.Get(k.r.Node(), "metadata")
	name := tree.StrAt(meta, "name")
	if name == "" {
		if tree.StrAt(meta, "generateName") == "" {
			k.fault("metadata.name", "", "a name is required")
		}
		return
	}
	if msgs := validation.IsDNS1123Subdomain(name); len(msgs) > 0 {
		k.fault("metadata.name", "", "%q is not a name: %s", name, strings.Join(msgs, "; "))
	}
}

// readSelector: required, and not empty.
func (k *unitedDeploymentCheck) readSelector() {
	s := k.spec.Selector
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		k.fault("spec.selector", "set matchLabels to labels that the pods have", "an empty selector is not allowed")
		return
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		k.fault("spec.selector", "", "%v", err)
		return
	}
	k.selector = selector
}

func (k *unitedDeploymentCheck) updateStrategy() {
	u := k.spec.UpdateStrategy
	if u.Type != "" && u.Type != kruise.ManualUpdateStrategyType {
		k.fault("spec.updateStrategy.type", "", "%q is not allowed: want Manual", u.Type)
	}
	if u.ManualUpdate == nil {
		return
	}
	declared := map[string]bool{}
	for _, s := range k.spec.Topology.Subsets {
		declared[s.Name] = true
	}
	for _, subset := range slices.Sorted(maps.Keys(u.ManualUpdate.Partitions)) {
		at := fmt.Sprintf("spec.updateStrategy.manualUpdate.partitions[%s]", subset)
		if !declared[subset] {
			k.fault(at, "name a subset of spec.topology.subsets", "there is no subset %s", subset)
		}
		if n := u.ManualUpdate.Partitions[subset]; n < 0 {
			k.fault(at, "", "%d is negative", n)
		}
	}
}
