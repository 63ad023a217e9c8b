package kruise

import (
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
func preDownload(annotation, name string, parse func(string) *tree.Node) field {
	return annotated{annotation, rollingStrategy + ".inPlaceUpdateStrategy." + name, true, parse}
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
			c.lose(podUpdatePolicy, "%s keeps none of rollingUpdate beside OnDelete", c.to)
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
// stand as v1alpha1 has them; shown is where the object read has them.
func (c *conversion) dropRolling(shown string) {
	for _, name := range rollingFields {
		if c.take("spec.updateStrategy."+name) != nil {
			c.lose(shown+name, "%s keeps none of rollingUpdate beside OnDelete", c.to)
		}
	}
}

const excluding = "spec.scaleStrategy.excludePreparingDelete"

// excludingLabel is a label in v1alpha1, and a field in v1beta1.
type excludingLabel struct{}

func (excludingLabel) names() moved {
	return moved{older: labels + "[" + CloneSetScalingExcludePreparingDeleteLabel + "]", newer: excluding}
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

// down: Kruise neither writes the label nor removes it, so the field is lost where
// the label says otherwise.
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
	return tree.StrAt(c.get(labels), CloneSetScalingExcludePreparingDeleteLabel) == "true"
}
