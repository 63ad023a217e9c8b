package kruise

import (
	"encoding/json"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const (
	strategyType    = "spec.updateStrategy.type"
	rollingStrategy = "spec.updateStrategy.rollingUpdate"
	podUpdatePolicy = rollingStrategy + ".podUpdatePolicy"
)

// rollingFields are what v1alpha1 has one level higher.
var rollingFields = []string{
	"partition", "maxUnavailable", "maxSurge", "paused",
	"priorityStrategy", "scatterStrategy", "inPlaceUpdateStrategy",
}

var cloneSetFields = slices.Concat(
	[]field{cloneSetType{}},
	inStrategy(rollingFields...),
	[]field{
		inverted{"spec.scaleStrategy.disablePVCReuse", "spec.scaleStrategy.enablePVCReuse"},
		excludingLabel{},
		preDownload(ImagePreDownloadParallelismAnnotation, "imagePreDownloadParallelism", numberOrText),
		preDownload(ImagePreDownloadTimeoutSecondsAnnotation, "imagePreDownloadTimeoutSeconds", number),
		preDownload(ImagePreDownloadMinUpdatedReadyPodsAnnotation, "imagePreDownloadMinUpdatedReadyPods", number),
	},
)

func inStrategy(names ...string) []field {
	rows := make([]field, len(names))
	for i, name := range names {
		rows[i] = moved{"", "spec.updateStrategy." + name, rollingStrategy + "." + name}
	}
	return rows
}

// preDownload is a field that v1alpha1 reads from an annotation of the
// CloneSet, although its schema has the field too.
func preDownload(annotation, name string, as form) field {
	return annotated{annotation, rollingStrategy + ".inPlaceUpdateStrategy." + name, true, as}
}

// cloneSetType is the one type of v1alpha1, which v1beta1 splits: OnDelete
// stays, all others are policies of RollingUpdate.
type cloneSetType struct{}

func (cloneSetType) names() moved { return moved{older: strategyType, newer: podUpdatePolicy} }

func (cloneSetType) up(c *conversion) {
	if c.get(podUpdatePolicy) != nil {
		c.stray(podUpdatePolicy)
		c.take(podUpdatePolicy)
	}
	t := c.get(strategyType)
	if tree.Str(t) == string(OnDeleteCloneSetStrategyType) {
		c.dropRolling("spec.updateStrategy.")
		return
	}
	if t == nil || tree.Str(t) == "" && tree.IsScalar(t) {
		t = tree.String(string(RecreateCloneSetPodUpdateStrategyType))
	}
	c.set(podUpdatePolicy, t)
	c.set(strategyType, tree.String(string(RollingUpdateCloneSetStrategyType)))
}

// down runs last, when the other fields have left rollingUpdate.
func (cloneSetType) down(c *conversion) {
	if tree.Str(c.get(strategyType)) == string(OnDeleteCloneSetStrategyType) {
		if c.take(podUpdatePolicy) != nil {
			c.lose(podUpdatePolicy, "%s drops rollingUpdate when the type is OnDelete", c.to)
		}
		c.dropRolling(rollingStrategy + ".")
		return
	}
	policy := c.take(podUpdatePolicy)
	if policy == nil {
		policy = tree.String(string(RecreateCloneSetPodUpdateStrategyType))
	}
	c.set(strategyType, policy)
}

// dropRolling removes the fields of a rolling update, which at this moment
// are as v1alpha1 has them; shown is where the object read has them.
func (c *conversion) dropRolling(shown string) {
	for _, name := range rollingFields {
		if c.take("spec.updateStrategy."+name) != nil {
			c.lose(shown+name, "%s drops rollingUpdate when the type is OnDelete", c.to)
		}
	}
}

const excluding = "spec.scaleStrategy.excludePreparingDelete"

// excludingLabel is a label in v1alpha1, and a field in v1beta1.
type excludingLabel struct{}

func (excludingLabel) names() moved {
	return moved{older: labelsPath + "[" + CloneSetScalingExcludePreparingDeleteLabel + "]", newer: excluding}
}

func (excludingLabel) up(c *conversion) {
	if c.get(excluding) != nil {
		c.stray(excluding)
		c.take(excluding)
	}
	if c.excludedByLabel() {
		c.set(excluding, tree.Boolean(true))
	}
}

// down: Kruise neither writes the label nor removes it, so the field is lost if the label differs.
func (excludingLabel) down(c *conversion) {
	const why = "%s reads the label %s instead, which is %s"
	field := c.take(excluding)
	switch said, label := tree.Bool(field), c.excludedByLabel(); {
	case said && !label:
		c.lose(excluding, why, c.to, CloneSetScalingExcludePreparingDeleteLabel, "not set")
	case label && field != nil && !said:
		c.lose(excluding, why, c.to, CloneSetScalingExcludePreparingDeleteLabel, "set")
	}
}

func (c *conversion) excludedByLabel() bool {
	return tree.StrAt(c.get(labelsPath), CloneSetScalingExcludePreparingDeleteLabel) == "true"
}

var daemonSetFields = []field{
	surging{},
	annotated{annotation: ProgressiveCreatePodAnnotation, field: "spec.scaleStrategy.partitionedScaling", as: whenTrue},
	moved{"status", "daemonSetHash", "updateRevision"},
}

// surging: v1beta1 has no Surging. Kruise's webhook writes maxSurge 1 and
// maxUnavailable 0 beside it, its conversion does not.
type surging struct{ oneWay }

func (surging) up(c *conversion) {
	const rolling = "spec.updateStrategy.rollingUpdate"
	const path = rolling + ".rollingUpdateType"
	if tree.Str(c.get(path)) != "Surging" {
		return
	}
	if c.deciding && c.get(rolling+".maxSurge") == nil && c.get(rolling+".maxUnavailable") == nil {
		c.set(rolling+".maxSurge", tree.Int64(1))
		c.set(rolling+".maxUnavailable", tree.Int64(0))
	}
	c.set(path, tree.String(string(StandardRollingUpdateType)))
	c.lose(path, "%s has no Surging: Standard with maxSurge 1 and maxUnavailable 0 does the same", c.to)
}

const subsetStatuses = "status.subsetStatuses"

var unitedDeploymentFields = []field{
	perSubset{"status.subsetReplicas", "replicas"},
	perSubset{"status.updateStatus.currentPartitions", "partition"},
	moved{"status", "updateStatus.updatedRevision", "updatedRevision"},
	emptyUpdateStatus{},
}

// perSubset is a number that v1alpha1 keeps in a mapping by subset, and
// v1beta1 in the subset's status. v1alpha1 has the statuses too.
type perSubset struct{ mapping, field string }

func (p perSubset) up(c *conversion) {
	numbers := c.take(p.mapping)
	tree.Each(numbers, func(name, value *tree.Node) {
		c.ensureSubset(name.Value)
		c.each(subsetStatuses+"[]", func(s *tree.Node, _ string) {
			if tree.StrAt(s, "name") == name.Value && !tree.Has(s, p.field) {
				tree.Set(s, p.field, value)
			}
		})
	})
}

func (p perSubset) down(c *conversion) {
	numbers := tree.Map()
	for _, s := range tree.Items(c.get(subsetStatuses)) {
		if v := tree.Get(s, p.field); v != nil && tree.StrAt(s, "name") != "" {
			tree.Set(numbers, tree.StrAt(s, "name"), v)
		}
	}
	if len(numbers.Content) > 0 {
		c.set(p.mapping, numbers)
	}
}

// emptyUpdateStatus removes a status that was empty in the source, too.
type emptyUpdateStatus struct{ oneWay }

func (emptyUpdateStatus) up(c *conversion) {
	if v := c.get("status.updateStatus"); v == nil || empty(v) {
		c.take("status.updateStatus")
	}
}

// ensureSubset makes a status for the subset where there is none.
func (c *conversion) ensureSubset(name string) {
	list := c.get(subsetStatuses)
	if s, _ := tree.Find(list, "name", name); s == nil {
		c.set(subsetStatuses, tree.Seq(append(slices.Clone(tree.Items(list)), tree.Map("name", name))...))
	}
}

var sidecarSetFields = []field{
	oneNamespace{},
	customVersionLabel{},
}

// oneNamespace reads the one namespace of v1alpha1 as a selector, which is not
// turned back: the selector means the same. It wins over another selector.
type oneNamespace struct{ oneWay }

func (oneNamespace) up(c *conversion) {
	const selector = "spec.namespaceSelector"
	c.forgetNull(c.root, steps("spec.namespace"))
	ns := c.get("spec.namespace")
	if !tree.IsScalar(ns) {
		return // the value is missing, or it is not a text and stays for the decoder
	}
	c.take("spec.namespace")
	if tree.Str(ns) == "" {
		return
	}
	if c.take(selector) != nil {
		c.lose(selector, "spec.namespace wins over it")
	}
	c.set(selector, tree.Map("matchLabels", tree.Map(NamespaceNameLabel, ns)))
}

const customVersion = "spec.customVersion"

// customVersionLabel is a field that v1alpha1 keeps in a label.
type customVersionLabel struct{}

func (customVersionLabel) up(c *conversion) {
	if c.get(customVersion) != nil {
		c.stray(customVersion)
		c.take(customVersion)
	}
	if v := c.unmark(labelsPath, SidecarSetCustomVersionLabel); v != nil {
		c.set(customVersion, v)
	}
}

func (customVersionLabel) down(c *conversion) {
	if v := c.take(customVersion); v != nil {
		c.mark(labelsPath, SidecarSetCustomVersionLabel, v)
	}
}

const snapshot = "status.containerStatusSnapshot"

var containerRecreateFields = []field{
	snapshotAnnotation{},
	graceAnnotation{},
}

// snapshotAnnotation is kept as JSON in v1alpha1.
type snapshotAnnotation struct{}

// up reads the JSON that v1alpha1 keeps in an annotation. Text that is
// no JSON stays where it is.
func (snapshotAnnotation) up(c *conversion) {
	var list []any
	text := tree.StrAt(c.get(annotationsPath), containerRecreateSyncStatusesAnnotation)
	if text == "" || json.Unmarshal([]byte(text), &list) != nil {
		return
	}
	c.unmark(annotationsPath, containerRecreateSyncStatusesAnnotation)
	c.set(snapshot, tree.FromValue(list))
}

// down writes the annotation as Kruise does, its keys in the order of the
// type; what the type does not know comes sorted.
func (snapshotAnnotation) down(c *conversion) {
	v := c.take(snapshot)
	if v == nil {
		return
	}
	var list []ContainerRecreateRequestContainerStatusSnapshot
	write := any(&list)
	if unknown, err := tree.Decode(v, &list); err != nil || len(unknown) > 0 {
		write = tree.Value(v)
	}
	b, err := json.Marshal(write)
	if err != nil { // tree.Value returns nothing that cannot be marshalled
		c.absent(snapshot)
		return
	}
	c.annotate(containerRecreateSyncStatusesAnnotation, string(b))
}

// graceAnnotation is a time that v1alpha1 keeps in an annotation.
type graceAnnotation struct{}

// up reads the time at which the pod was taken out of service.
func (graceAnnotation) up(c *conversion) {
	at := c.unmark(annotationsPath, containerRecreateUnreadyAcquiredAnnotation)
	if at == nil {
		return
	}
	c.set("status.conditions", tree.Seq(tree.Map(
		"type", ContainerRecreatePreRecreateGrace, "status", "True", "lastTransitionTime", at,
		"reason", ContainerRecreatePreRecreateGrace, "message", "")))
}

func (graceAnnotation) down(c *conversion) {
	for _, cond := range tree.Items(c.take("status.conditions")) {
		if at := tree.StrAt(cond, "lastTransitionTime"); at != "" && tree.StrAt(cond, "type") == ContainerRecreatePreRecreateGrace {
			c.annotate(containerRecreateUnreadyAcquiredAnnotation, at)
		} else {
			c.lose("status.conditions", "%s has no conditions, %s is dropped", c.to, tree.StrAt(cond, "type"))
		}
	}
}
