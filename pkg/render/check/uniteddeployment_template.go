package check

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// subsetTemplates are the four workload templates, of which a UnitedDeployment
// has one, with what the webhook wants of each.
var subsetTemplates = []struct {
	field string
	// strict templates say nothing about replicas, and their labels match.
	strict bool
	// paced templates leave the partition to manualUpdate.
	paced bool
	// selected templates have a selector because the schema requires it.
	selected bool
}{
	{field: "statefulSetTemplate", strict: true, paced: true},
	{field: "advancedStatefulSetTemplate", strict: true, paced: true, selected: true},
	{field: "cloneSetTemplate", selected: true},
	{field: "deploymentTemplate", strict: true},
}

// template: exactly one, that leaves to the UnitedDeployment what is its own.
func (k *unitedDeploymentCheck) template() {
	all := tree.Get(k.r.Node(), "spec", "template")
	var given []string
	for _, t := range subsetTemplates {
		n := tree.Get(all, t.field)
		if n == nil {
			continue
		}
		given = append(given, t.field)
		at := "spec.template." + t.field
		k.workload(n, at, t.selected)
		if t.strict {
			k.noReplicas(n, at)
			k.matching(n, at)
		}
		if t.paced {
			k.noPartition(n, at)
		}
		if t.field == "cloneSetTemplate" {
			k.cloneSetShape(n, at)
		}
	}
	const hint = "keep one of statefulSetTemplate, advancedStatefulSetTemplate, cloneSetTemplate, deploymentTemplate"
	switch {
	case len(given) == 0:
		k.fault("spec.template", hint, "a workload template is required")
	case len(given) > 1:
		k.fault("spec.template", hint, "only one workload template is allowed, not %s", strings.Join(given, " and "))
	default:
		k.podsOfTemplates()
	}
}

func (k *unitedDeploymentCheck) workload(n *tree.Node, at string, selected bool) {
	spec := tree.Get(n, "spec")
	if !tree.IsMap(spec) {
		k.fault(at+".spec", "", "a spec is required")
		return
	}
	if !tree.IsMap(tree.Get(spec, "template")) {
		k.fault(at+".spec.template", "", "a pod template is required")
	}
	if selected && !tree.IsMap(tree.Get(spec, "selector")) {
		k.fault(at+".spec.selector", "repeat spec.selector here: the schema requires it, though the subset's own selector takes its place", "a selector is required")
	}
}

func (k *unitedDeploymentCheck) noReplicas(n *tree.Node, at string) {
	if tree.Get(n, "spec", "replicas") != nil {
		k.fault(at+".spec.replicas", "remove it, and set spec.replicas", "the replicas of a workload come from its subset")
	}
}

func (k *unitedDeploymentCheck) noPartition(n *tree.Node, at string) {
	strategy := tree.Get(n, "spec", "updateStrategy")
	if tree.StrAt(strategy, "type") == "RollingUpdate" && tree.Get(strategy, "rollingUpdate", "partition") != nil {
		k.fault(at+".spec.updateStrategy.rollingUpdate.partition", "remove it, and set spec.updateStrategy.manualUpdate.partitions", "the partition of a workload comes from its subset")
	}
}

// matching: the selector takes the workload and its pods.
func (k *unitedDeploymentCheck) matching(n *tree.Node, at string) {
	if k.selector == nil {
		return
	}
	for _, path := range [][]string{{"metadata", "labels"}, {"spec", "template", "metadata", "labels"}} {
		if set := tree.Strings(tree.Get(n, path...)); !k.selector.Matches(labels.Set(set)) {
			k.fault(at+"."+strings.Join(path, "."), "add the labels that spec.selector asks for", "spec.selector (%s) does not match the labels (%s)", k.selector, labels.Set(set))
		}
	}
}

// cloneSetShape refuses the shape of CloneSet v1alpha1, which a
// UnitedDeployment of either version drops in part: no workload comes into
// being, or one without these settings (docs/kruise/distribution.md#in-two-versions and
// docs/kruise/distribution.md#observed-on-a-cluster).
func (k *unitedDeploymentCheck) cloneSetShape(n *tree.Node, at string) {
	strategy := at + ".spec.updateStrategy"
	rolling := strategy + ".rollingUpdate."
	switch policy := tree.StrAt(n, "spec", "updateStrategy", "type"); policy {
	case "ReCreate", "InPlaceIfPossible", "InPlaceOnly":
		k.fault(strategy+".type", fmt.Sprintf("write %spodUpdatePolicy: %s, and type: RollingUpdate or none", rolling, policy),
			"%q is a type of CloneSet v1alpha1, with which no workload is made", policy)
	}
}

// unitedMisplaced hints at a field of CloneSet v1alpha1 in a cloneSetTemplate,
// where it would be dropped.
func unitedMisplaced(_, path string) string {
	const at = "spec.template.cloneSetTemplate.spec."
	if path == at+"scaleStrategy.disablePVCReuse" {
		return "disablePVCReuse is a field of CloneSet v1alpha1 only: write " + at + "scaleStrategy.enablePVCReuse with the opposite value"
	}
	if field, ok := strings.CutPrefix(path, at+"updateStrategy."); ok && alphaStrategy[field] {
		return field + " is only valid here in CloneSet v1alpha1: write " + at + "updateStrategy.rollingUpdate." + field
	}
	return ""
}

// openTemplates are places below which the API server keeps unknown fields, and
// those that belong to pods.
var openTemplates = []string{
	"spec.template.statefulSetTemplate.metadata", "spec.template.statefulSetTemplate.spec",
	"spec.template.deploymentTemplate.metadata", "spec.template.deploymentTemplate.spec",
	"spec.template.advancedStatefulSetTemplate.metadata", "spec.template.cloneSetTemplate.metadata",
	"spec.template.advancedStatefulSetTemplate.spec.template", "spec.template.cloneSetTemplate.spec.template",
	"spec.template.advancedStatefulSetTemplate.spec.volumeClaimTemplates", "spec.template.cloneSetTemplate.spec.volumeClaimTemplates",
	"spec.topology.subsets.patch",
}

// podsOfTemplates: the webhook checks the pods of a Deployment whole, and the labels and
// annotations of those of the StatefulSets.
func (k *unitedDeploymentCheck) podsOfTemplates() {
	const at = "spec.template."
	t := &k.spec.Template
	if t.DeploymentTemplate != nil {
		pods, here := &t.DeploymentTemplate.Spec.Template, at+"deploymentTemplate.spec.template"
		checkPodTemplate(k.subject, here, pods, nil)
		if policy := pods.Spec.RestartPolicy; policy != "" && policy != corev1.RestartPolicyAlways {
			k.podFault(here+".spec.restartPolicy", "", "%q is not allowed: want Always", policy)
		}
		if pods.Spec.ActiveDeadlineSeconds != nil {
			k.podFault(here+".spec.activeDeadlineSeconds", "remove it", "pods of a Deployment have no deadline")
		}
	}
	if t.StatefulSetTemplate != nil {
		checkPodMetadata(at+"statefulSetTemplate.spec.template", &t.StatefulSetTemplate.Spec.Template, k.podFault)
	}
	if t.AdvancedStatefulSetTemplate != nil {
		checkPodMetadata(at+"advancedStatefulSetTemplate.spec.template", &t.AdvancedStatefulSetTemplate.Spec.Template, k.podFault)
	}
}
