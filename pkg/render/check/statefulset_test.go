package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// advancedSet has these lines in its spec.
func advancedSet(name, lines string) string {
	return `---
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: ` + name + `, namespace: shop}
spec:
  ` + lines + `
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
`
}

func TestStatefulSet_Rules(t *testing.T) {
	gated := strings.Replace(advancedSet("web", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}"), "spec: {containers", "spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], containers", 1)
	tests := []struct{ name, input, field, text string }{
		{"minimal", advancedSet("web", "replicas: 1"), "", ""},
		{"on delete", advancedSet("web", "updateStrategy: {type: OnDelete}"), "", ""},
		{"in place with the gate", gated, "", ""},
		{"parallel", advancedSet("web", "podManagementPolicy: Parallel\n  scaleStrategy: {maxUnavailable: 2}\n  updateStrategy: {rollingUpdate: {maxUnavailable: 50%, unorderedUpdate: {}, minReadySeconds: 300}}"), "", ""},
		{"reserved ranges", advancedSet("web", "reserveOrdinals: [1, 5-7]"), "", ""},
		{"reserved number as text", advancedSet("web", "reserveOrdinals: [1, '3']"), "spec.reserveOrdinals[1]", "not a range"},
		{"dotted name", advancedSet("a.b", "replicas: 1"), "metadata.name", "not a name of a StatefulSet"},
		{"long name", advancedSet(strings.Repeat("a", 64), "replicas: 1"), "metadata.name", "not a name of a StatefulSet"},
		{"one by one", advancedSet("web", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}"), "", ""},
		{"in place without the gate", advancedSet("web", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}"), "spec.template.spec.readinessGates", "InPlaceUpdateReady"},
		{"policy", advancedSet("web", "updateStrategy: {rollingUpdate: {podUpdatePolicy: Magic}}"), "spec.updateStrategy.rollingUpdate.podUpdatePolicy", "Magic"},
		{"type", advancedSet("web", "updateStrategy: {type: InPlaceOnly}"), "spec.updateStrategy.type", "want RollingUpdate or OnDelete"},
		{"rolling beside on delete", advancedSet("web", "updateStrategy: {type: OnDelete, rollingUpdate: {}}"), "spec.updateStrategy.rollingUpdate", "no rollingUpdate"},
		{"partition", advancedSet("web", "updateStrategy: {rollingUpdate: {partition: -2}}"), "spec.updateStrategy.rollingUpdate.partition", "negative"},
		{"min ready", advancedSet("web", "updateStrategy: {rollingUpdate: {minReadySeconds: 301}}"), "spec.updateStrategy.rollingUpdate.minReadySeconds", "between 0 and 300"},
		{"management", advancedSet("web", "podManagementPolicy: Sometimes"), "spec.podManagementPolicy", "OrderedReady"},
		{"retention", advancedSet("web", "persistentVolumeClaimRetentionPolicy: {whenScaled: Archive}"), "spec.persistentVolumeClaimRetentionPolicy.whenScaled", "want Retain or Delete"},
		{"reserved", advancedSet("web", "reserveOrdinals: [2, -1]"), "spec.reserveOrdinals[1]", "negative"},
		{"reserved range", advancedSet("web", "reserveOrdinals: [5-3]"), "spec.reserveOrdinals[0]", "not a range"},
		{"reserved text", advancedSet("web", "reserveOrdinals: [a-3]"), "spec.reserveOrdinals[0]", "not a range"},
		{"start", advancedSet("web", "ordinals: {start: -1}"), "spec.ordinals.start", "negative"},
		{"replicas", advancedSet("web", "replicas: -1"), "spec.replicas", "negative"},
		{"no pod can be updated", advancedSet("web", "podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {maxUnavailable: 0}}"), "spec.updateStrategy.rollingUpdate.maxUnavailable", "no pod can be updated"},
		{"priority", advancedSet("web", "podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: ''}]}}}}"), "spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority[0].orderedKey", "required"},
		{"claim without a name", advancedSet("web", "volumeClaimTemplates: [{spec: {}}]"), "spec.volumeClaimTemplates[0].metadata.name", "needs a name"},
		{"claim update", advancedSet("web", "volumeClaimUpdateStrategy: {type: Always}"), "spec.volumeClaimUpdateStrategy.type", "OnPodRollingUpdate"},
		{"unordered", advancedSet("web", "updateStrategy: {rollingUpdate: {unorderedUpdate: {}}}"), "spec.updateStrategy.rollingUpdate.unorderedUpdate", "Parallel"},
		{"ordered percentage", advancedSet("web", "updateStrategy: {rollingUpdate: {maxUnavailable: 20%}}"), "spec.updateStrategy.rollingUpdate.maxUnavailable", "20%"},
		{"ordered scaling", advancedSet("web", "scaleStrategy: {maxUnavailable: 2}"), "spec.scaleStrategy.maxUnavailable", "Parallel"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			err := checked(t, tc.input, "")
			if tc.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refused(t, err, tc.field, tc.text)
		})
	}
}

// TestStatefulSet_Updates: docs/kruise/workloads.md#when-it-is-impossible and
// docs/kruise/workloads.md#advanced-statefulset.
func TestStatefulSet_Updates(t *testing.T) {
	const inPlace = "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}"
	gate := []string{"spec: {containers", "spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], containers"}
	rulings(t, edited(t, advancedSet("web", inPlace), gate), []ruling{
		{name: "image", edit: []string{"web:1", "web:2"}, old: []string{}},
		{name: "as stored", old: []string{"web:1\"", "web:1\", imagePullPolicy: Always, terminationMessagePath: /dev/termination-log"}},
		{name: "args", edit: []string{"web:1\"", "web:1\", args: [x]"}, old: []string{}, want: "statefulset/in-place-impossible spec.template.spec"},
		{name: "selector", edit: []string{"{app: web}}", "{app: web, a: b}}", "{labels: {app: web}}", "{labels: {app: web, a: b}}"}, old: []string{}, want: "object/immutable-field spec.selector"},
		{name: "service", edit: []string{"  selector", "  serviceName: x\n  selector"}, old: []string{}, want: "object/immutable-field spec.serviceName"},
		{name: "management", edit: []string{"  selector", "  podManagementPolicy: Parallel\n  selector"}, old: []string{}, want: "object/immutable-field spec.podManagementPolicy"},
		{name: "claims and ordinals", edit: []string{"  selector", "  reserveOrdinals: [1]\n  volumeClaimTemplates: [{metadata: {name: d}}]\n  selector"}, old: []string{}},
	})
}

// TestMade_ReportsEachFaultOnce: what is made is checked, what was given is not, and copies share
// one fault.
func TestMade_ReportsEachFaultOnce(t *testing.T) {
	const bad = "updateStrategy: {type: InPlaceOnly}"
	in := golden.Parse(t, advancedSet("given", bad))
	first := golden.Parse(t, advancedSet("web-a", bad))[0]
	second := golden.Parse(t, advancedSet("web-b", bad))[0]
	other := golden.Parse(t, advancedSet("web-c", "updateStrategy: {type: InPlaceIfPossible}"))[0]
	err := check.Made(stage.New(resource.NewFacts(in, nil, ""), stage.Options{}), in, append(in, first, second, other))
	var list resource.Errors
	list.Add(err)
	if len(list) != 2 || !strings.Contains(list[0].Error(), "web-a") || !strings.Contains(list[1].Error(), "web-c") {
		t.Errorf("faults %v, want those of web-a and web-c", err)
	}
}
