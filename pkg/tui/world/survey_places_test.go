package world_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	var out T
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func node(t *testing.T, text string) *tree.Node {
	t.Helper()
	return tree.FromValue(*read[map[string]any](t, text))
}

// rows are a distribution as text: the whole, its problems, its targets.
func rows(f *world.Distribution) []string {
	out := []string{fmt.Sprintf("%s %s %s %d/%d", f.Ref, f.Target, f.Health, f.Got, f.Wanted)}
	for _, p := range f.Problems {
		out = append(out, "! "+p)
	}
	for _, p := range f.Places {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %d/%d r%d u%d %s", p.Name, p.Health, p.Got, p.Wanted, p.Ready, p.Updated, p.Why)))
	}
	return out
}

func check(t *testing.T, f *world.Distribution, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, rows(f)); diff != "" {
		t.Error(diff)
	}
}

func pods(subset, revision, state string, n int) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range n {
		name := fmt.Sprintf("%s-%s-%s-%d", subset, revision, state, i)
		p := &cluster.Pod{
			Name: name, UID: "uid-" + name, Node: "n1", Phase: corev1.PodRunning,
			Labels:      map[string]string{kruise.SubsetNameLabel: subset, kruise.ControllerRevisionHashLabel: revision},
			Annotations: map[string]string{kruise.MatchedWorkloadSpreadAnnotation: `{"name":"web","subset":"` + subset + `"}`},
			Conditions:  []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue}},
		}
		if state == "stuck" {
			p.Node, p.Phase = "", corev1.PodPending
			p.Conditions = []cluster.Condition{{Type: "PodScheduled", Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no room."}}
		}
		out = append(out, p)
	}
	return out
}

func TestUnited(t *testing.T) {
	ud := read[kruise.UnitedDeployment](t, `{metadata: {name: web, namespace: shop}, spec: {replicas: 5, selector: {}, template: {cloneSetTemplate: {spec: {}}},
		topology: {subsets: [{name: a, replicas: 40%}, {name: b}]}}, status: {replicas: 5, updatedReplicas: 2, currentRevision: v1, updatedRevision: v2}}`)
	var workloads []*tree.Node
	for subset, n := range map[string]string{"a": "2", "b": "3"} {
		workloads = append(workloads, node(t, "{metadata: {labels: {apps.kruise.io/subset-name: "+subset+"}}, spec: {replicas: "+n+"}}"))
	}
	all := append(append(pods("a", "v2", "ready", 2), pods("b", "v1", "ready", 1)...), pods("b", "v2", "stuck", 2)...)
	check(t, world.SurveyUnited(ud, workloads, all), "uniteddeployment/web CloneSets blocked 5/5", "a healthy 2/2 r2 u2", "b blocked 3/3 r1 u2 2 pods find no node: no room")
	ud.Spec.Topology.Subsets[1].Replicas = ud.Spec.Topology.Subsets[0].Replicas
	if f := world.SurveyUnited(ud, nil, nil); f.Health != world.Blocked || len(f.Problems) != 1 {
		t.Errorf("shares that do not come to the whole: %v", rows(f))
	}
}

func TestSpread(t *testing.T) {
	ws := read[kruise.WorkloadSpread](t, `{metadata: {name: web, namespace: shop}, spec: {targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web},
		subsets: [{name: a, maxReplicas: 3}, {name: b}]}}`)
	target := node(t, "{kind: CloneSet, spec: {replicas: 5}}")
	all := append(pods("a", "v1", "ready", 2), pods("b", "v2", "ready", 3)...)
	check(t, world.SurveySpread(ws, target, all, map[string]bool{"uid-b-v2-ready-1": true}),
		"workloadspread/web cloneset/web degraded 5/5",
		"a progressing 2/3 r2 u0 1 pod fewer: they are in other subsets, and running pods are not moved",
		"b degraded 3/2 r3 u1 1 pod more: running pods are not moved, the next scale-in takes them first")
	check(t, world.SurveySpread(ws, nil, nil, nil), "workloadspread/web cloneset/web blocked 0/0", "! its target is not there")
}

func TestDistribution(t *testing.T) {
	there := map[string]labels.Set{"shop": {}, "pay": {}, "kube-system": {}}
	for name, c := range map[string]struct {
		targets, status string
		want            []string
	}{
		"all have it": {"{allNamespaces: true}", "{observedGeneration: 2}", []string{"healthy 2/2", "pay healthy 1/1 r1 u1", "shop healthy 1/1 r1 u1"}},
		"a conflict, and one that is not there": {
			"{includedNamespaces: {list: [{name: shop}, {name: pay}, {name: gone}]}}",
			`{observedGeneration: 2, conditions: [{type: NamespaceNotExists, status: "True", failedNamespaces: [gone]},
				{type: ConflictOccurred, status: "True", reason: "secret pull is there", failedNamespaces: [pay]}, {type: CreateResourceFailed, status: "False", failedNamespaces: [shop]}]}`,
			[]string{
				"blocked 1/3", "gone blocked 0/1 r0 u0 there is no such namespace, or it is being deleted",
				"pay blocked 0/1 r0 u0 conflict: the object exists and is not managed by this ResourceDistribution: secret pull is there", "shop healthy 1/1 r1 u1",
			},
		},
		"not seen yet": {"{allNamespaces: true}", "{observedGeneration: 1}", []string{
			"degraded 0/2", "! the controller has not processed the latest change yet", "pay progressing 0/1 r0 u0", "shop progressing 0/1 r0 u0",
		}},
		"nowhere": {"{}", "{observedGeneration: 2}", []string{"degraded 0/0", "! its targets are no namespace that there is"}},
	} {
		t.Run(name, func(t *testing.T) {
			rd := read[kruise.ResourceDistribution](t, "{metadata: {name: pull, generation: 2}, spec: {resource: {kind: Secret, metadata: {name: pull}}, targets: "+c.targets+"}, status: "+c.status+"}")
			c.want[0] = "resourcedistribution/pull secret/pull " + c.want[0]
			check(t, world.SurveyCopies(rd, there), c.want...)
		})
	}
}

// asked is a NodeImage with a pull of the job shop/warm.
func asked(t *testing.T, name, phase, more string) *kruise.NodeImage {
	t.Helper()
	status := "{desired: 1, succeeded: 0, failed: 0, pulling: 0, waiting: 0}"
	if phase != "" {
		status = "{desired: 1, succeeded: 0, failed: 0, pulling: 0, waiting: 0, imageStatuses: {web: {tags: [{tag: v2, version: 3, phase: " + phase + more + "}]}}}"
	}
	return read[kruise.NodeImage](t, "{metadata: {name: "+name+"}, spec: {images: {web: {tags: [{tag: v2, version: 3, ownerReferences: [{namespace: shop, name: warm}]}]}}}, status: "+status+"}")
}

func TestPulls(t *testing.T) {
	nodes := []*kruise.NodeImage{
		asked(t, "n1", "Succeeded", ""), asked(t, "n2", "Pulling", ", progress: 40"), asked(t, "n3", "Failed", ", message: no such tag"), asked(t, "n4", "", ""),
		read[kruise.NodeImage](t, "{metadata: {name: n5}, status: {desired: 0, succeeded: 0, failed: 0, pulling: 0, waiting: 0}}"),
	}
	job := read[kruise.ImagePullJob](t, "{metadata: {name: warm, namespace: shop}, spec: {image: 'web:v2', parallelism: 4, completionPolicy: {}}, status: {desired: 6, succeeded: 1, failed: 1, failedNodes: [n3]}}")
	check(t, world.SurveyPulls(job, nodes), "imagepulljob/warm web:v2 blocked 1/6", "! 2 more, whose turn has not come: 4 at a time",
		"n1 healthy 1/1 r1 u1", "n2 progressing 0/1 r0 u0 pulling, 40%", "n3 blocked 0/1 r0 u0 no such tag", "n4 progressing 0/1 r0 u0 waits for its agent")
	done := read[kruise.ImagePullJob](t, `{metadata: {name: warm, namespace: shop}, spec: {image: 'web:v2', completionPolicy: {}, selector: {names: [n7, n8]}},
		status: {desired: 2, succeeded: 1, failed: 1, failedNodes: [n8], completionTime: "2026-01-02T03:04:05Z"}}`)
	check(t, world.SurveyPulls(done, nil), "imagepulljob/warm web:v2 blocked 1/2", "n7 healthy 1/1 r1 u1", "n8 blocked 0/1 r0 u0 the pull failed: see status of NodeImage n8")
	late := read[kruise.ImagePullJob](t, "{metadata: {name: warm, namespace: shop}, spec: {image: 'web:v2', completionPolicy: {}}, status: {desired: 2, message: job exceeds activeDeadlineSeconds}}")
	check(t, world.SurveyPulls(late, nil), "imagepulljob/warm web:v2 blocked 0/2", "! 2 more, whose turn has not come: 1 at a time", "! job exceeds activeDeadlineSeconds")
}

func TestDistributions_AreInOrder(t *testing.T) {
	a, b := &world.Distribution{Ref: cluster.Ref{Namespace: "a", Name: "x"}}, &world.Distribution{Ref: cluster.Ref{Namespace: "b", Name: "a"}}
	if got := world.SurveyDistributions(b, a); got.List[0] != a {
		t.Error("not by namespace")
	}
}
