package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindUnitedDeployment, object: kruise.UnitedDeployment{}, filled: true,
	open:      openTemplates,
	check:     unitedDeployment,
	misplaced: unitedMisplaced,
})

// unitedDeploymentCheck gathers the faults of one UnitedDeployment.
type unitedDeploymentCheck struct {
	*subject
	// spec has Kruise's defaults filled in.
	spec *kruise.UnitedDeploymentSpec
	// selector is nil when it is at fault itself.
	selector labels.Selector
}

// unitedDeployment holds the rules of the webhook and the schema (docs/kruise/distribution.md#spec
// and docs/kruise/distribution.md#observed-on-a-cluster).
func unitedDeployment(s *subject) {
	var ud kruise.UnitedDeployment
	if !s.read(&ud) {
		return
	}
	kruise.Default(&ud)
	k := &unitedDeploymentCheck{subject: s, spec: &ud.Spec}
	k.selector = requiredSelector(k.subject, "spec.selector", k.spec.Selector, "set matchLabels to labels that the pods have")
	k.template()
	k.topology()
	k.updateStrategy()
	k.change()
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
			k.accepted(func() { k.fault(at, "", "%d is negative", n) })
		}
	}
}

// subsetTemplates are the four workload templates, of which a UnitedDeployment
// has one, with what the webhook wants of each.
var subsetTemplates = []struct {
	field string
	// strict templates have no replicas, and their labels match.
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

// template wants exactly one template, without the fields that the UnitedDeployment sets.
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
		if t.strict && tree.Get(n, "spec", "replicas") != nil {
			k.fault(at+".spec.replicas", "remove it, and set spec.replicas", "the replicas of a workload come from its subset")
		}
		if t.strict {
			k.matchingLabels(n, at)
		}
		strategy, kind := tree.Get(n, "spec", "updateStrategy"), tree.StrAt(n, "spec", "updateStrategy", "type")
		strategyAt := at + ".spec.updateStrategy"
		if t.paced && kind == "RollingUpdate" && tree.Get(strategy, "rollingUpdate", "partition") != nil {
			k.fault(strategyAt+".rollingUpdate.partition", "remove it, and set spec.updateStrategy.manualUpdate.partitions", "the partition of a workload comes from its subset")
		}
		// A UnitedDeployment of either version drops the shape of CloneSet v1alpha1 in part: no workload is
		// created, or one without these settings (docs/kruise/distribution.md#in-two-versions and
		// docs/kruise/distribution.md#observed-on-a-cluster).
		if t.field == "cloneSetTemplate" && slices.Contains([]string{"ReCreate", "InPlaceIfPossible", "InPlaceOnly"}, kind) {
			k.fault(strategyAt+".type", fmt.Sprintf("write %s.rollingUpdate.podUpdatePolicy: %s, and type: RollingUpdate or none", strategyAt, kind),
				"%q is valid in CloneSet v1alpha1 only: Kruise creates no workload with it", kind)
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
		k.fault(at+".spec.selector", "repeat spec.selector here: the schema requires it, though the subset's own selector replaces it", "a selector is required")
	}
}

// matchingLabels wants the selector to match the labels of the workload and of its pods.
func (k *unitedDeploymentCheck) matchingLabels(n *tree.Node, at string) {
	if k.selector == nil {
		return
	}
	for _, path := range [][]string{{"metadata", "labels"}, {"spec", "template", "metadata", "labels"}} {
		if set := tree.Strings(tree.Get(n, path...)); !k.selector.Matches(labels.Set(set)) {
			k.fault(at+"."+strings.Join(path, "."), "add the labels that spec.selector asks for", "spec.selector (%s) does not match the labels (%s)", k.selector, labels.Set(set))
		}
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
		checkLongRunning(k.subject, kruise.KindDeployment, here, &pods.Spec)
	}
	if t.StatefulSetTemplate != nil {
		k.nativeStatefulSet(at+"statefulSetTemplate.spec", &t.StatefulSetTemplate.Spec)
		checkPodMetadata(at+"statefulSetTemplate.spec.template", &t.StatefulSetTemplate.Spec.Template, k.podFault)
	}
	if t.AdvancedStatefulSetTemplate != nil {
		checkPodMetadata(at+"advancedStatefulSetTemplate.spec.template", &t.AdvancedStatefulSetTemplate.Spec.Template, k.podFault)
	}
}

// nativeStatefulSet checks the template of a StatefulSet without its pods and claims. Kruise's main
// branch does since 1.9; before, the StatefulSets are refused when they are created.
func (k *unitedDeploymentCheck) nativeStatefulSet(at string, spec *appsv1.StatefulSetSpec) {
	set := appsv1.StatefulSet{Spec: *spec.DeepCopy()}
	appsdefaults.SetObjectDefaults_StatefulSet(&set)
	var internal apps.StatefulSetSpec
	if err := appsdefaults.Convert_v1_StatefulSetSpec_To_apps_StatefulSetSpec(&set.Spec, &internal, nil); err != nil {
		k.fault(at, "", "%v", err)
		return
	}
	internal.Selector = k.spec.Selector
	errs := appsvalidation.ValidateStatefulSetSpec(&internal, field.NewPath(at), podOptions, appsvalidation.StatefulSetValidationOptions{
		AllowInvalidServiceName: true, SkipValidatePodTemplateSpec: true, SkipValidateVolumeClaimTemplates: true,
	})
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool {
		return under(e.Field, at+".selector") || under(e.Field, at+".template.metadata") || under(e.Field, at+".template.labels")
	})
	report := func() { k.podErrors(k.fault, errs) }
	if k.c.Kruise.OrNewest().Before(kruise.Next) {
		k.accepted(report)
		return
	}
	report()
}

const subsetsField = "spec.topology.subsets"

// topology holds the rules for subsets and scheduleStrategy.
func (k *unitedDeploymentCheck) topology() {
	subsets := k.spec.Topology.Subsets
	if k.tooManySubsets(subsetsField, len(subsets)) {
		return
	}
	seen := map[string]bool{}
	for i, s := range subsets {
		at := fmt.Sprintf("%s[%d].name", subsetsField, i)
		switch msgs := validation.IsDNS1123Label(s.Name); {
		case s.Name == "":
			k.fault(at, "", "a subset needs a name")
		case len(msgs) > 0:
			k.fault(at, "", "%q is not a subset name: %s", s.Name, strings.Join(msgs, "; "))
		case seen[s.Name]:
			k.fault(at, "", "there are two subsets %s", s.Name)
		}
		seen[s.Name] = true
		nodeTerm(k.subject, fmt.Sprintf("%s[%d].nodeSelectorTerm", subsetsField, i), &s.NodeSelectorTerm)
		tolerations(k.subject, fmt.Sprintf("%s[%d].tolerations", subsetsField, i), s.Tolerations)
	}
	k.schedule()
	k.replicas()
}

func (k *unitedDeploymentCheck) schedule() {
	const at = "spec.topology.scheduleStrategy"
	s := k.spec.Topology.ScheduleStrategy
	switch s.Type {
	case "", kruise.FixedUnitedDeploymentScheduleStrategyType, kruise.AdaptiveUnitedDeploymentScheduleStrategyType:
	default:
		k.fault(at+".type", "", "%q is not allowed: want Fixed or Adaptive", s.Type)
	}
	if t := k.spec.Template; s.Adaptive != nil && s.Adaptive.ReserveUnschedulablePods &&
		(t.StatefulSetTemplate != nil || t.AdvancedStatefulSetTemplate != nil) {
		k.fault(at+".adaptive.reserveUnschedulablePods", "use cloneSetTemplate or deploymentTemplate", "pods of StatefulSets cannot be reserved")
	}
}

// replicas wants one way to size subsets, and sizes that add up.
func (k *unitedDeploymentCheck) replicas() {
	adaptive := k.spec.Topology.ScheduleStrategy.Type == kruise.AdaptiveUnitedDeploymentScheduleStrategyType
	in := spread.Allocation{Replicas: k.spec.Replicas, Adaptive: adaptive}
	named, limited, unlimited := -1, false, false
	for i, s := range k.spec.Topology.Subsets {
		if s.Replicas != nil && named < 0 {
			named = i
		}
		limited = limited || s.MinReplicas != nil || s.MaxReplicas != nil
		unlimited = unlimited || s.MaxReplicas == nil
		in.Subsets = append(in.Subsets, spread.Subset{Name: s.Name, Replicas: s.Replicas, Min: s.MinReplicas, Max: s.MaxReplicas})
	}
	at := fmt.Sprintf("%s[%d].replicas", subsetsField, named)
	switch {
	case named >= 0 && adaptive:
		k.fault(at, "use minReplicas and maxReplicas", "replicas of a subset cannot be fixed when scheduleStrategy is Adaptive")
		return
	case named >= 0 && limited:
		k.fault(at, "use either replicas, or minReplicas and maxReplicas, in all subsets", "replicas and minReplicas or maxReplicas are mutually exclusive in one UnitedDeployment")
		return
	case limited && !unlimited:
		k.fault(subsetsField, "leave maxReplicas out of the subset that takes the rest", "at least one subset must have no maxReplicas")
	}
	_, err := spread.Allocate(in)
	if len(in.Subsets) == 0 && (in.Replicas == nil || *in.Replicas >= 0) {
		k.accepted(func() { k.addErrors(err, "") })
		return
	}
	k.addErrors(err, "")
}

// change holds the rules for an update (docs/kruise/distribution.md#spec).
func (k *unitedDeploymentCheck) change() {
	if k.Old == nil {
		return
	}
	var old kruise.UnitedDeploymentSpec // the same in both versions
	if _, err := tree.Decode(tree.Get(k.Old.Node(), "spec"), &old); err != nil {
		return // it is the cluster's object, not the user's to repair
	}
	k.sameNodes(old.Topology.Subsets)
	k.sameTemplate(old.Template)
}

// sameNodes refuses changes of the nodes and tolerations of an existing subset.
func (k *unitedDeploymentCheck) sameNodes(old []kruise.Subset) {
	const hint = "declare a subset of another name, and remove this one"
	before := map[string]kruise.Subset{}
	for _, s := range old {
		before[s.Name] = s
	}
	for i, s := range k.spec.Topology.Subsets {
		was, existed := before[s.Name]
		if !existed {
			continue
		}
		at := fmt.Sprintf("%s[%d].", subsetsField, i)
		if !apiequality.Semantic.DeepEqual(was.NodeSelectorTerm, s.NodeSelectorTerm) {
			k.immutableFault(at+"nodeSelectorTerm", hint, "the nodes of the existing subset %s are immutable", s.Name)
		}
		if !apiequality.Semantic.DeepEqual(was.Tolerations, s.Tolerations) {
			k.immutableFault(at+"tolerations", hint, "the tolerations of the existing subset %s are immutable", s.Name)
		}
	}
}

// sameTemplate refuses changes of the immutable fields of StatefulSet templates.
func (k *unitedDeploymentCheck) sameTemplate(old kruise.SubsetTemplate) {
	const hint = "keep it as it is in the cluster, or delete and create the UnitedDeployment"
	now := k.spec.Template
	if a, b := old.StatefulSetTemplate, now.StatefulSetTemplate; a != nil && b != nil &&
		!apiequality.Semantic.DeepEqual(frozenStatefulSet(a.Spec), frozenStatefulSet(b.Spec)) {
		k.immutableFault("spec.template.statefulSetTemplate.spec", hint, "only template, updateStrategy, minReadySeconds, ordinals and persistentVolumeClaimRetentionPolicy can change")
	}
	if a, b := old.AdvancedStatefulSetTemplate, now.AdvancedStatefulSetTemplate; a != nil && b != nil &&
		!apiequality.Semantic.DeepEqual(frozenAdvanced(a.Spec), frozenAdvanced(b.Spec)) {
		k.immutableFault("spec.template.advancedStatefulSetTemplate.spec", hint, "only template and updateStrategy can change")
	}
}

// frozenStatefulSet is s without what may change.
func frozenStatefulSet(s appsv1.StatefulSetSpec) appsv1.StatefulSetSpec {
	s.Template, s.UpdateStrategy = corev1.PodTemplateSpec{}, appsv1.StatefulSetUpdateStrategy{}
	s.MinReadySeconds, s.Ordinals, s.PersistentVolumeClaimRetentionPolicy = 0, nil, nil
	s.VolumeClaimTemplates = asStored(s.VolumeClaimTemplates)
	return s
}

func frozenAdvanced(s kruise.StatefulSetSpec) kruise.StatefulSetSpec {
	s.Template, s.UpdateStrategy = corev1.PodTemplateSpec{}, kruise.StatefulSetUpdateStrategy{}
	s.VolumeClaimTemplates = asStored(s.VolumeClaimTemplates)
	return s
}

// asStored sets the defaults that the API server sets in claim templates, so that they are
// no change by the user.
func asStored(claims []corev1.PersistentVolumeClaim) []corev1.PersistentVolumeClaim {
	out := make([]corev1.PersistentVolumeClaim, len(claims))
	for i, c := range claims {
		c.TypeMeta, c.Status = metav1.TypeMeta{}, corev1.PersistentVolumeClaimStatus{}
		if c.Spec.VolumeMode == nil {
			c.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
		}
		out[i] = c
	}
	return out
}
