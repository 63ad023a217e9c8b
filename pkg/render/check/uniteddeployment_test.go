package check_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// united returns a UnitedDeployment with this kind of template. Each pair of
// edit replaces a part of it.
func united(template string, edit ...string) string {
	selector := ""
	if template == "cloneSetTemplate" || template == "advancedStatefulSetTemplate" {
		selector = "\n        selector: {matchLabels: {app: web}}"
	}
	s := fmt.Sprintf(`apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    %s:
      metadata: {labels: {app: web}}
      spec:%s
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: "example.com/web:1"}]}
  topology:
    subsets:
    - {name: a}
    - {name: b}
`, template, selector)
	for i := 0; i+1 < len(edit); i += 2 {
		if !strings.Contains(s, edit[i]) {
			panic("the UnitedDeployment has no " + edit[i])
		}
		s = strings.Replace(s, edit[i], edit[i+1], 1)
	}
	return s
}

const (
	sets, advanced, clones, deployments = "statefulSetTemplate", "advancedStatefulSetTemplate", "cloneSetTemplate", "deploymentTemplate"

	subsetA, subsetB = "- {name: a}", "- {name: b}"
	workloadSpec     = "      spec:\n"
	topologyField    = "  topology:\n"
)

// ofSpec puts a line into the spec of the workload template.
func ofSpec(template, line string) string {
	return united(template, "        template:\n", "        "+line+"\n        template:\n")
}

func subsetsOf(template, a, b string) string {
	return united(template, subsetA, "- "+a, subsetB, "- "+b)
}

func TestUnitedDeployment_Accepted(t *testing.T) {
	adaptive := united(clones, topologyField, topologyField+"    scheduleStrategy: {type: Adaptive, adaptive: {reserveUnschedulablePods: true}}\n")
	for name, input := range map[string]string{
		"clone sets":                        united(clones),
		"deployments":                       united(deployments),
		"stateful sets without a selector":  united(sets),
		"advanced":                          united(advanced),
		"alpha":                             united(clones, "v1beta1", "v1alpha1"),
		"no replicas":                       united(clones, "  replicas: 6\n", ""),
		"no replicas, one specified":        united(clones, "  replicas: 6\n", "", subsetA, "- {name: a, replicas: 1}"),
		"numbers and percentages":           subsetsOf(clones, "{name: a, replicas: 50%}", "{name: b, replicas: 3}"),
		"limits":                            subsetsOf(clones, "{name: a, minReplicas: 1, maxReplicas: 50%}", "{name: b}"),
		"replicas inside cloneSetTemplate":  ofSpec(clones, "replicas: 3"),
		"labels of cloneSetTemplate differ": united(clones, "metadata: {labels: {app: web}}", "metadata: {labels: {app: other}}"),
		"partition without a type":          ofSpec(sets, "updateStrategy: {rollingUpdate: {partition: 1}}"),
		"partition of cloneSetTemplate":     ofSpec(clones, "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}"),
		"adaptive with reservation":         adaptive,
		"partitions":                        united(clones, topologyField, "  updateStrategy: {type: Manual, manualUpdate: {partitions: {a: 2}}}\n"+topologyField),
		"unknown in the pod template":       united(clones, "{containers:", "{future: 1, containers:"),
		"unknown in a StatefulSet's spec":   ofSpec(sets, "future: 1"),
		"generated name":                    united(clones, "name: web,", "generateName: web-,"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := checked(t, input, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnitedDeployment_Refused(t *testing.T) {
	upTo, _, _ := strings.Cut(united(clones), "  template:\n")
	_, rest, _ := strings.Cut(united(clones), topologyField)
	adaptively := topologyField + "    scheduleStrategy: {type: Adaptive}\n"
	many := "- {name: x0}"
	for i := range 1000 {
		many += fmt.Sprintf("\n    - {name: x%d}", i+1)
	}
	tests := []struct{ name, input, field, text string }{
		{"no selector", united(clones, "selector: {matchLabels: {app: web}}", "selector: {}"), "spec.selector", "empty selector"},
		{"bad selector", united(deployments, "{matchLabels: {app: web}}", "{matchExpressions: [{key: app, operator: Like}]}"), "spec.selector.matchExpressions[0].operator", "Like"},
		{"bad name", united(clones, "name: web,", "name: Web,"), "metadata.name", "not a name"},
		{"no template", upTo + topologyField + rest, "spec.template", "required"},
		{"two templates", united(clones, "  topology:\n", "    deploymentTemplate: {metadata: {labels: {app: web}}, spec: {template: {metadata: {labels: {app: web}}}}}\n  topology:\n"), "spec.template", "cloneSetTemplate and deploymentTemplate"},
		{"no selector in the clone set", united(clones, "\n        selector: {matchLabels: {app: web}}", ""), "spec.template.cloneSetTemplate.spec.selector", "required"},
		{"no selector in the stateful set", united(advanced, "\n        selector: {matchLabels: {app: web}}", ""), "spec.template.advancedStatefulSetTemplate.spec.selector", "required"},
		{"replicas in the template", ofSpec(sets, "replicas: 2"), "spec.template.statefulSetTemplate.spec.replicas", "from its subset"},
		{"replicas in the deployment", ofSpec(deployments, "replicas: 2"), "spec.template.deploymentTemplate.spec.replicas", "from its subset"},
		{"partition in the template", ofSpec(advanced, "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}"), "spec.template.advancedStatefulSetTemplate.spec.updateStrategy.rollingUpdate.partition", "from its subset"},
		{"labels", united(deployments, "metadata: {labels: {app: web}}\n      spec", "metadata: {labels: {app: other}}\n      spec"), "spec.template.deploymentTemplate.metadata.labels", "does not match"},
		{"pod labels", united(deployments, "          metadata: {labels: {app: web}}", "          metadata: {}"), "spec.template.deploymentTemplate.spec.template.metadata.labels", "does not match"},

		{"duplicate subset", united(clones, subsetB, subsetA), "spec.topology.subsets[1].name", "two subsets a"},
		{"subset name", united(clones, subsetA, "- {name: Zone_A}"), "spec.topology.subsets[0].name", "RFC 1123"},
		{"subset without a name", united(clones, subsetA, "- {replicas: 1}"), "spec.topology.subsets[0].name", "needs a name"},
		{"too many subsets", united(clones, subsetB, many), "spec.topology.subsets", "1002 subsets are more than the 1000"},
		{"percentage", united(clones, subsetA, "- {name: a, replicas: 120%}"), "spec.topology.subsets[0].replicas", "120%"},
		{"text", united(clones, subsetA, "- {name: a, replicas: many}"), "spec.topology.subsets[0].replicas", "neither a number"},
		{"sum", subsetsOf(clones, "{name: a, replicas: 2}", "{name: b, replicas: 2}"), "spec.topology.subsets", "add up to 4"},
		{"negative", united(clones, "replicas: 6", "replicas: -1"), "spec.replicas", "negative"},
		{"beyond int32", united(clones, "replicas: 6", "replicas: 3000000000"), "spec.replicas", "not allowed"},
		{"all have a maximum", subsetsOf(clones, "{name: a, maxReplicas: 4}", "{name: b, maxReplicas: 3}"), "spec.topology.subsets", "at least one subset"},
		{"replicas and maximum", subsetsOf(clones, "{name: a, replicas: 4}", "{name: b, maxReplicas: 3}"), "spec.topology.subsets[0].replicas", "are mutually exclusive"},
		{"minimum above maximum", subsetsOf(clones, "{name: a, minReplicas: 4, maxReplicas: 3}", "{name: b}"), "spec.topology.subsets[0].minReplicas", "more than its maxReplicas"},
		{"replicas and adaptive", united(clones, topologyField, adaptively, subsetB, "- {name: b, replicas: 1}"), "spec.topology.subsets[1].replicas", "Adaptive"},
		{"schedule type", united(clones, topologyField, topologyField+"    scheduleStrategy: {type: Lucky}\n"), "spec.topology.scheduleStrategy.type", "want Fixed or Adaptive"},
		{"reserving in stateful sets", united(sets, topologyField, topologyField+"    scheduleStrategy: {type: Adaptive, adaptive: {reserveUnschedulablePods: true}}\n"), "spec.topology.scheduleStrategy.adaptive.reserveUnschedulablePods", "StatefulSets"},

		{"update type", united(clones, topologyField, "  updateStrategy: {type: Auto}\n"+topologyField), "spec.updateStrategy.type", "want Manual"},
		{"partition of nobody", united(clones, topologyField, "  updateStrategy: {manualUpdate: {partitions: {c: 1}}}\n"+topologyField), "spec.updateStrategy.manualUpdate.partitions[c]", "no subset c"},
		{"negative partition", united(clones, topologyField, "  updateStrategy: {manualUpdate: {partitions: {a: -1}}}\n"+topologyField), "spec.updateStrategy.manualUpdate.partitions[a]", "negative"},

		{"unknown field", united(clones, "  replicas: 6", "  replicsa: 6"), "spec.replicsa", "unknown field"},
		{"unknown field of the clone set", ofSpec(clones, "updateStrategy: {typo: 1}"), "spec.template.cloneSetTemplate.spec.updateStrategy.typo", "unknown field"},
		{"alpha type", ofSpec(clones, "updateStrategy: {type: InPlaceIfPossible}"), "spec.template.cloneSetTemplate.spec.updateStrategy.type", "creates no workload with it"},
		{"alpha partition", ofSpec(clones, "updateStrategy: {partition: 1}"), "spec.template.cloneSetTemplate.spec.updateStrategy.partition", "unknown field"},
		{"alpha scale strategy", ofSpec(clones, "scaleStrategy: {disablePVCReuse: true}"), "spec.template.cloneSetTemplate.spec.scaleStrategy.disablePVCReuse", "unknown field"},
		{"wrong type", united(clones, "name: a", "name: [a]"), "spec.topology.subsets[0].name", "not allowed"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { refused(t, checked(t, tc.input, ""), tc.field, tc.text) })
	}
}

// refused wants exactly one fault.
func refused(t *testing.T, err error, field, text string) {
	t.Helper()
	var list resource.Errors
	list.Add(err)
	if len(list) != 1 {
		t.Fatalf("%d faults, want one: %v", len(list), err)
	}
	var fault *resource.Error
	if !errors.As(list[0], &fault) {
		t.Fatalf("error %v, want a *resource.Error", err)
	}
	if fault.Field != field || !strings.Contains(fault.Err.Error(), text) || fault.Line == 0 {
		t.Errorf("fault %q, want %q at %s", fault, text, field)
	}
}

// TestUnitedDeployment_Hints: the hint names the field of v1beta1.
func TestUnitedDeployment_Hints(t *testing.T) {
	for line, hint := range map[string]string{
		"updateStrategy: {type: InPlaceOnly}":   "updateStrategy.rollingUpdate.podUpdatePolicy: InPlaceOnly",
		"updateStrategy: {maxUnavailable: 30%}": "updateStrategy.rollingUpdate.maxUnavailable",
		"scaleStrategy: {disablePVCReuse: no}":  "scaleStrategy.enablePVCReuse with the opposite value",
	} {
		var fault *resource.Error
		if err := checked(t, ofSpec(clones, line), ""); !errors.As(err, &fault) || !strings.Contains(fault.Hint, hint) {
			t.Errorf("%s: %v, want the hint %q", line, err, hint)
		}
	}
}

func TestUnitedDeployment_ReportsAllFaults(t *testing.T) {
	err := checked(t, united(sets, subsetA, "- {name: A}", "metadata: {labels: {app: web}}", "metadata: {}", "        template:\n", "        replicas: 1\n        template:\n"), "")
	for _, want := range []string{"subsets[0].name", "spec.replicas", "metadata.labels"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestUnitedDeployment_Updates(t *testing.T) {
	placed := united(clones, subsetA, "- {name: a, nodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}, tolerations: [{key: k}]}")
	stored := united(clones, subsetB, "- {name: b, nodeSelectorTerm: {}}")
	claims := func(template, size, rest string) string {
		return ofSpec(template, "volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: "+size+"}}"+rest+"}}]")
	}
	tests := []struct{ name, before, after, field, text string }{
		{"nothing", placed, placed, "", ""},
		{"defaults", stored, united(clones), "", ""},
		{"a subset added and one removed", united(clones), united(clones, subsetA, "- {name: c, tolerations: [{key: k}]}"), "", ""},
		{"nodes and tolerations", united(clones), placed, "spec.topology.subsets[0]", "immutable"},
		{"kind switched", united(clones), united(deployments), "", ""},
		{"template", united(sets), united(sets, "web:1", "web:2"), "", ""},
		{"min ready", united(sets), ofSpec(sets, "minReadySeconds: 5"), "", ""},
		{"service name", united(sets), ofSpec(sets, "serviceName: x"), "spec.template.statefulSetTemplate.spec", "only template"},
		{"claims as stored", claims(sets, "1Gi", ", volumeMode: Filesystem"), claims(sets, "1024Mi", ""), "", ""},
		{"claims changed", claims(sets, "1Gi", ""), claims(sets, "2Gi", ""), "spec.template.statefulSetTemplate.spec", "only template"},
		{"advanced strategy", united(advanced), ofSpec(advanced, "updateStrategy: {type: OnDelete}"), "", ""},
		{"advanced min ready", united(advanced), ofSpec(advanced, "podManagementPolicy: Parallel"), "spec.template.advancedStatefulSetTemplate.spec", "only template and updateStrategy"},
		{"clone set selector", united(clones), ofSpec(clones, "minReadySeconds: 5"), "", ""},
		{"unreadable in the cluster", united(clones, "replicas: 6", "replicas: x"), united(clones), "", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			err := checked(t, tc.after, tc.before)
			if tc.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.field) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %v, want %q at %s", err, tc.text, tc.field)
			}
		})
	}
}
