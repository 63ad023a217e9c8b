package check

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindCloneSet, object: kruise.CloneSet{}, filled: true,
	open:      []string{"spec.template", "spec.volumeClaimTemplates"},
	check:     cloneSet,
	misplaced: cloneSetMisplaced,
	rules: []Rule{
		{ID: "selector-invalid", fields: []string{"spec.selector", "spec.template.metadata.labels"}, Doc: "The selector is missing, empty, malformed, or does not match the labels of the pod template."},
		{ID: "number-negative", fields: []string{"spec.replicas", "spec.revisionHistoryLimit", "spec.minReadySeconds"}, Doc: "A number that counts pods, revisions or seconds is negative."},
		{ID: "update-type-invalid", fields: []string{"spec.updateStrategy.type", rolling + "podUpdatePolicy"}, Doc: "The update type is none of the version written; v1alpha1 takes no OnDelete."},
		{ID: "partition-invalid", fields: []string{rolling + "partition"}, Doc: "partition is negative, or neither a number nor a percentage."},
		{ID: "max-unavailable-invalid", fields: []string{rolling + "maxUnavailable"}, Doc: "maxUnavailable is malformed, or lets nothing move; v1beta1 refuses 0 even beside maxSurge."},
		{ID: "max-surge-invalid", fields: []string{rolling + "maxSurge"}, Doc: "maxSurge is malformed, or set with InPlaceOnly."},
		{ID: "priority-invalid", fields: []string{rolling + "priorityStrategy"}, Doc: "Both kinds of priority are given, a weight is not between 0 and 100, or a key is empty."},
		{ID: "scatter-invalid", fields: []string{rolling + "scatterStrategy"}, Doc: "A scatter term has no key, or is there twice."},
		{ID: "pods-to-delete-invalid", fields: []string{"spec.scaleStrategy.podsToDelete"}, Doc: "podsToDelete names a pod twice, or (v1alpha1) newly names one that is not a live pod of the CloneSet."},
		{ID: "progress-deadline-invalid", fields: []string{"spec.progressDeadlineSeconds"}, Doc: "progressDeadlineSeconds is not greater than minReadySeconds (v1alpha1)."},
		{ID: "in-place-impossible", fields: []string{"spec.template.spec"}, Doc: "An update of a v1alpha1 CloneSet with InPlaceOnly changes more of the pod than images."},
		{ID: "claims-invalid", fields: []string{"spec.volumeClaimTemplates"}, Doc: "A claim template has no name, or that of another."},
	},
})

// cloneSetCheck gathers the faults of one CloneSet. The rules differ by the
// version that the object is written in (docs/kruise/workloads.md#cloneset-in-two-versions).
type cloneSetCheck struct {
	*subject
	alpha bool
	spec  *kruise.CloneSetSpec
}

// cloneSet holds the rules of the CloneSet webhooks and schema
// (docs/kruise/workloads.md#cloneset-in-two-versions,
// docs/kruise/workloads.md#percentages-and-defaults, docs/kruise/workloads.md#named-pods-and-claims
// and docs/kruise/workloads.md#observed-on-a-cluster).
func cloneSet(s *subject) {
	var set kruise.CloneSet
	if !s.read(&set) {
		return
	}
	k := &cloneSetCheck{subject: s, alpha: s.r.Version() == kruise.V1alpha1, spec: &set.Spec}
	if tree.Get(s.r.Node(), "spec", "template") == nil {
		k.fault("spec.template", "", "a pod template is required")
	}
	k.owns(k.spec.Selector, k.spec.Template.Labels)
	k.numbers()
	k.podsToDelete()
	k.strategy()
	s.claims(k.spec.VolumeClaimTemplates)
	checkLongRunning(s, &k.spec.Template.Spec)
	checkPodTemplate(s, "spec.template", &k.spec.Template, k.spec.VolumeClaimTemplates)
	k.change()
}

// cloneSetMisplaced hints at a field of the other version.
func cloneSetMisplaced(version, path string) string {
	field, ok := strings.CutPrefix(path, "spec.updateStrategy.")
	alpha := version == kruise.V1alpha1
	switch {
	case !ok:
	case alpha && strings.HasPrefix(field, "rollingUpdate"):
		return "in v1alpha1 the fields of rollingUpdate are in spec.updateStrategy itself"
	case alpha:
		return spelling(kruise.CloneSet{}, rolling+field)
	case alphaStrategy[field]:
		return "in v1beta1 this is " + rolling + field
	}
	return ""
}

// alphaStrategy are the fields that v1alpha1 has one level higher.
var alphaStrategy = map[string]bool{
	"partition": true, "maxUnavailable": true, "maxSurge": true, "paused": true,
	"priorityStrategy": true, "scatterStrategy": true, "inPlaceUpdateStrategy": true,
}

func (k *cloneSetCheck) numbers() {
	notNegative(k.subject, "spec.replicas", k.spec.Replicas)
	k.accepted(func() {
		notNegative(k.subject, "spec.revisionHistoryLimit", k.spec.RevisionHistoryLimit)
		notNegative(k.subject, "spec.minReadySeconds", &k.spec.MinReadySeconds)
	})
	// v1beta1 takes any deadline.
	if deadline := k.spec.ProgressDeadlineSeconds; k.alpha && deadline != nil && *deadline <= k.spec.MinReadySeconds {
		k.fault("spec.progressDeadlineSeconds", "", "%d must be greater than minReadySeconds %d", *deadline, k.spec.MinReadySeconds)
	}
}

// claims: each template needs a name of its own, by which containers mount it.
func (s *subject) claims(list []corev1.PersistentVolumeClaim) {
	seen := map[string]bool{}
	for i, c := range list {
		path := fmt.Sprintf("spec.volumeClaimTemplates[%d].metadata.name", i)
		switch {
		case c.Name == "":
			s.fault(path, "", "a claim template needs a name")
		case seen[c.Name]:
			s.fault(path, "", "claim template %s is there twice", c.Name)
		case len(validation.IsDNS1123Label(c.Name)) > 0:
			report := func() {
				s.against(podInvalid, path, "", "%q is not a name of a volume: %s", c.Name, strings.Join(validation.IsDNS1123Label(c.Name), "; "))
			}
			if s.kind.kind == kruise.KindStatefulSet { // whose webhook does not look at it
				s.accepted(report)
			} else {
				report()
			}
		}
		seen[c.Name] = true
	}
}
