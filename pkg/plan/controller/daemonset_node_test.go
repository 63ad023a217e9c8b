package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func podSpec(t *testing.T, text string) *corev1.PodSpec {
	t.Helper()
	var spec corev1.PodSpec
	if _, err := tree.Decode(node(t, text), &spec); err != nil {
		t.Fatal(err)
	}
	return &spec
}

func affinity(terms string) string {
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}"
}

func TestDaemonFit(t *testing.T) {
	taint := func(key, value string, effect corev1.TaintEffect) []corev1.Taint {
		return []corev1.Taint{{Key: key, Value: value, Effect: effect}}
	}
	for _, c := range []struct {
		name, spec string
		taints     []corev1.Taint
		run, stay  bool
	}{
		{"nothing asked for", "{}", nil, true, true},
		{"selector", "nodeSelector: {zone: a}", nil, true, true},
		{"another zone", "nodeSelector: {zone: b}", nil, false, false},
		{"by name", "nodeName: n1", nil, true, true},
		{"another name", "nodeName: n2", nil, false, false},
		{"affinity", affinity("{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}"), nil, true, true},
		{"affinity to others", affinity("{matchExpressions: [{key: zone, operator: NotIn, values: [a, b]}]}"), nil, false, false},
		{"one of two terms", affinity("{matchExpressions: [{key: zone, operator: In, values: [b]}]}, {matchExpressions: [{key: size, operator: Gt, values: ['3']}]}"), nil, true, true},
		{"both of one term", affinity("{matchExpressions: [{key: zone, operator: Exists}, {key: size, operator: Lt, values: ['3']}]}"), nil, false, false},
		{"field", affinity("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"), nil, true, true},
		{"another field", affinity("{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}"), nil, false, false},
		{"an empty term matches nothing", affinity("{}"), nil, false, false},
		{"no term at all", affinity(""), nil, false, false},
		{"an unreadable operator", affinity("{matchExpressions: [{key: zone, operator: Odd}]}"), nil, false, false},
		{"a taint keeps new pods away", "{}", taint("gpu", "yes", corev1.TaintEffectNoSchedule), false, true},
		{"and a stronger one all", "{}", taint("gpu", "yes", corev1.TaintEffectNoExecute), false, false},
		{"a wish does not count", "{}", taint("gpu", "yes", corev1.TaintEffectPreferNoSchedule), true, true},
		{"tolerated", "tolerations: [{key: gpu, value: 'yes'}]", taint("gpu", "yes", corev1.TaintEffectNoSchedule), true, true},
		{"another value", "tolerations: [{key: gpu, value: 'no'}]", taint("gpu", "yes", corev1.TaintEffectNoSchedule), false, true},
		{"any value", "tolerations: [{key: gpu, operator: Exists}]", taint("gpu", "yes", corev1.TaintEffectNoExecute), true, true},
		{"another effect", "tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]", taint("gpu", "yes", corev1.TaintEffectNoExecute), false, false},
		{"everything", "tolerations: [{operator: Exists}]", taint("gpu", "yes", corev1.TaintEffectNoExecute), true, true},
		{"no key is not enough", "tolerations: [{value: 'yes'}]", taint("gpu", "yes", corev1.TaintEffectNoSchedule), false, true},
		{"cordoned", "{}", taint(corev1.TaintNodeUnschedulable, "", corev1.TaintEffectNoSchedule), true, true},
		{"not ready", "{}", taint(corev1.TaintNodeNotReady, "", corev1.TaintEffectNoExecute), true, true},
	} {
		fit := newDaemonFit(podSpec(t, c.spec))
		run, stay := fit.on(&cluster.Node{Name: "n1", Labels: map[string]string{"zone": "a", "size": "5"}, Taints: c.taints})
		if run != c.run || stay != c.stay {
			t.Errorf("%s: run %v, stay %v", c.name, run, stay)
		}
	}
}

// TestDaemonNodes: nodes without a pod that need none are left out, those that
// are gone but for a pod are not.
func TestDaemonNodes(t *testing.T) {
	v := &View{
		Nodes: map[string]*cluster.Node{
			"n1": {Name: "n1", Labels: map[string]string{"zone": "a"}}, "n2": {Name: "n2"}, "n3": {Name: "n3"},
			"n4": {Name: "n4", Labels: map[string]string{"zone": "a"}, Taints: []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}},
		},
		Pods: []*cluster.Pod{{Name: "a", Node: "n2"}, {Name: "b", Node: "n4"}, {Name: "c", Node: "gone"}},
	}
	var got string
	for _, n := range daemonNodes(v, podSpec(t, "nodeSelector: {zone: a}")) {
		got += n.Name
		if n.ShouldRun {
			got += "+"
		}
		if n.Stay {
			got += "~"
		}
		for _, p := range n.Pods {
			got += p.Name
		}
		got += " "
	}
	if got != "gonec n1+~ n2a n4~b " {
		t.Errorf("%q", got)
	}
}

func TestDaemonTolerations_ReturnsACopy(t *testing.T) {
	list := DaemonTolerations()
	list[0].Key = "changed"
	if DaemonTolerations()[0].Key == "changed" {
		t.Error("the list can be changed from outside")
	}
}
