package render_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// pods are pods of the ReplicaSet web, ready, with the label of their Service.
func pods(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: web-%d
  namespace: shop
  uid: uid-%d
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {app: web, kubectl-kruise.dev/in-service: "true"}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: set, controller: true}]
spec: {nodeName: n%d, containers: [{name: app, image: "web:1"}]}
status:
  phase: Running
  conditions:
    - {type: Ready, status: "True", lastTransitionTime: "2026-01-01T00:01:00Z"}
    - {type: ContainersReady, status: "True", lastTransitionTime: "2026-01-01T00:01:00Z"}
  containerStatuses: [{name: app, ready: true, image: "web:1", imageID: "web@sha256:1", state: {running: {}}}]
`, i, i, i))
	}
	return strings.Join(out, "---\n")
}

// world is a model cluster that runs the old state.
type world struct {
	*simulate.World

	t *testing.T
}

func newWorld(t *testing.T, c change) *world {
	t.Helper()
	given := installation.GatesOf(kruise.Release{})
	o := simulate.DefaultOptions()
	o.Gates = given.Gates
	w := &world{simulate.New(o), t}
	for i := range 5 {
		w.AddNode(fmt.Sprintf("n%d", i), nil)
	}
	old := rendered(t, c.how, c.old, "", c.context)
	if c.context != "" {
		st, err := clusterread.ReadObjects(append(old, parsed(t, c.context)...))
		if err == nil {
			err = w.Load(st)
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		w.apply(old)
	}
	w.settle()
	return w
}

func (w *world) apply(list []*resource.Resource) {
	w.t.Helper()
	for _, r := range list {
		if !cluster.IsWorkload(r.Group(), r.Kind()) {
			continue
		}
		if err := w.Apply(r.Node()); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) settle() {
	w.t.Helper()
	if settled, err := w.Settle(time.Hour); err != nil || !settled {
		w.t.Fatalf("the cluster does not come to rest: %v", err)
	}
}

// send takes one step as a person would, going by what is written alone.
func (w *world) send(s *patches.Step) {
	w.t.Helper()
	var err error
	switch p := s.Patch; {
	case p != nil && p.Target.Kind == "Pod":
		err = w.sendPod(p)
	case p != nil:
		err = w.Patch(refOf(p.Target), plan.Patch{Type: p.Type, Subresource: p.Subresource, Body: p.Body})
	case len(s.Commands) > 0 && strings.Contains(s.Commands[0], "eviction"):
		err = w.EvictPod(w.evicted(s.Commands[0]))
	}
	if err != nil {
		w.t.Fatalf("%s: %v", s.Name, err)
	}
}

func refOf(t patches.Target) cluster.Ref {
	return cluster.Ref{Group: resource.GroupOf(t.APIVersion), Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}
}

// evicted is the pod that a command evicts.
func (w *world) evicted(command string) plan.PodRef {
	for _, p := range w.pods() {
		if strings.Contains(command, "/pods/"+p.Name+"/eviction") {
			return plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}
		}
	}
	w.t.Fatalf("%s: no such pod", command)
	return plan.PodRef{}
}

// sendPod reads a patch of a pod back into a change.
func (w *world) sendPod(p *patches.Patch) error {
	var body struct {
		Metadata struct {
			UID                 string
			Labels, Annotations map[string]*string
		}
		Spec   struct{ Containers []corev1.Container }
		Status corev1.PodStatus
	}
	text, err := json.Marshal(p.Body)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		return err
	}
	change := cluster.PodChange{Labels: body.Metadata.Labels, Annotations: body.Metadata.Annotations}
	for i := range body.Spec.Containers {
		if change.Images == nil {
			change.Images = map[string]string{}
		}
		change.Images[body.Spec.Containers[i].Name] = body.Spec.Containers[i].Image
	}
	for _, c := range body.Status.Conditions {
		change.Conditions = append(change.Conditions, cluster.SetTo(string(c.Type), c.Status, c.Reason, c.Message))
	}
	return w.PatchPod(plan.PodRef{Namespace: p.Target.Namespace, Name: p.Target.Name, UID: body.Metadata.UID}, change)
}

func (w *world) pods() []*cluster.Pod {
	return w.of(cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "web"}).Pods
}

func (w *world) of(ref cluster.Ref) plan.Snapshot {
	w.t.Helper()
	s, err := w.Snapshot(ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// TestPatches_ReachTheTarget sends the steps of sequences one after the other, by what is written
// alone, and looks whether the cluster then has what was wanted.
func TestPatches_ReachTheTarget(t *testing.T) {
	claims := "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"
	service := `, kubectl-kruise.dev/in-service: "true"}}` + "\n    spec"
	inService := func(text string) string {
		return strings.Replace(text, "{app: web}}\n    spec", "{app: web"+service, 1)
	}
	cases := map[string]change{
		"cloneset":             {how: byKruise, old: workload("CloneSet", "web:1", five), new: workload("CloneSet", "web:2", five)},
		"cloneset, v1alpha1":   {how: byKruise, old: alpha(workload("CloneSet", "web:1", five)), new: alpha(workload("CloneSet", "web:2", five))},
		"cloneset, partition":  {how: byKruise, old: workload("CloneSet", "web:1", five), new: workload("CloneSet", "web:2", five+"  updateStrategy: {rollingUpdate: {partition: 2}}\n")},
		"cloneset, grows":      {how: byKruise, old: workload("CloneSet", "web:1", "  replicas: 2\n"), new: workload("CloneSet", "web:2", five)},
		"statefulset":          {how: byKruise, old: workload("StatefulSet", "web:1", five+"  serviceName: web\n"), new: workload("StatefulSet", "web:2", five+"  serviceName: web\n")},
		"deployment":           {how: byNative, old: workload("CloneSet", "web:1", five), new: workload("CloneSet", "web:2", "  replicas: 3\n")},
		"deployment, stopping": {how: byNative, old: workload("CloneSet", "web:1", five), new: workload("CloneSet", "web:2", five), steps: "1,3,100%"},
		"native statefulset":   {how: byNative, old: workload("CloneSet", "web:1", five+claims), new: workload("CloneSet", "web:2", five+claims)},
		"client": {
			how: byClient, context: pods(5),
			old: inService(workload("CloneSet", "web:1", five)), new: inService(workload("CloneSet", "web:2", five+"  updateStrategy: {rollingUpdate: {maxUnavailable: 2, podUpdatePolicy: InPlaceIfPossible}}\n")),
		},
		"client, recreating": {
			how: byClient, context: pods(5), old: inService(workload("CloneSet", "web:1", five)),
			new: inService(strings.Replace(workload("CloneSet", "web:2", five), "name: app,", "name: app, command: [x],", 1)),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { replay(t, c) })
	}
}

func replay(t *testing.T, c change) {
	t.Helper()
	w := newWorld(t, c)
	set := made(t, c)
	if len(set.Sequences) != 1 {
		t.Fatalf("%d sequences", len(set.Sequences))
	}
	q := &set.Sequences[0]
	for i := range q.Steps {
		w.send(&q.Steps[i])
		w.settle()
	}
	s := w.of(refOf(q.Object))
	want, err := cluster.ReadWorkload(rendered(t, c.how, c.new, "", c.context)[0].Node())
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := unmarked(s.Workload.Object), unmarked(want.Object)
	if !tree.Equal(tree.FromValue(got), tree.FromValue(wanted)) {
		t.Errorf("the object is\n%v\nwant\n%v", got, wanted)
	}
	updated := 0
	for _, p := range s.Pods {
		if p.Containers[0].Image == "web:2" && rules.Ready(p) {
			updated++
		}
		if p.Labels["lifecycle.apps.kruise.io/state"] == "Updating" {
			t.Errorf("%s stays out of service", p.Name)
		}
	}
	if kept := strings.Count(c.new, "partition: 2"); updated != len(s.Pods)-2*kept || updated == 0 {
		t.Errorf("%d of %d pods are updated and ready", updated, len(s.Pods))
	}
}

// alpha writes a document in the older version.
func alpha(text string) string { return strings.Replace(text, "v1beta1", "v1alpha1", 1) }

// unmarked is spec, labels and annotations without what the client and the cluster
// write in addition.
func unmarked(object any) map[string]any {
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	var v map[string]any
	if json.Unmarshal(text, &v) != nil {
		return nil
	}
	n := tree.FromValue(v)
	tree.DeleteAt(n, "spec", "template", "metadata", "labels", "controller-revision-hash")
	out, _ := tree.Value(tree.Get(n, "spec")).(map[string]any)
	return map[string]any{"spec": out, "labels": tree.Strings(tree.Get(n, "metadata", "labels"))["kubectl-kruise.dev/source"], "strategy": tree.Strings(tree.Get(n, "metadata", "annotations"))["kubectl-kruise.dev/strategy"]}
}
