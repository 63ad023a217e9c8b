package plan_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// prevention is a rollout of a native workload in which its parent prevents something.
type prevention struct {
	// carrier becomes next, or another image where that is empty; source is the Kruise object that
	// it was rendered from.
	carrier, next, source string
	policy                plan.Policy
	guarded               bool
	want                  string
}

func cloned(spec string) string {
	return manifest(beta, "CloneSet", plain+"  replicas: 6\n"+spec)
}

// preventions has rollouts for each row of the table; none of them but those meets it.
var preventions = map[string][]prevention{
	"template": {
		{carrier: carriers["ReplicaSet"], want: "a ReplicaSet cannot surge, and makes pods from its present template only"},
		{carrier: carriers["StatefulSet"], want: "a StatefulSet with OnDelete makes pods from its present template only"},
		{carrier: carriers["DaemonSet"], want: "a DaemonSet with OnDelete makes pods from its present template only"},
	},
	"history": {{carrier: strings.Replace(carriers["ReplicaSet"], "web:1", newer, 1), next: strings.Replace(carriers["ReplicaSet"], "web:1", "web:3", 1), want: "a ReplicaSet keeps no history: 4 pods are on an unknown template"}},
	"surge": {
		{carrier: carriers["ReplicaSet"], source: cloned("  updateStrategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}\n"), want: "maxSurge of CloneSet shop/web is not kept"},
		{carrier: carriers["DaemonSet"], source: manifest(beta, "DaemonSet", plain+"  updateStrategy: {rollingUpdate: {maxSurge: 1}}\n"), want: "maxSurge of DaemonSet shop/web is not kept"},
	},
	"ordered": {{
		carrier: strings.Replace(carriers["StatefulSet"], "Parallel", "OrderedReady", 1),
		source:  cloned("  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}\n"),
		want:    "an OrderedReady StatefulSet makes missing pods one at a time",
	}},
	"hooks": {
		{carrier: carriers["ReplicaSet"], source: cloned("  lifecycle: {preDelete: {labelsHandler: {hold: \"true\"}}}\n  updateStrategy: {}\n"), want: "lifecycle of CloneSet shop/web is kept by this command alone: a pod that a ReplicaSet"},
		{carrier: kinds["native Deployment"], source: cloned("  lifecycle: {inPlaceUpdate: {labelsHandler: {hold: \"true\"}}}\n  updateStrategy: {}\n"), want: "lifecycle of CloneSet shop/web is not kept: a Deployment deletes pods without asking"},
	},
	"scale down": {{
		carrier: carriers["ReplicaSet"], next: strings.Replace(carriers["ReplicaSet"], "replicas: 6", "replicas: 4", 1),
		source: cloned("  scaleStrategy: {podsToDelete: [web-x]}\n  updateStrategy: {}\n"),
		want:   "which pods go when it shrinks is up to a ReplicaSet: no controller reads the label apps.kruise.io/specified-delete, nor that web-x should go",
	}},
	"in place": {{
		carrier: kinds["native Deployment"], source: cloned("  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}\n"),
		want: "a Deployment recreates every pod: the update policy InPlaceOnly of CloneSet shop/web is not kept",
	}},
	"order": {
		{carrier: kinds["native Deployment"], source: cloned("  updateStrategy: {rollingUpdate: {priorityStrategy: {orderPriority: [{orderedKey: k}]}, scatterStrategy: [{key: k, value: v}]}}\n"), want: "which pods go first is up to a Deployment: priorityStrategy and scatterStrategy of CloneSet shop/web is not kept"},
		{carrier: kinds["native StatefulSet"], source: manifest(beta, "StatefulSet", gated+"  replicas: 4\n  updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: k}]}}}}\n"), want: "unorderedUpdate of StatefulSet shop/web is not kept"},
		{carrier: kinds["native DaemonSet"], source: manifest(beta, "DaemonSet", plain+"  updateStrategy: {rollingUpdate: {selector: {matchLabels: {ring: a}}}}\n"), want: "selector of DaemonSet shop/web is not kept"},
	},
	"stop": {{carrier: kinds["native Deployment"], policy: plan.Policy{Steps: must(plan.ParseSteps("1,100%"))}, want: "a Deployment cannot stop at a number of pods"}},
	"one at a time": {
		{carrier: kinds["native StatefulSet"], source: manifest(beta, "StatefulSet", gated+"  replicas: 4\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {maxUnavailable: 3}}\n"), want: "a StatefulSet updates one pod at a time, not 3"},
		{carrier: kinds["native StatefulSet"], next: strings.Replace(kinds["native StatefulSet"], "web:1", newer, 1) + "  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}\n", want: "a StatefulSet updates one pod at a time, not 2"},
	},
	"budgets": {{carrier: kinds["native StatefulSet"], guarded: true, want: "a StatefulSet deletes pods without asking PodDisruptionBudgets: web is not heard"}},
}

// warnings are those of a plan for one such rollout.
func (c *prevention) warnings(t *testing.T) string {
	t.Helper()
	s := plan.Snapshot{Workload: read(t, c.carrier), Pods: pods(4, "x")}
	if c.source != "" {
		s.Carrier, s.Workload = s.Workload, read(t, c.source)
	}
	if c.guarded {
		s.Disruptions = []*rules.DisruptionBudget{{Name: "web", Spec: &policyv1.PodDisruptionBudgetSpec{}, Pods: s.Pods}}
	}
	next := c.next
	if next == "" {
		next = strings.Replace(c.carrier, `"web:1"`, `"web:2", env: [{name: A, value: b}]`, 1)
	}
	c.policy.Pull = plan.PullNever
	p, err := plan.Build(read(t, next), s, c.policy)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(p.Warnings, "\n")
}

// TestParentLimits_AreWarnedOf: each limit of a native parent has a warning where it applies.
func TestParentLimits_AreWarnedOf(t *testing.T) {
	for _, name := range plan.Preventions() {
		if len(preventions[name]) == 0 {
			t.Errorf("row %q has no test", name)
		}
		for i, c := range preventions[name] {
			t.Run(fmt.Sprint(name, " ", i), func(t *testing.T) {
				if got := c.warnings(t); !strings.Contains(got, c.want) {
					t.Errorf("%s\nwant %s", got, c.want)
				}
			})
		}
	}
}

// TestParentLimits_OfKruiseDriverAreNone: a parent without limits has no warning.
func TestParentLimits_OfKruiseDriverAreNone(t *testing.T) {
	for name, c := range map[string]prevention{
		"CloneSet by Kruise":          {carrier: cloned("  lifecycle: {preDelete: {labelsHandler: {hold: \"true\"}}}\n  updateStrategy: {rollingUpdate: {maxSurge: 1}}\n")},
		"Deployment":                  {carrier: kinds["native Deployment"]},
		"Deployment of a CloneSet":    {carrier: kinds["native Deployment"], source: cloned("  updateStrategy: {rollingUpdate: {maxSurge: 1}}\n")},
		"StatefulSet":                 {carrier: kinds["native StatefulSet"]},
		"StatefulSet that keeps it":   {carrier: kinds["native StatefulSet"] + "  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}\n"},
		"ReplicaSet that is left old": {carrier: carriers["ReplicaSet"], policy: plan.Policy{Driver: plan.DriverNative}, guarded: true},
	} {
		got := strings.Split(c.warnings(t), "\n")
		got = slices.DeleteFunc(got, func(s string) bool { return s == "" || strings.HasPrefix(s, "a ReplicaSet updates no pod") })
		if len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestParentLimits_AreDocumented: docs/rollout-reference.md has a row for each.
func TestParentLimits_AreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/rollout-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range plan.Preventions() {
		if !strings.Contains(string(text), "\n| "+name+" |") {
			t.Errorf("docs/rollout-reference.md has no row %q", name)
		}
	}
}
