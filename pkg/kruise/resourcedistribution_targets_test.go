package kruise

import (
	"strings"
	"testing"

	k8slabels "k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// TestResourceDistribution_NamesOfTargets: docs/kruise/distribution.md#resourcedistribution.
func TestResourceDistribution_NamesOfTargets(t *testing.T) {
	there := map[string]k8slabels.Set{"a": {"team": "web"}, "b": {"team": "web"}, "c": {}, "kube-system": {"team": "web"}}
	for spec, want := range map[string]string{
		"{}":                    "",
		"{allNamespaces: true}": "a b c",
		"{allNamespaces: true, includedNamespaces: {list: [{name: z}]}}":                                                 "a b c",
		"{includedNamespaces: {list: [{name: z}, {name: a}, {name: kube-system}]}}":                                      "a z",
		"{namespaceSelector: {matchLabels: {team: web}}}":                                                                "a b",
		"{namespaceSelector: {matchLabels: {team: web}}, includedNamespaces: {list: [{name: a}, {name: c}]}}":            "a b c",
		"{allNamespaces: true, excludedNamespaces: {list: [{name: b}]}}":                                                 "a c",
		"{includedNamespaces: {list: [{name: a}, {name: b}]}, excludedNamespaces: {list: [{name: b}]}}":                  "a",
		"{namespaceSelector: {matchExpressions: [{key: team, operator: Sideways}]}}":                                     "error",
		"{namespaceSelector: {matchExpressions: [{key: team, operator: DoesNotExist}]}, excludedNamespaces: {list: []}}": "c",
	} {
		var targets ResourceDistributionTargets
		if err := yaml.UnmarshalStrict([]byte(spec), &targets); err != nil {
			t.Fatal(err)
		}
		names, err := targets.Names(there, Next)
		got := strings.Join(names, " ")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}
