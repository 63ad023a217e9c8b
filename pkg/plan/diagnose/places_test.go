package diagnose_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

func readPlaces[T any](t *testing.T, text string) T {
	t.Helper()
	var out T
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func node(t *testing.T, text string) *tree.Node {
	t.Helper()
	return tree.FromValue(readPlaces[map[string]any](t, text))
}

// spreadPod is a pod of a WorkloadSpread's subset, "" for none; state is ready, new,
// stuck or gone.
func spreadPod(name, subset, state string) *cluster.Pod {
	p := &cluster.Pod{Name: name, Node: "n1", Phase: corev1.PodRunning, Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue}}}
	if subset != "" {
		p.Labels = map[string]string{kruise.SubsetNameLabel: subset}
		p.Annotations = map[string]string{kruise.MatchedWorkloadSpreadAnnotation: `{"name":"web","subset":"` + subset + `"}`}
	}
	switch state {
	case "new":
		p.Conditions = nil
		p.Phase = corev1.PodPending
	case "stuck":
		p.Node, p.Phase = "", corev1.PodPending
		p.Conditions = []cluster.Condition{{Type: "PodScheduled", Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available."}}
	case "gone":
		p.Deleting = true
	}
	return p
}

func podsOf(subset, state string, n int) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range n {
		out = append(out, spreadPod(subset+"-"+state+"-"+string(rune('0'+i)), subset, state))
	}
	return out
}

func join(lists ...[]*cluster.Pod) []*cluster.Pod {
	var out []*cluster.Pod
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// rows are a placement's subsets as text: wish, pods, ready and why.
func rows(p *diagnose.Placement) []string {
	out := p.Why
	for _, s := range p.Subsets {
		line := fmt.Sprintf("%s %s %d %d %d %s", s.Name, cmp.Or(s.Limits, "-"), s.Wish, len(s.Pods), s.Ready, strings.Join(s.Why, "; "))
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

const threeSubsets = "subsets: [{name: a, maxReplicas: 3}, {name: b, maxReplicas: 5}, {name: c}]"

func TestWorkloadSpread_CountsPodsOfSubsets(t *testing.T) {
	for name, c := range map[string]struct {
		spec, status, target string
		pods                 []*cluster.Pod
		want                 []string
	}{
		"as it shall be": {
			spec: threeSubsets, target: "{kind: CloneSet, spec: {replicas: 10}}",
			pods: join(podsOf("a", "ready", 3), podsOf("b", "ready", 5), podsOf("c", "ready", 2), podsOf("c", "gone", 1)),
			want: []string{"a 3 3 3 3", "b 5 5 5 5", "c - 2 2 2"},
		},
		"pods are not moved": {
			spec: threeSubsets, target: "{kind: CloneSet, spec: {replicas: 5}}",
			pods: join(podsOf("a", "ready", 1), podsOf("b", "ready", 2), podsOf("c", "ready", 2)),
			want: []string{
				"a 3 3 1 1 2 pods fewer: they are in other subsets, and running pods are not moved",
				"b 5 2 2 2", "c - 0 2 2 2 pods more: running pods are not moved, the next scale-in takes them first",
			},
		},
		"on the way": {
			spec: threeSubsets, target: "{kind: CloneSet, spec: {replicas: 4}}", pods: podsOf("a", "new", 2),
			want: []string{"a 3 3 2 0 1 pod fewer: the workload has 2 of 4 pods", "b 5 1 0 0 1 pod fewer: the workload has 2 of 4 pods", "c - 0 0 0"},
		},
		"more while rolling": {
			spec: threeSubsets, target: "{kind: Deployment, spec: {replicas: 3}}", pods: podsOf("a", "ready", 4),
			want: []string{"a 3 3 4 4 1 pod too many, while the workload has more pods than it should", "b 5 0 0 0", "c - 0 0 0"},
		},
		"stuck, and closed": {
			spec:   threeSubsets + "\nscheduleStrategy: {type: Adaptive}",
			status: "subsetStatuses: [{name: a, replicas: 1, missingReplicas: 2, conditions: [{type: Schedulable, status: 'False', reason: x, message: y, lastTransitionTime: '2026-01-02T03:04:05Z'}]}]",
			target: "{kind: CloneSet, spec: {replicas: 1}}", pods: podsOf("a", "stuck", 1),
			want: []string{"a 3 1 1 0 taken as unschedulable since 2026-01-02 03:04:05Z: new pods go to later subsets; 1 pod finds no node: 0/3 nodes are available", "b 5 0 0 0", "c - 0 0 0"},
		},
		"no room": {
			spec: "subsets: [{name: a, maxReplicas: 50%}]", target: "{kind: CloneSet, spec: {replicas: 4}}", pods: join(podsOf("a", "ready", 2), podsOf("", "ready", 2)),
			want: []string{"a 50% 2 2 2", "(none) - 2 2 2 no subset has room: these pods get nothing of any"},
		},
		"from before": {
			spec: threeSubsets, target: "{kind: CloneSet, spec: {replicas: 1}}", pods: podsOf("", "new", 1),
			want: []string{"a 3 1 0 0 1 pod fewer: they are in other subsets, and running pods are not moved", "b 5 0 0 0", "c - 0 0 0", "(none) - 0 1 0 created before the WorkloadSpread, or while no subset had room; their nodes fit none, or they wait for one"},
		},
		"ordinals": {
			spec: "subsets: [{name: a, maxReplicas: 2}, {name: b}]", target: "{kind: StatefulSet, spec: {replicas: 3, ordinals: {start: 1}, reserveOrdinals: [2]}}",
			pods: join(podsOf("a", "ready", 1), podsOf("b", "ready", 2)),
			want: []string{"a 2 1 1 1", "b - 2 2 2"},
		},
		"a filter without selector": {
			spec: threeSubsets + "\ntargetFilter: {replicasPathList: [spec.size]}", target: "{kind: CloneSet, spec: {size: 0}}",
			want: []string{"targetFilter has no selector: new pods are put into no subset", "a 3 0 0 0", "b 5 0 0 0", "c - 0 0 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ws := &kruise.WorkloadSpread{Spec: readPlaces[kruise.WorkloadSpreadSpec](t, c.spec)}
			ws.Name = "web"
			ws.Spec.TargetReference = &kruise.TargetReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Name: "web"}
			if c.status != "" {
				ws.Status = readPlaces[kruise.WorkloadSpreadStatus](t, c.status)
			}
			p, err := diagnose.Spread(ws, node(t, c.target), c.pods)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(c.want, rows(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWorkloadSpread_WithoutNumber(t *testing.T) {
	ws := &kruise.WorkloadSpread{Spec: readPlaces[kruise.WorkloadSpreadSpec](t, "{targetFilter: {replicasPathList: [spec.size]}, targetRef: {apiVersion: v1, kind: X, name: x}, subsets: []}")}
	if _, err := diagnose.Spread(ws, node(t, "{kind: X}"), nil); err == nil {
		t.Error("no error")
	}
}

// workload is a subset's workload.
func workload(subset, replicas string) string {
	return "{metadata: {labels: {apps.kruise.io/subset-name: " + subset + "}}, spec: {replicas: " + replicas + "}, status: {readyReplicas: " + replicas + "}}"
}

func TestUnitedDeployment_CountsPodsOfSubsets(t *testing.T) {
	for name, c := range map[string]struct {
		spec, status string
		workloads    []string
		pods         []*cluster.Pod
		want         []string
	}{
		"as it shall be": {
			spec:      "{replicas: 5, selector: {}, topology: {subsets: [{name: a, replicas: 2}, {name: b}]}}",
			workloads: []string{workload("a", "2"), workload("b", "3")}, pods: join(podsOf("a", "ready", 2), podsOf("b", "ready", 3)),
			want: []string{"a 2 2 2 2", "b - 3 3 3"},
		},
		"on the way": {
			spec:      "{replicas: 6, selector: {}, topology: {subsets: [{name: a, minReplicas: 2, maxReplicas: 4}, {name: b, minReplicas: 1}, {name: c}]}}",
			workloads: []string{workload("a", "1"), workload("b", "2")}, pods: join(podsOf("a", "ready", 1), podsOf("b", "ready", 1), podsOf("old", "ready", 1)),
			want: []string{
				"a 2..4 4 1 1 its workload still has 1 replica", "b 1.. 2 1 1 1 pod is not created yet", "c - 0 0 0 its workload is not there yet",
				"(none) - 0 1 1 of a subset that is no longer there, or of something else that the selector matches",
			},
		},
		"unschedulable": {
			spec:      "{replicas: 3, selector: {}, topology: {scheduleStrategy: {type: Adaptive}, subsets: [{name: a}, {name: b}]}}",
			status:    "{replicas: 3, updatedReplicas: 3, currentRevision: x, subsetStatuses: [{name: a, conditions: [{type: Schedulable, status: 'False'}]}]}",
			workloads: []string{workload("a", "1"), workload("b", "2")}, pods: join(podsOf("a", "ready", 1), podsOf("b", "stuck", 2)),
			want: []string{"a - 1 1 1 taken as unschedulable: it keeps what is ready and gets no more", "b - 2 2 0 2 pods find no node: 0/3 nodes are available"},
		},
		"too many": {
			spec: "{replicas: 9, selector: {}, topology: {subsets: [{name: a, maxReplicas: 2}]}}", workloads: []string{workload("a", "2")}, pods: podsOf("a", "ready", 3),
			want: []string{"7 pods of spec.replicas fit into no subset", "a ..2 2 3 3 1 pod too many, while its workload has more pods than it should"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ud := &kruise.UnitedDeployment{Spec: readPlaces[kruise.UnitedDeploymentSpec](t, c.spec)}
			if c.status != "" {
				ud.Status = readPlaces[kruise.UnitedDeploymentStatus](t, c.status)
			}
			var workloads []*tree.Node
			for _, w := range c.workloads {
				workloads = append(workloads, node(t, w))
			}
			p, err := diagnose.United(ud, workloads, c.pods)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(c.want, rows(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnitedDeployment_ThatCannotBeDivided(t *testing.T) {
	ud := &kruise.UnitedDeployment{Spec: readPlaces[kruise.UnitedDeploymentSpec](t, "{replicas: 1, selector: {}, topology: {subsets: [{name: a, replicas: 2}]}}")}
	if _, err := diagnose.United(ud, nil, nil); err == nil || !strings.Contains(err.Error(), "spec.replicas is 1") {
		t.Error(err)
	}
}
