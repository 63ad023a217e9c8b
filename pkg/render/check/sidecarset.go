package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindSidecarSet, object: kruise.SidecarSet{}, plainName: true, filled: true,
	// Fields that a newer Kubernetes has, and our types lack, are no faults.
	open: []string{"spec.containers", "spec.initContainers", "spec.volumes"},
	closed: []string{
		"spec.containers.resourcesPolicy", "spec.containers.shareVolumePolicy", "spec.containers.shareVolumeDevicePolicy",
		"spec.containers.transferEnv", "spec.containers.upgradeStrategy",
		"spec.initContainers.resourcesPolicy", "spec.initContainers.shareVolumePolicy", "spec.initContainers.shareVolumeDevicePolicy",
		"spec.initContainers.transferEnv", "spec.initContainers.upgradeStrategy",
	},
	check: sidecarSet,
})

// sidecarSetCheck gathers the faults of one SidecarSet, by the rules of Kruise's webhook
// (docs/kruise/sidecarset.md#what-is-refused and docs/kruise/sidecarset.md#observed-on-a-cluster).
// Paths are the same in both versions, but for the namespaces.
type sidecarSetCheck struct {
	*subject
	hub  *tree.Node
	spec *tree.Node
}

func sidecarSet(s *subject) {
	var set kruise.SidecarSet
	if !s.read(&set) {
		return
	}
	hub := newest(s.r)
	k := &sidecarSetCheck{subject: s, hub: hub, spec: tree.Get(hub, "spec")}
	k.selectors()
	k.containers()
	k.updateStrategy(set.Spec.UpdateStrategy.ScatterStrategy)
	k.revision()
	k.podMetadata()
	k.canary()
	k.conflicts()
	k.change()
}

func (k *sidecarSetCheck) selectors() {
	if tree.Get(k.spec, "selector") == nil {
		k.fault("spec.selector", "", "required: without it the set matches nothing")
	} else {
		k.selector("spec.selector", tree.Get(k.spec, "selector"))
	}
	if n := tree.Get(k.spec, "namespaceSelector"); n != nil {
		k.selector("spec.namespaceSelector", n)
	}
}

// selector wants a valid label selector that is not empty.
func (k *sidecarSetCheck) selector(path string, n *tree.Node) {
	s, err := labelSelector(n)
	if err != nil {
		k.addErrors(err, path)
		return
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		hint := "give matchLabels or matchExpressions"
		if path == "spec.namespaceSelector" {
			hint = "leave it out to mean every namespace"
		}
		k.fault(path, hint, "an empty selector is not valid for a SidecarSet")
		return
	}
	validSelector(k.subject, path, s)
}

// updateType is updateStrategy.type with its default.
func (k *sidecarSetCheck) updateType() string {
	if t := tree.StrAt(k.spec, "updateStrategy", "type"); t != "" {
		return t
	}
	return "RollingUpdate"
}

// updateStrategy is checked unless the type is NotUpdate.
func (k *sidecarSetCheck) updateStrategy(scatter []kruise.UpdateScatterTerm) {
	const path = "spec.updateStrategy"
	n := tree.Get(k.spec, "updateStrategy")
	switch k.updateType() {
	case "NotUpdate":
		return
	case "RollingUpdate":
	default:
		k.c.Findings.Add("sidecarset/ignored-value", k.r, path+".type", "Kruise accepts the type and treats it as RollingUpdate")
	}
	partition := tree.Get(n, "partition")
	if sel := tree.Get(n, "selector"); sel != nil {
		k.selector(path+".selector", sel)
		if v, ok := tree.Int(partition); partition != nil && (!ok || v != 0) {
			k.fault(path, "use one of the two", "selector and partition are mutually exclusive")
		}
	}
	k.amount(path+".partition", partition)
	k.amount(path+".maxUnavailable", tree.Get(n, "maxUnavailable"))
	k.priorities(path+".priorityStrategy", tree.Get(n, "priorityStrategy"))
	scatterTerms(k.subject, path+".scatterStrategy", scatter)
}

// amount wants a number that is not negative, or a percentage.
func (k *sidecarSetCheck) amount(path string, n *tree.Node) {
	if n == nil {
		return
	}
	if v, ok := tree.Int(n); ok {
		if v < 0 {
			k.fault(path, "", "must be greater than or equal to 0, got %d", v)
		}
		return
	}
	if len(validation.IsValidPercent(tree.Str(n))) > 0 {
		k.fault(path, "", "want an integer or a percentage such as 20%%, got %q", tree.Str(n))
	}
}

func (k *sidecarSetCheck) priorities(path string, n *tree.Node) {
	weights, orders := tree.Items(tree.Get(n, "weightPriority")), tree.Items(tree.Get(n, "orderPriority"))
	if len(weights) > 0 && len(orders) > 0 {
		k.fault(path, "use one of the two", "weightPriority and orderPriority are mutually exclusive")
	}
	for i, w := range weights {
		here := fmt.Sprintf("%s.weightPriority[%d]", path, i)
		if v, ok := tree.Int(tree.Get(w, "weight")); !ok || v < 0 || v > 100 {
			k.fault(here+".weight", "", "want 0 to 100")
		}
		if sel := tree.Get(w, "matchSelector"); sel != nil {
			k.selector(here+".matchSelector", sel)
		}
	}
	for i, o := range orders {
		if tree.StrAt(o, "orderedKey") == "" {
			k.fault(fmt.Sprintf("%s.orderPriority[%d].orderedKey", path, i), "", "required")
		}
	}
}

func (k *sidecarSetCheck) revision() {
	const path = "spec.injectionStrategy.revision"
	n := tree.Get(k.spec, "injectionStrategy", "revision")
	if n == nil {
		return
	}
	if p := tree.StrAt(n, "policy"); p != "" && p != "Always" && p != "Partial" {
		k.fault(path+".policy", "", "want Always or Partial, got %q", p)
	}
	name, version := tree.StrAt(n, "revisionName"), tree.StrAt(n, "customVersion")
	if name == "" && version == "" {
		k.fault(path, "", "revisionName or customVersion is required")
		return
	}
	known := k.revisions()
	if inject.HasRevision(known, k.r.Name(), name, version) {
		return
	}
	// Without any revision of the set nothing is known of what is stored, which
	// matters only where it is to be injected.
	if !k.c.Expand(kruise.KindSidecarSet) && !inject.HasRevisions(known, k.r.Name()) {
		k.c.Findings.Add("sidecarset/revision-unknown", k.r, path, "")
		return
	}
	wanted := "customVersion " + version
	if name != "" {
		wanted = "the name " + name
	}
	k.fault(path, "add the ControllerRevision of namespace kruise-system by --with or --live", "no stored revision with %s", wanted)
}

// revisionsKey is the key of the revisions of SidecarSets.
type revisionsKey struct{}

// revisions are those that the facts hold, read once for all sets.
func (k *sidecarSetCheck) revisions() []*inject.Revision {
	f := k.c.Facts
	return resource.Once(f, revisionsKey{}, func() (known []*inject.Revision) {
		for _, r := range f.All("apps", "ControllerRevision") {
			if rev := inject.ReadRevision(r.Node()); rev != nil {
				known = append(known, rev)
			}
		}
		return known
	})
}

// podMetadata checks patchPodMetadata with the whitelist (docs/kruise/sidecarset.md#pod-metadata).
func (k *sidecarSetCheck) podMetadata() {
	entries := tree.Items(tree.Get(k.spec, "patchPodMetadata"))
	if len(entries) == 0 {
		return
	}
	allowed, known := k.whitelist()
	if !known {
		k.c.Findings.Add("sidecarset/whitelist-unknown", k.r, "spec.patchPodMetadata", "")
		k.whitelistMissing()
	}
	seen := map[string]bool{}
	for i, entry := range entries {
		path := fmt.Sprintf("spec.patchPodMetadata[%d]", i)
		annotations := tree.Get(entry, "annotations")
		if !tree.IsMap(annotations) || len(annotations.Content) == 0 {
			k.fault(path+".annotations", "", "required")
		}
		k.patchPolicy(path, entry)
		tree.Each(annotations, func(key, _ *tree.Node) {
			at := path + ".annotations[" + key.Value + "]"
			if seen[key.Value] {
				k.fault(at, "", "annotation %s is in two entries", key.Value)
			}
			seen[key.Value] = true
			if known && !slices.ContainsFunc(allowed, func(r *regexp.Regexp) bool { return r.MatchString(key.Value) }) {
				k.fault(at, "add it to "+kruise.SidecarSetPatchPodMetadataWhiteListKey+" in ConfigMap kruise-configuration", "Kruise's whitelist does not allow annotation %s", key.Value)
			}
		})
	}
}

func (k *sidecarSetCheck) patchPolicy(path string, entry *tree.Node) {
	switch tree.StrAt(entry, "patchPolicy") {
	case "", "Retain", "Overwrite":
	case "MergePatchJson":
		tree.Each(tree.Get(entry, "annotations"), func(key, value *tree.Node) {
			if !json.Valid([]byte(tree.Str(value))) {
				k.c.Findings.Add("sidecarset/merge-not-json", k.r, path+".annotations["+key.Value+"]", "")
			}
		})
	default:
		k.c.Findings.Add("sidecarset/ignored-value", k.r, path+".patchPolicy", "Kruise accepts the policy and writes nothing; so does the renderer")
	}
}

// whitelistMissing reports that the set needs a ConfigMap that is not among the objects: Kruise
// refuses the set without it.
func (k *sidecarSetCheck) whitelistMissing() {
	hint := "create it with " + kruise.SidecarSetPatchPodMetadataWhiteListKey + ", or pass the one of the cluster with --with"
	for _, cm := range k.c.Facts.All("", "ConfigMap") {
		if cm.Name() == kruise.ConfigurationName {
			hint = "it must be in namespace " + kruise.DefaultNamespace + ": there is one in " + k.c.Facts.NamespaceOf(cm)
		}
	}
	k.releaseFault("sidecarset/pod-metadata-invalid", !k.Known, "spec.patchPodMetadata", hint,
		"Kruise refuses patchPodMetadata without a whitelist in ConfigMap %s/%s", kruise.DefaultNamespace, kruise.ConfigurationName)
	k.faults[len(k.faults)-1].Accepted = !k.Known
}

// whitelist returns the expressions that apply to this set; known is false if the ConfigMap is
// not in the facts: it may be in the cluster.
func (k *sidecarSetCheck) whitelist() (allowed []*regexp.Regexp, known bool) {
	cm := k.configuration()
	if cm == nil {
		return nil, false
	}
	text := tree.StrAt(cm, "data", kruise.SidecarSetPatchPodMetadataWhiteListKey)
	if text == "" {
		return nil, true
	}
	allowed, err := expressions(text, k.r.Labels())
	if err != nil {
		k.fault("spec.patchPodMetadata", "", "%s of ConfigMap "+kruise.ConfigurationName+": %v", kruise.SidecarSetPatchPodMetadataWhiteListKey, err)
	}
	return allowed, err == nil
}

func expressions(text string, own map[string]string) ([]*regexp.Regexp, error) {
	var list struct {
		Rules []struct {
			Selector *metav1.LabelSelector `json:"selector"`
			Keys     []string              `json:"allowedAnnotationKeyExprs"`
		} `json:"rules"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	var out []*regexp.Regexp
	var errs []error
	for _, rule := range list.Rules {
		if rule.Selector != nil {
			sel, err := metav1.LabelSelectorAsSelector(rule.Selector)
			errs = append(errs, err)
			if err != nil || !sel.Matches(labels.Set(own)) {
				continue
			}
		}
		for _, expr := range rule.Keys {
			re, err := regexp.Compile(expr)
			errs = append(errs, err)
			if err == nil {
				out = append(out, re)
			}
		}
	}
	return out, errors.Join(errs...)
}

// baseOf returns the set whose canary n is, "" if n is not a canary.
func baseOf(n *tree.Node) string {
	if tree.StrAt(n, "metadata", "annotations", kruise.SidecarSetCanaryAnnotation) != "true" {
		return ""
	}
	return tree.StrAt(n, "metadata", "annotations", kruise.SidecarSetBaseAnnotation)
}

// canary checks a canary set. Its base must be known: the canary replaces it in some pods.
func (k *sidecarSetCheck) canary() {
	if tree.StrAt(k.hub, "metadata", "annotations", kruise.SidecarSetCanaryAnnotation) != "true" {
		return
	}
	const path = "metadata.annotations[" + kruise.SidecarSetBaseAnnotation + "]"
	name := baseOf(k.hub)
	if k.updateType() != "NotUpdate" {
		k.fault("spec.updateStrategy.type", "", "a canary SidecarSet needs type NotUpdate")
	}
	if name == "" {
		k.fault("metadata.annotations["+kruise.SidecarSetCanaryAnnotation+"]", "name the base set in "+kruise.SidecarSetBaseAnnotation, "a canary SidecarSet needs a base")
		return
	}
	base := k.c.Facts.Find(resource.ID{Group: kruise.Group, Kind: kruise.KindSidecarSet, Name: name})
	switch {
	case name == k.r.Name():
		k.fault(path, "", "a SidecarSet cannot be its own canary")
	case base == nil:
		k.fault(path, "add it to the input, or by --with or --live", "base SidecarSet %s is not known", name)
	case tree.StrAt(base.Node(), "metadata", "annotations", kruise.SidecarSetCanaryAnnotation) == "true":
		k.fault(path, "", "base SidecarSet %s is itself a canary", name)
	}
}

// change refuses changes of immutable fields, if the existing set is known.
func (k *sidecarSetCheck) change() {
	old := k.Old
	if old == nil {
		return
	}
	for i, n := range tree.Items(tree.Get(k.spec, "containers")) {
		path := fmt.Sprintf("spec.containers[%d]", i)
		name := tree.StrAt(n, "name")
		before, _ := tree.Find(tree.Get(old.Node(), "spec", "containers"), "name", name)
		switch {
		case before == nil:
			k.immutableFault(path+".name", "delete and create the set, or put the container into another set",
				"container %s cannot be added to an existing set", name)
		case upgradeType(before) != upgradeType(n):
			k.immutableFault(path+".upgradeStrategy.upgradeType", "", "cannot be changed from %s to %s", upgradeType(before), upgradeType(n))
		}
	}
	if was, is := baseOf(old.Node()), baseOf(k.hub); was != "" && was != is {
		k.immutableFault("metadata.annotations["+kruise.SidecarSetBaseAnnotation+"]", "", "the base of a canary cannot be changed from %q to %q", was, is)
	}
}

func upgradeType(container *tree.Node) string {
	if t := tree.StrAt(container, "upgradeStrategy", "upgradeType"); t != "" {
		return t
	}
	return "ColdUpgrade"
}
