package view

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestMoments: a run in lines, and in fewer of them where there would be too many.
func TestMoments(t *testing.T) {
	all, within := Moments(run(), 100)
	if len(all) != 7 || within > time.Second {
		t.Fatalf("%d lines, within %v: %+v", len(all), within, all)
	}
	if m := all[0]; m.Step != 1 || m.Word != "step 1 canary: 1 of 4 pods" || m.State != "" {
		t.Errorf("the first step: %+v", m)
	}
	if m := all[4]; m.Step != 0 || m.Word != "in place" || len(m.Pods) != 3 || m.State != "0 old, 1 new, 3 unavailable" {
		t.Errorf("three pods at once: %+v", m)
	}
	if m := all[5]; m.Detail != "main ImagePullBackOff" {
		t.Errorf("a pod that cannot run: %+v", m)
	}
	few, longer := Moments(run(), 6)
	if len(few) > len(all) || longer <= within {
		t.Errorf("%d lines within %v, of %d within %v", len(few), longer, len(all), within)
	}
	pods := func(list []Moment) string {
		var names []string
		for _, m := range list {
			if m.Word == "in place" {
				names = append(names, m.Pods...)
			}
		}
		return strings.Join(names, " ")
	}
	if pods(few) != pods(all) {
		t.Errorf("pods are lost: %s, of %s", pods(few), pods(all))
	}
}

// TestPlace: pods come by node and name, those that the plan leaves alone too, and each
// with the subset that it is in.
func TestPlace(t *testing.T) {
	pod := func(name, node string, labels, annotations map[string]string) *cluster.Pod {
		return &cluster.Pod{Name: name, Node: node, Labels: labels, Annotations: annotations}
	}
	page := NewPlanPage(planOf(2), nil).Place([]*cluster.Pod{
		pod("web-00000", "n9", map[string]string{kruise.SubsetNameLabel: "zone-a"}, nil),
		pod("other", "n0", nil, map[string]string{kruise.MatchedWorkloadSpreadAnnotation: `{"name":"ws","subset":"spot"}`}),
	})
	var got []string
	for _, p := range page.Pods {
		got = append(got, strings.Join([]string{p.Node, p.Name, p.Subset, p.StepName, string(p.Mode)}, "/"))
	}
	want := "n0/other/spot//" + string(rules.ModeUnchanged) + " n1/web-00000/zone-a/1/" + string(rules.ModeInPlace) + " n1/web-00001//100%/" + string(rules.ModeInPlace)
	if text := strings.Join(got, " "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}
