package check

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var _ = add("apps.kruise.io/CloneSet", cloneSet)

// cloneSetCheck gathers the faults of one CloneSet. The rules differ by the
// version that the object is written in (semantics workloads 0.2), and so do
// the paths of its fields.
type cloneSetCheck struct {
	r      *resource.Resource
	alpha  bool
	spec   *kruise.CloneSetSpec
	faults resource.Errors
}

// cloneSet holds the rules of the CloneSet webhooks and schema (semantics
// workloads 0.2, 0.3, 1.9 and 10).
func cloneSet(c *stage.Context, r *resource.Resource) error {
	var set kruise.CloneSet
	unknown, err := kruise.Decode(r.Node(), &set)
	if err != nil {
		return r.Wrap(err, "")
	}
	k := &cloneSetCheck{r: r, alpha: r.Version() == "v1alpha1", spec: &set.Spec}
	k.unknown(unknown)
	k.name()
	k.selector()
	k.numbers()
	k.podsToDelete()
	k.strategy()
	k.claims()
	k.template()
	k.change(c)
	return k.faults.Err()
}

// fault reports a fault of the field with this path in the newest version.
func (k *cloneSetCheck) fault(path, hint, format string, args ...any) {
	k.faults.Add(k.r.Fault(kruise.Written(k.r.Node(), path), hint, format, args...))
}

// unknown reports fields that the schema does not have; templates are not part
// of it.
func (k *cloneSetCheck) unknown(paths []string) {
	for _, path := range paths {
		if strings.HasPrefix(path, "spec.template.") || strings.HasPrefix(path, "spec.volumeClaimTemplates[") || strings.HasPrefix(path, "status.") {
			continue
		}
		k.faults.Add(k.r.Fault(path, k.misplaced(path), "unknown field"))
	}
}

// misplaced hints at a field of the other version, or of another spelling.
func (k *cloneSetCheck) misplaced(path string) string {
	field, ok := strings.CutPrefix(path, "spec.updateStrategy.")
	switch {
	case !ok:
	case k.alpha && strings.HasPrefix(field, "rollingUpdate"):
		return "in v1alpha1 the fields of rollingUpdate stand in spec.updateStrategy itself"
	case !k.alpha && alphaStrategy[field]:
		return "in v1beta1 this is " + rolling + field
	case k.alpha:
		path = rolling + field
	}
	return spelling(kruise.CloneSet{}, path)
}

// alphaStrategy are the fields that v1alpha1 has one level higher.
var alphaStrategy = map[string]bool{
	"partition": true, "maxUnavailable": true, "maxSurge": true, "paused": true,
	"priorityStrategy": true, "scatterStrategy": true, "inPlaceUpdateStrategy": true,
}

func (k *cloneSetCheck) name() {
	meta := tree.Get(k.r.Node(), "metadata")
	name := tree.StrAt(meta, "name")
	if name == "" {
		if tree.StrAt(meta, "generateName") == "" {
			k.fault("metadata.name", "", "a name is required")
		}
		return
	}
	for _, msg := range validation.IsDNS1123Subdomain(name) {
		k.fault("metadata.name", "", "%q is not a name: %s", name, msg)
	}
}

// selector: required, not empty, and matching the template.
func (k *cloneSetCheck) selector() {
	if tree.Get(k.r.Node(), "spec", "template") == nil {
		k.fault("spec.template", "", "a pod template is required")
	}
	s := k.spec.Selector
	if s == nil {
		k.fault("spec.selector", "name the labels of the pods", "a selector is required")
		return
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		k.fault("spec.selector", "name the labels of the pods", "an empty selector is not allowed")
		return
	}
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		k.fault("spec.selector", "", "%v", err)
		return
	}
	if !sel.Matches(labels.Set(k.spec.Template.Labels)) {
		k.fault("spec.template.metadata.labels", "give the template the labels of spec.selector", "the selector does not match the labels of the template")
	}
}

func (k *cloneSetCheck) numbers() {
	k.notNegative("spec.replicas", k.spec.Replicas)
	k.notNegative("spec.revisionHistoryLimit", k.spec.RevisionHistoryLimit)
	k.notNegative("spec.minReadySeconds", &k.spec.MinReadySeconds)
	deadline := k.spec.ProgressDeadlineSeconds
	k.notNegative("spec.progressDeadlineSeconds", deadline)
	if k.alpha && deadline != nil && *deadline >= 0 && *deadline <= k.spec.MinReadySeconds {
		k.fault("spec.progressDeadlineSeconds", "", "%d must be greater than minReadySeconds %d", *deadline, k.spec.MinReadySeconds)
	}
}

func (k *cloneSetCheck) notNegative(path string, n *int32) {
	if n != nil && *n < 0 {
		k.fault(path, "", "%d must not be negative", *n)
	}
}

func (k *cloneSetCheck) podsToDelete() {
	const path = "spec.scaleStrategy.podsToDelete"
	seen := map[string]bool{}
	for i, name := range k.spec.ScaleStrategy.PodsToDelete {
		if seen[name] {
			k.fault(fmt.Sprintf("%s[%d]", path, i), "", "pod %s is named twice", name)
		}
		seen[name] = true
	}
	if m := k.spec.ScaleStrategy.MaxUnavailable; m != nil {
		k.amount("spec.scaleStrategy.maxUnavailable", *m)
	}
}

// claims: each template needs a name of its own, by which containers mount it.
func (k *cloneSetCheck) claims() {
	seen := map[string]bool{}
	for i, c := range k.spec.VolumeClaimTemplates {
		path := fmt.Sprintf("spec.volumeClaimTemplates[%d].metadata.name", i)
		switch {
		case c.Name == "":
			k.fault(path, "", "a claim template needs a name")
		case seen[c.Name]:
			k.fault(path, "", "claim template %s is there twice", c.Name)
		}
		seen[c.Name] = true
	}
}
