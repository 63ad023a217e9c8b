package create

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// byPath are, for each kind, values of the fields that have no flag of their own: rules
// and parts of pods, which --set writes as YAML. Every other field has a flag; a test
// holds that against the kinds.
var byPath = map[string][]string{
	kruise.KindBroadcastJob: {"spec.template.spec.tolerations=[{operator: Exists}]"},
	"Job": {
		"spec.template.spec.tolerations=[{operator: Exists}]",
		"spec.podFailurePolicy={rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}",
		"spec.successPolicy={rules: [{succeededCount: 1}]}",
		"spec.scheduling={schedulingPolicy: {basic: {}}}",
		"spec.manualSelector=true",
		"spec.selector={matchLabels: {job: report}}",
	},
	kruise.KindSidecarSet: {
		"spec.volumes=[{name: logs, emptyDir: {}}]",
		"spec.containers[0].env=[{name: MODE, value: fast}]",
		"spec.containers[0].transferEnv=[{sourceContainerName: app, envName: MODE}]",
		"spec.containers[0].resourcesPolicy={targetContainersMode: sum, resourcesExpr: {limits: {cpu: 50%*cpu}}}",
		"spec.initContainers=[{name: setup, image: registry.example.com/setup:1, podInjectPolicy: AfterAppContainer}]",
		"spec.updateStrategy.priorityStrategy={orderPriority: [{orderedKey: order}]}",
	},
}

// tellByPath adds those of a kind to the help of its command.
func tellByPath(c *cobra.Command, kind string) {
	if len(byPath[kind]) == 0 {
		return
	}
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	c.Long += "\n\nFields without a flag of their own are set by path, for instance:\n"
	for _, value := range byPath[kind] {
		c.Long += "\n  --set '" + value + "'"
	}
	c.Long = strings.TrimSpace(c.Long)
}
