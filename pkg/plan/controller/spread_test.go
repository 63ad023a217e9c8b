package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var spreadNow = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

const spreadObject = `
apiVersion: apps.kruise.io/v1beta1
kind: WorkloadSpread
metadata: {name: ws}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  subsets:
  - name: a
    maxReplicas: 2
    requiredNodeSelector: {matchExpressions: [{key: zone, operator: In, values: [a]}]}
    patch:
      metadata: {labels: {part: a, old: null}, annotations: {note: x}}
      spec: {containers: [{name: app, image: app:2}]}
  - name: b
    requiredNodeSelector: {matchExpressions: [{key: zone, operator: In, values: [b]}]}
  SCHEDULE
`

// webPods have all the same metadata and spec.
type webPods struct{}

func (webPods) MetadataAndSpec(*cluster.Pod) *tree.Node {
	return tree.Map("metadata", tree.Map("labels", tree.Map("app", "web")), "spec", tree.Map("containers", tree.Seq(tree.Map("name", "app"))))
}

// spreadView has one pod per word: its node, and after a slash its subset.
func spreadView(t *testing.T, schedule, pods string) *controller.SpreadView {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(spreadObject, "SCHEDULE", schedule)), &doc); err != nil {
		t.Fatal(err)
	}
	var ws kruise.WorkloadSpread
	if _, err := kruise.Decode(tree.Root(&doc), &ws); err != nil {
		t.Fatal(err)
	}
	v := &controller.SpreadView{
		Spread:  rules.Spread{Name: ws.Name, Spec: &ws.Spec, Replicas: 4, Latest: rules.VersionIgnored, Now: spreadNow},
		Subsets: tree.Items(tree.Get(tree.Root(&doc), "spec", "subsets")),
		Nodes:   map[string]*cluster.Node{},
		Known:   webPods{},
	}
	for _, zone := range []string{"a", "b", "c"} {
		v.Nodes["node-"+zone] = &cluster.Node{Name: "node-" + zone, Labels: map[string]string{"zone": zone}}
	}
	for i, word := range strings.Fields(pods) {
		node, subset, _ := strings.Cut(word, "/")
		p := &cluster.Pod{Name: fmt.Sprintf("p%d", i), Node: node, Phase: corev1.PodRunning, Created: spreadNow.Add(-time.Minute), Annotations: map[string]string{}}
		if node == "pending" {
			p.Node, p.Phase = "", corev1.PodPending
			p.Conditions = []cluster.Condition{cluster.SetTo("PodScheduled", corev1.ConditionFalse, "Unschedulable", "")}
		}
		if subset != "" {
			p.Annotations[kruise.MatchedWorkloadSpreadAnnotation] = `{"name":"ws","subset":"` + subset + `"}`
		}
		v.Pods = append(v.Pods, p)
	}
	return v
}

// told writes the actions of a pass, a line each.
func told(pass controller.SpreadPass) string {
	var out []string
	for _, a := range pass.Actions {
		switch a := a.(type) {
		case controller.DeletePod:
			out = append(out, "delete "+a.Pod.Name)
		case controller.PatchPod:
			out = append(out, "patch "+a.Pod.Name+spelt(" label ", a.Change.Labels)+spelt(" ", a.Change.Annotations))
		}
	}
	return strings.Join(out, "\n")
}

func spelt(prefix string, changes map[string]*string) string {
	var out strings.Builder
	for _, key := range []string{"old", "part", "note", kruise.MatchedWorkloadSpreadAnnotation, corev1.PodDeletionCost} {
		if v, ok := changes[key]; ok && v == nil {
			out.WriteString(prefix + key + "-")
		} else if ok {
			out.WriteString(prefix + key[strings.LastIndexByte(key, '/')+1:] + "=" + *v)
		}
	}
	return out.String()
}

func TestReconcileSpread(t *testing.T) {
	const inA, inB = `matched-workloadspread={"name":"ws","subset":"a"}`, `matched-workloadspread={"name":"ws","subset":"b"}`
	const adaptive = "scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 5}}"
	for _, c := range []struct {
		name, schedule, pods string
		leave                bool
		want                 []string
		again                time.Duration
	}{
		{"adopted by node, with the patch's metadata (021)", "", "node-a", false, []string{
			"patch p0 label old- label part=a note=x " + inA,
			"patch p0 pod-deletion-cost=200",
		}, 0},
		{"adopted without metadata (022)", "", "node-b", true, []string{"patch p0 " + inB, "patch p0 pod-deletion-cost=100"}, 0},
		{"fits nowhere (003)", "", "node-c node-x", false, []string{"patch p0 pod-deletion-cost=-300", "patch p1 pod-deletion-cost=-300"}, 0},
		{"not bound yet", "", "pending", false, []string{"patch p0 pod-deletion-cost=-300"}, 0},
		{"adopted beyond the limit (021)", "", "node-a/a node-a/a node-a", true, []string{
			"patch p2 " + inA, "patch p0 pod-deletion-cost=-100", "patch p1 pod-deletion-cost=200", "patch p2 pod-deletion-cost=200",
		}, 0},
		{"stuck (024)", adaptive, "pending/a node-b/b", false, []string{"delete p0", "patch p0 pod-deletion-cost=200", "patch p1 pod-deletion-cost=100"}, 300 * time.Second},
		{"stuck in the last subset", adaptive, "pending/b", false, []string{"patch p0 pod-deletion-cost=100"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := spreadView(t, c.schedule, c.pods)
			v.LeaveMetadata = c.leave
			before := v.Pods
			pass := controller.ReconcileSpread(v)
			if diff := cmp.Diff(strings.Join(c.want, "\n"), told(pass)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if pass.RequeueAfter != c.again || pass.Status == nil {
				t.Errorf("again after %v, status %v", pass.RequeueAfter, pass.Status)
			}
			for i, p := range before {
				if p.Annotations[corev1.PodDeletionCost] != "" {
					t.Errorf("pod %d was changed in place", i)
				}
			}
		})
	}
}

// TestReconcileSpread_SecondPassWritesNothing: a second pass over what the first one did is idle.
func TestReconcileSpread_SecondPassWritesNothing(t *testing.T) {
	v := spreadView(t, "", "node-a node-b node-c")
	pass := controller.ReconcileSpread(v)
	for _, a := range pass.Actions {
		patch := a.(controller.PatchPod)
		for i, p := range v.Pods {
			if p.Name == patch.Pod.Name {
				v.Pods[i] = p.With(patch.Change, spreadNow)
			}
		}
	}
	v.Status = pass.Status
	if pass = controller.ReconcileSpread(v); len(pass.Actions) > 0 || pass.Status != nil {
		t.Errorf("%s\n%+v", told(pass), pass.Status)
	}
}
