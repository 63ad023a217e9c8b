package cluster_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func node(t *testing.T, text string) *tree.Node {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n.YNode()
}

const body = `
metadata: {name: web, namespace: shop, uid: u1, generation: 3, labels: {a: b}, annotations: {c: d}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}]}
`

func TestReadWorkload(t *testing.T) {
	for _, c := range []struct {
		head string
		ref  cluster.Ref
		// pull is the pull policy that is stored.
		version, pull string
	}{
		{"apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet", cluster.Ref{Group: kruise.Group, Kind: "CloneSet"}, "v1alpha1", "Always"},
		{"apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet", cluster.Ref{Group: kruise.Group, Kind: "CloneSet"}, "v1beta1", "Always"},
		{"apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet", cluster.Ref{Group: kruise.Group, Kind: "StatefulSet"}, "v1beta1", "Always"},
		{"apiVersion: apps.kruise.io/v1beta1\nkind: DaemonSet", cluster.Ref{Group: kruise.Group, Kind: "DaemonSet"}, "v1beta1", ""},
		{"apiVersion: apps/v1\nkind: Deployment", cluster.Ref{Group: "apps", Kind: "Deployment"}, "v1", "IfNotPresent"},
		{"apiVersion: apps/v1\nkind: ReplicaSet", cluster.Ref{Group: "apps", Kind: "ReplicaSet"}, "v1", "IfNotPresent"},
		{"apiVersion: apps/v1\nkind: StatefulSet", cluster.Ref{Group: "apps", Kind: "StatefulSet"}, "v1", "IfNotPresent"},
		{"apiVersion: apps/v1\nkind: DaemonSet", cluster.Ref{Group: "apps", Kind: "DaemonSet"}, "v1", "IfNotPresent"},
	} {
		w, err := cluster.ReadWorkload(node(t, c.head+body))
		if err != nil {
			t.Errorf("%s: %v", c.head, err)
			continue
		}
		c.ref.Namespace, c.ref.Name = "shop", "web"
		if w.Ref != c.ref || w.Version != c.version || w.UID != "u1" || w.Generation != 3 || w.Labels["a"] != "b" || w.Annotations["c"] != "d" {
			t.Errorf("%s: %+v", c.head, w)
		}
		containers, _ := at(w.Template, "spec")["containers"].([]any)
		main, _ := containers[0].(map[string]any)
		if got, _ := main["imagePullPolicy"].(string); got != c.pull {
			t.Errorf("%s: pull policy %q, want %q", c.head, got, c.pull)
		}
	}
}

// TestReadWorkload_InOneForm: both versions are read into the newest type, status
// included, and the spec has its defaults.
func TestReadWorkload_InOneForm(t *testing.T) {
	w, err := cluster.ReadWorkload(node(t, "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nstatus: {updatedReplicas: 2}"+body+
		"  updateStrategy: {type: InPlaceOnly, partition: 30%}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, ok := w.Object.(*kruise.CloneSet)
	if !ok {
		t.Fatalf("read a %T", w.Object)
	}
	r := c.Spec.UpdateStrategy.RollingUpdate
	if r.PodUpdatePolicy != kruise.InPlaceOnlyCloneSetPodUpdateStrategyType || r.Partition.String() != "30%" || r.MaxUnavailable.String() != "20%" {
		t.Errorf("strategy: %+v", r)
	}
	if *c.Spec.Replicas != 1 || c.Status.UpdatedReplicas != 2 {
		t.Errorf("replicas %d, updated %d", *c.Spec.Replicas, c.Status.UpdatedReplicas)
	}
}

func TestReadWorkload_SidecarSetHasDefaults(t *testing.T) {
	w, err := cluster.ReadWorkload(node(t, "apiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nmetadata: {name: mesh}\nspec: {containers: [{name: m, image: 'm:1'}]}"))
	if err != nil {
		t.Fatal(err)
	}
	containers, _ := w.Template["containers"].([]any)
	want := map[string]any{
		"image": "m:1", "imagePullPolicy": "IfNotPresent", "name": "m", "podInjectPolicy": "BeforeAppContainer", "resources": map[string]any{},
		"shareVolumePolicy": map[string]any{"type": "disabled"}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		"upgradeStrategy": map[string]any{"upgradeType": "ColdUpgrade"},
	}
	if diff := gocmp.Diff([]any{want}, containers); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReadWorkload_Faults(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		line     int
	}{
		"another kind":          {"apiVersion: v1\nkind: Pod", "kind: v1 Pod has no rollout", 2},
		"no kind":               {"a: b", "kind:  ", 1},
		"an unknown version":    {"apiVersion: apps.kruise.io/v9\nkind: CloneSet", "apiVersion: CloneSet has no version v9", 1},
		"text for a number":     {"apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: many", "spec.replicas: ", 4},
		"text in the template":  {"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec: five", "spec.template.spec: ", 5},
		"a quantity of letters": {"apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - resources: {limits: {cpu: lots}}", "spec.template.spec.containers[0].resources.limits", 7},
	} {
		_, err := cluster.ReadWorkload(node(t, c.in))
		var place *tree.Error
		if !errors.As(err, &place) || !strings.HasPrefix(err.Error(), c.want) || place.Line != c.line {
			t.Errorf("%s: %v, %+v", name, err, place)
		}
	}
	if _, err := cluster.ReadWorkload(nil); err == nil {
		t.Error("nothing was read as something")
	}
}

func TestIsWorkload(t *testing.T) {
	if !cluster.IsWorkload("apps", "Deployment") || !cluster.IsWorkload(kruise.Group, "SidecarSet") || cluster.IsWorkload("", "Pod") || cluster.IsWorkload(kruise.Group, "Deployment") {
		t.Error("kinds are mixed up")
	}
}

func TestReadRevision(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want map[string]any
	}{
		"a template":   {`{"spec": {"template": {"$patch": "replace", "spec": {"a": 1}}}}`, map[string]any{"spec": map[string]any{"a": 1.0}}},
		"a whole spec": {`{"spec": {"$patch": "replace", "containers": []}}`, map[string]any{"containers": []any{}}},
		"nothing":      {`{}`, nil},
		"no JSON":      {`{`, nil},
	} {
		r := &appsv1.ControllerRevision{Revision: 4}
		r.Name, r.Data.Raw = "web-7c9f", []byte(c.data)
		r.Annotations = map[string]string{kruise.VolumeClaimTemplateHashAnnotation: "h"}
		got, err := cluster.ReadRevision(r)
		if c.want == nil {
			if err == nil || err.Error() != "data: revision web-7c9f holds no spec" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		want := cluster.Revision{Name: "web-7c9f", Number: 4, Template: c.want, ClaimsHash: "h"}
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

const podText = `{
  "metadata": {"name": "web-1", "namespace": "shop", "uid": "u", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["f"],
    "creationTimestamp": "2026-01-02T03:04:05Z", "deletionTimestamp": "2026-01-02T03:05:05Z",
    "ownerReferences": [{"kind": "Other", "name": "o"}, {"kind": "CloneSet", "name": "web", "uid": "w", "controller": true}]},
  "spec": {"nodeName": "n1", "readinessGates": [{"conditionType": "InPlaceUpdateReady"}],
    "initContainers": [{"name": "proxy", "image": "p:1", "restartPolicy": "Always"}, {"name": "setup", "image": "s:1"}],
    "containers": [
      {"name": "main", "image": "web:1", "env": [{"name": "X"}, {"name": "KRUISE_CONTAINER_BARRIER", "valueFrom": {"configMapKeyRef": {"key": "p_-2"}}}]},
      {"name": "side", "image": "side:1"}, {"name": "new", "image": "new:1"}]},
  "status": {"phase": "Running",
    "conditions": [{"type": "Ready", "status": "False", "reason": "R", "message": "m", "lastTransitionTime": "2026-01-02T03:04:07Z"}],
    "initContainerStatuses": [{"name": "setup", "image": "s:1", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
    "containerStatuses": [
      {"name": "side", "image": "side:0", "imageID": "i", "restartCount": 2, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}},
      {"name": "main", "image": "web:1", "ready": true, "state": {"running": {}}}]}}`

func TestReadPod(t *testing.T) {
	var p corev1.Pod
	if err := json.Unmarshal([]byte(podText), &p); err != nil {
		t.Fatal(err)
	}
	got, priority := cluster.ReadPod(&p), -2
	want := &cluster.Pod{
		Namespace: "shop", Name: "web-1", UID: "u", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, Finalizers: []string{"f"},
		Owner: cluster.Owner{Kind: "CloneSet", Name: "web", UID: "w"}, Created: p.CreationTimestamp.Time, Deleting: true,
		Node: "n1", ReadinessGates: []string{"InPlaceUpdateReady"}, Phase: corev1.PodRunning,
		Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionFalse, Reason: "R", Message: "m", Since: p.Status.Conditions[0].LastTransitionTime.Time}},
		Containers: []cluster.Container{
			{Name: "main", Image: "web:1", Reported: true, StatusImage: "web:1", Ready: true, Priority: &priority},
			{Name: "side", Image: "side:1", Reported: true, StatusImage: "side:0", ImageID: "i", Restarts: 2, Waiting: "Error", Ended: "Error, exit code 1"},
			{Name: "new", Image: "new:1"},
		},
		InitContainers: []cluster.Container{
			{Name: "proxy", Image: "p:1", Native: true},
			{Name: "setup", Image: "s:1", Reported: true, StatusImage: "s:1"},
		},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := cluster.ReadPod(&corev1.Pod{}); got.Owner != (cluster.Owner{}) || got.Deleting {
		t.Errorf("an empty pod: %+v", got)
	}
}

func TestReadPod_ReportsWaitingReasons(t *testing.T) {
	var p corev1.Pod
	p.Spec.Containers = []corev1.Container{{Name: "main"}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}}}
	if c := cluster.ReadPod(&p).Containers[0]; c.Waiting != "ErrImagePull" || c.Message != "not found" {
		t.Errorf("waiting for %q: %q", c.Waiting, c.Message)
	}
}

func TestReadNode(t *testing.T) {
	var n corev1.Node
	n.Name, n.Labels = "n1", map[string]string{"zone": "a"}
	if diff := gocmp.Diff(&cluster.Node{Name: "n1", Labels: map[string]string{"zone": "a"}}, cluster.ReadNode(&n)); diff != "" {
		t.Error(diff)
	}
}

// TestReadPod_Restarts: what says whether a container can restart.
func TestReadPod_Restarts(t *testing.T) {
	for policy, want := range map[corev1.RestartPolicy]string{"": "own", corev1.RestartPolicyAlways: "own", corev1.RestartPolicyOnFailure: "own", corev1.RestartPolicyNever: "main own"} {
		p := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{
			{Name: "main"}, {Name: "own", RestartPolicy: new(corev1.ContainerRestartPolicyNever)}, {Name: "always", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		}, EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}}}
		read := cluster.ReadPod(p)
		var final []string
		for _, c := range read.Containers {
			if c.Final {
				final = append(final, c.Name)
			}
		}
		if got := strings.Join(final, " "); got != want || len(read.Ephemeral) != 1 || read.Ephemeral[0] != "debug" {
			t.Errorf("%q: %s end for good, want %s; ephemeral %v", policy, got, want, read.Ephemeral)
		}
	}
}

// TestPatchedWorkload_IsAsStored: a workload that a recorded step patches, read by
// us, has the very template that the real cluster stored, defaults included.
func TestPatchedWorkload_IsAsStored(t *testing.T) {
	compared := 0
	for _, c := range conformance.List(t, "rollout") {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if !s.Patched() {
				continue
			}
			got, stored := read(t, patched(t, s)), read(t, s.After.Workload)
			compared++
			if want := storedTemplate(s); !rules.SameTemplate(want, template(got.Template)) {
				t.Errorf("%s step %d: -stored +ours:\n%s", s.Case, s.Number, gocmp.Diff(want, template(got.Template)))
			}
			if !rules.SameTemplate(template(stored.Template), template(got.Template)) {
				t.Errorf("%s step %d: reading the stored object changes it:\n%s", s.Case, s.Number, gocmp.Diff(stored.Template, got.Template))
			}
		}
	}
	t.Logf("%d patched workloads read as stored", compared)
	if compared < 150 {
		t.Errorf("only %d steps were compared", compared)
	}
}

// patched is the workload of a step with the step's merge patch.
func patched(t *testing.T, s conformance.RolloutStep) map[string]any {
	t.Helper()
	doc, err := json.Marshal(s.Before.Workload)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(s.Trace.Step["patch"])
	if err != nil {
		t.Fatal(err)
	}
	doc, err = jsonpatch.MergePatch(doc, patch)
	if err != nil {
		t.Fatal(s.Case, s.Number, err)
	}
	var out map[string]any
	if err := json.Unmarshal(doc, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, object map[string]any) *cluster.Workload {
	t.Helper()
	w, err := cluster.ReadWorkload(tree.FromValue(object))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// storedTemplate is what the cluster made its revision of. It stores the template
// of a DaemonSet without defaults; its newest revision has what the controller
// reads into it.
func storedTemplate(s conformance.RolloutStep) map[string]any {
	switch s.Kind {
	case "SidecarSet":
		return template(at(s.After.Workload, "spec"))
	case "DaemonSet":
		return slices.MaxFunc(s.After.Revisions, func(a, b conformance.RolloutRevision) int { return cmp.Compare(a.Revision, b.Revision) }).Template
	}
	return at(s.After.Workload, "spec", "template")
}

// template wraps what a SidecarSet gives to pods, so that it compares like a
// template.
func template(v map[string]any) map[string]any {
	if _, ok := v["spec"]; ok {
		return v
	}
	return map[string]any{"spec": map[string]any{"containers": v["containers"], "initContainers": v["initContainers"], "volumes": v["volumes"]}}
}

func at(v map[string]any, path ...string) map[string]any {
	for _, step := range path {
		v, _ = v[step].(map[string]any)
	}
	return v
}
