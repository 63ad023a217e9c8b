package kruise

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// exceptions are what Go types cannot say, by kind and field: values that the API
// server itself refuses or fills in, and what it does not look into.
var exceptions = map[string]map[string]func(*schema){
	"AdvancedCronJob": {"spec.concurrencyPolicy": oneOf("Allow", "Forbid", "Replace")},
	"CloneSet": {
		"spec.scaleStrategy.enablePVCReuse": preset(false),
		"spec.volumeClaimTemplates":         whatever,
	},
	"ContainerRecreateRequest": {
		"spec.activeDeadlineSeconds":                  least(0),
		"spec.ttlSecondsAfterFinished":                least(0),
		"spec.strategy.failurePolicy":                 oneOf("Fail", "Ignore"),
		"spec.strategy.minStartedSeconds":             least(0),
		"spec.strategy.terminationGracePeriodSeconds": least(0),
		"spec.strategy.unreadyGracePeriodSeconds":     least(0),
		"status.phase":                                oneOf("Pending", "Recreating", "Succeeded", "Failed", "Completed"),
		"status.containerRecreateStates.[].phase":     oneOf("Pending", "Recreating", "Succeeded", "Failed", "Completed"),
	},
	"PersistentPodState": {
		"spec.persistentPodStateRetentionPolicy":     oneOf("WhenScaled", "WhenDeleted"),
		"spec.preferredPersistentTopology.[].weight": least(0),
	},
	"PodUnavailableBudget": {
		"spec.targetRef":            func(s *schema) { s.Required = nil },
		"spec.protectOperations.[]": oneOf("DELETE", "UPDATE", "EVICT", "RESIZE"),
		"spec.protectTotalReplicas": least(1),
	},
	"ResourceDistribution": {"spec.resource": func(s *schema) { s.XEmbeddedResource = true }},
	"SidecarSet": {"spec.injectionStrategy.revision.policy": func(s *schema) {
		oneOf("Always", "Partial")(s)
		preset("Always")(s)
	}},
	"UnitedDeployment": {
		"spec.template.statefulSetTemplate.metadata":                       keepUnknown,
		"spec.template.advancedStatefulSetTemplate.metadata":               keepUnknown,
		"spec.template.cloneSetTemplate.metadata":                          keepUnknown,
		"spec.template.deploymentTemplate.metadata":                        keepUnknown,
		"spec.template.cloneSetTemplate.spec.scaleStrategy.enablePVCReuse": preset(false),
		"spec.topology.scheduleStrategy.type":                              oneOf("Adaptive", "Fixed", ""),
		"spec.updateStrategy.type":                                         oneOf("Manual", ""),
	},
	"WorkloadSpread": {"spec.scheduleStrategy.type": oneOf("Adaptive", "Fixed", "")},
}

// looser are the kinds whose older version lacks the limits and defaults above.
var looser = map[string]bool{
	"CloneSet": true, "ContainerRecreateRequest": true, "PersistentPodState": true, "PodUnavailableBudget": true,
}

func keepUnknown(s *schema) { s.XPreserveUnknownFields = new(true) }

// whatever takes lists too.
func whatever(s *schema) { *s = schema{XPreserveUnknownFields: new(true)} }

// unlimited takes limits and defaults away.
func unlimited(s *schema) { s.Enum, s.Default, s.Minimum = nil, nil, nil }

func least(n float64) func(*schema) { return func(s *schema) { s.Minimum = &n } }

func oneOf(values ...string) func(*schema) {
	return func(s *schema) {
		for _, v := range values {
			s.Enum = append(s.Enum, *literal(v))
		}
	}
}

func preset(v any) func(*schema) { return func(s *schema) { s.Default = literal(v) } }

// literal is a value as a schema holds it. Texts and booleans always can be.
func literal(v any) *apiextensionsv1.JSON {
	raw, _ := json.Marshal(v)
	return &apiextensionsv1.JSON{Raw: raw}
}

// edit changes the schema of a field.
func edit(s *schema, path []string, change func(*schema)) bool {
	if len(path) == 0 {
		change(s)
		return true
	}
	for _, c := range children(s) {
		if c.step == path[0] {
			done := edit(c.schema, path[1:], change)
			c.put(c.schema)
			return done
		}
	}
	return false
}
