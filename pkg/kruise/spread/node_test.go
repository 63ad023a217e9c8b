package spread_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
)

func term(zone string) *corev1.NodeSelectorTerm {
	return &corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}
}

// candidate is a subset: where it must be and would like to be ("" is anywhere).
func candidate(required, preferred string, weight int32, patched, room bool) spread.Candidate {
	c := spread.Candidate{Patched: patched, Room: room}
	if required != "" {
		c.RequiredNodeSelector = term(required)
	}
	if preferred != "" {
		c.PreferredNodeSelector = []corev1.PreferredSchedulingTerm{{Weight: weight, Preference: *term(preferred)}}
	}
	return c
}

func TestAdopt(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a"}}}
	broken := candidate("", "", 0, true, true)
	broken.RequiredNodeSelector = &corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: "Like"}}}
	for _, c := range []struct {
		name    string
		subsets []spread.Candidate
		want    int
	}{
		{"by required term", []spread.Candidate{candidate("b", "", 0, true, true), candidate("a", "", 0, false, false)}, 1},
		{"none", []spread.Candidate{candidate("b", "", 0, true, true)}, spread.None},
		{"first among equals (011)", []spread.Candidate{candidate("", "", 0, true, false), candidate("", "", 0, true, false)}, 0},
		{"room decides", []spread.Candidate{candidate("", "", 0, true, false), candidate("", "", 0, true, true)}, 1},
		{"patch before room", []spread.Candidate{candidate("", "", 0, false, true), candidate("", "", 0, true, false)}, 1},
		{"preference before patch", []spread.Candidate{candidate("", "", 0, true, true), candidate("", "a", 1, false, false)}, 1},
		{"preference that does not match", []spread.Candidate{candidate("", "", 0, true, true), candidate("", "b", 100, false, false)}, 0},
		{"the larger weight", []spread.Candidate{candidate("", "a", 5, true, true), candidate("", "a", 6, true, true)}, 1},
		{"a term that cannot be read takes nothing", []spread.Candidate{broken}, spread.None},
		{"no subsets", nil, spread.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spread.Adopt(c.subsets, nil, node); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestAdopt_CountsTolerationsOfPodAndSubset: the pod's tolerations and the subset's count together.
func TestAdopt_CountsTolerationsOfPodAndSubset(t *testing.T) {
	taint := func(key string, effect corev1.TaintEffect) corev1.Taint {
		return corev1.Taint{Key: key, Effect: effect}
	}
	tolerate := func(key string) []corev1.Toleration {
		return []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
	}
	for _, c := range []struct {
		name        string
		taints      []corev1.Taint
		pod, subset []corev1.Toleration
		want        int
	}{
		{"no taint", nil, nil, nil, 0},
		{"not tolerated", []corev1.Taint{taint("spot", corev1.TaintEffectNoSchedule)}, nil, nil, spread.None},
		{"soft", []corev1.Taint{taint("spot", corev1.TaintEffectPreferNoSchedule)}, nil, nil, 0},
		{"by the subset", []corev1.Taint{taint("spot", corev1.TaintEffectNoExecute)}, nil, tolerate("spot"), 0},
		{"by both", []corev1.Taint{taint("spot", corev1.TaintEffectNoSchedule), taint("base", corev1.TaintEffectNoSchedule)}, tolerate("base"), tolerate("spot"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spread.Candidate{}
			s.Tolerations = c.subset
			if got := spread.Adopt([]spread.Candidate{s}, c.pod, &corev1.Node{Spec: corev1.NodeSpec{Taints: c.taints}}); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
