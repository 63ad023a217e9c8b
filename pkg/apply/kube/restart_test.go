package kube

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var shopWeb = Object{
	cluster.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "web"},
	schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"},
}

// stepBegan is when the present step of the rollouts of these tests began.
var stepBegan = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// newStatefulSet is a StatefulSet of a namespace with some pods, each on a node of its own.
func newStatefulSet(pods ...string) (*appsv1.StatefulSet, []*corev1.Pod) {
	labels := map[string]string{"app": "web"}
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(len(pods))), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "web:1"}}}},
		},
	}
	var out []*corev1.Pod
	for _, name := range pods {
		out = append(out, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), Labels: labels,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: set.UID, Controller: new(true)}},
			},
			Spec: corev1.PodSpec{NodeName: "node-of-" + name, Containers: []corev1.Container{{Name: "app", Image: "web:1"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", Image: "docker.io/library/web:1", ImageID: "docker.io/library/web@sha256:" + strings.Repeat("a", 64), Ready: true, RestartCount: 2,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}}},
		})
	}
	return set, out
}

// openAt opens a workload whose rollout is at a step.
func openAt(t *testing.T, s *apiServer, step plan.Step, pods ...*corev1.Pod) *Cluster {
	t.Helper()
	set, _ := newStatefulSet()
	set.Spec.Replicas = new(int32(len(pods)))
	s.put(t, "apps/v1/statefulsets", set)
	for _, p := range pods {
		s.put(t, "v1/pods", p)
	}
	step.Name, step.OnFailure = "step", plan.FailPause
	rec := plan.Record{Ref: shopWeb.Ref, Begun: stepBegan, By: "ann", Progress: plan.Progress{Started: stepBegan}, Plan: onePlan}
	rec.Plan.Target = plan.Target{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "web", UID: "uid-web"}
	rec.Plan.Steps = []plan.Step{step}
	cm, err := Records{}.configMap(rec, metav1.OwnerReference{})
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, "v1/configmaps", cm)
	c, err := Open(t.Context(), s.config(), Options{Target: shopWeb, Holder: "ann@desk", StateNamespace: "kruise-state"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func restartStep(method string) plan.Step {
	return plan.Step{Kind: plan.StepRecreateContainers, Timeout: plan.Duration(7 * time.Minute), Containers: &plan.Containers{Names: []string{"app"}, Method: method}}
}

func restartOf(p *corev1.Pod, method string) *plan.Restart {
	return &plan.Restart{PodRef: plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}, Containers: []string{"app"}, Method: method}
}

// TestRestart_AsksKruiseOncePerStep: a step makes one ContainerRecreateRequest for a pod, also
// when it is asked again by another process; it ends with the step's time and goes with the
// workload.
func TestRestart_AsksKruiseOncePerStep(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	_, pods := newStatefulSet("web-0", "web-1")
	c := openAt(t, s, restartStep(""), pods...)
	for range 2 {
		if err := c.Do(t.Context(), shopWeb.Ref, plan.Action{Step: "step", Restart: restartOf(pods[0], "")}); err != nil {
			t.Fatal(err)
		}
	}
	second, err := Open(t.Context(), s.config(), Options{Target: shopWeb, Holder: "ben@desk"})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := second.Do(t.Context(), shopWeb.Ref, plan.Action{Step: "step", Restart: restartOf(pods[0], "")}); err != nil {
		t.Fatal(err)
	}
	list := s.list("apps.kruise.io/v1alpha1/containerrecreaterequests")
	if len(list) != 1 {
		t.Fatalf("%d requests: %q", len(list), s.written())
	}
	r, err := decodeKruise[kruise.ContainerRecreateRequest](list[0])
	if err != nil {
		t.Fatal(err)
	}
	if r.Spec.PodName != "web-0" || *r.Spec.ActiveDeadlineSeconds != 7*60 || r.Spec.Containers[0].Name != "app" || len(r.OwnerReferences) != 1 || r.OwnerReferences[0].UID != "uid-web" {
		t.Errorf("%+v of %+v", r.Spec, r.OwnerReferences)
	}
}

// TestRestart_ShowsResultOfRequest: what becomes of a request is the result of the pod.
func TestRestart_ShowsResultOfRequest(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	_, pods := newStatefulSet("web-0", "web-1")
	c := openAt(t, s, restartStep(""), pods...)
	if err := c.Do(t.Context(), shopWeb.Ref, plan.Action{Step: "step", Restart: restartOf(pods[0], "")}); err != nil {
		t.Fatal(err)
	}
	snapshot, err := c.Observe(t.Context(), shopWeb.Ref)
	if r := snapshot.Verified[plan.RestartKey("step", "web-0")]; err != nil || r.Done || r.Text != "container app pending" {
		t.Fatalf("%+v, %v", r, err)
	}
	u := s.list("apps.kruise.io/v1alpha1/containerrecreaterequests")[0].DeepCopy()
	u.Object["status"] = map[string]any{"phase": "Completed", "containerRecreateStates": []any{map[string]any{"name": "app", "phase": "Succeeded"}}}
	s.put(t, "apps.kruise.io/v1alpha1/containerrecreaterequests", u)
	eventually(t, c.changes, "the restart is done", func() bool {
		snapshot, err := c.Observe(t.Context(), shopWeb.Ref)
		r := snapshot.Verified[plan.RestartKey("step", "web-0")]
		return err == nil && r.Done && r.Good
	})
}

// TestRestart_ByAliasWithoutKruise: where there is no Kruise, an image with another name is
// given that, once for each step, and the pod says what was asked.
func TestRestart_ByAliasWithoutKruise(t *testing.T) {
	s := newAPIServer(t, nil)
	_, pods := newStatefulSet("web-0")
	c := openAt(t, s, restartStep(""), pods...)
	for range 2 {
		if err := c.Do(t.Context(), shopWeb.Ref, plan.Action{Step: "step", Restart: restartOf(pods[0], "")}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"patch v1/pods/web-0"}, s.written()); diff != "" {
		t.Error(diff)
	}
	p, _ := c.observer.pods.get("shop", "web-0")
	if has, _ := p.Container("app"); has.Image == "web:1" || !strings.Contains(has.Image, "web") {
		t.Errorf("image %q", has.Image)
	}
	note, ok := restartNoteOf(p.Pod)
	if want := (restartNote{stepIDOf(shopWeb.Ref, plan.Progress{Started: stepBegan}), plan.RestartAlias, map[string]int{"app": 2}, true}); !ok || cmp.Diff(want, note) != "" {
		t.Errorf("%+v", note)
	}
}

// TestRestart_Refused: what cannot be restarted is an error that says why, and nothing is
// written.
func TestRestart_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.Pod, *plan.Restart)
		want   string
		is     error
	}{
		"another pod of that name": {func(_ *corev1.Pod, r *plan.Restart) { r.UID = "older" }, "", plan.ErrNotFound},
		"no Kruise":                {func(_ *corev1.Pod, r *plan.Restart) { r.Method = plan.RestartCRR }, "ContainerRecreateRequest is not served here", nil},
		"unknown method":           {func(_ *corev1.Pod, r *plan.Restart) { r.Method = "magic" }, `"magic"`, nil},
		"unknown container":        {func(_ *corev1.Pod, r *plan.Restart) { r.Containers = []string{"db"} }, "container db cannot be restarted", nil},
		"shared process IDs": {func(p *corev1.Pod, r *plan.Restart) {
			p.Spec.ShareProcessNamespace, r.Method = new(true), plan.RestartSignal
		}, "its containers share their process IDs", nil},
		"container that stays ended": {func(p *corev1.Pod, r *plan.Restart) {
			p.Spec.Containers[0].RestartPolicy, r.Method = new(corev1.ContainerRestartPolicyOnFailure), plan.RestartSignal
		}, "its restartPolicy does not bring it back", nil},
		"image without another name": {func(p *corev1.Pod, r *plan.Restart) {
			p.Status.ContainerStatuses[0].ImageID, r.Method = "", plan.RestartAlias
			p.Spec.Containers[0].Image, p.Status.ContainerStatuses[0].Image = "web@sha256:"+strings.Repeat("b", 64), ""
		}, "cannot be restarted by another name", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, nil)
			_, pods := newStatefulSet("web-0")
			r := restartOf(pods[0], "")
			c.change(pods[0], r)
			opened := openAt(t, s, restartStep(""), pods...)
			err := opened.Do(t.Context(), shopWeb.Ref, plan.Action{Step: "step", Restart: r})
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if got := s.written(); len(got) > 0 {
				t.Errorf("written: %q", got)
			}
		})
	}
}

// TestRestart_SignalIsNotedBeforeItIsSent: a signal that fails leaves a note that it is not
// certain; the container that has restarted meanwhile is not signalled again.
func TestRestart_SignalIsNotedBeforeItIsSent(t *testing.T) {
	s := newAPIServer(t, nil)
	_, pods := newStatefulSet("web-0")
	c := openAt(t, s, restartStep(plan.RestartSignal), pods...)
	restart := plan.Action{Step: "step", Restart: restartOf(pods[0], plan.RestartSignal)}
	// The server has no exec.
	if err := c.Do(t.Context(), shopWeb.Ref, restart); err == nil || !strings.Contains(err.Error(), "container app cannot be signalled") {
		t.Fatal(err)
	}
	p, _ := c.observer.pods.get("shop", "web-0")
	if note, ok := restartNoteOf(p.Pod); !ok || note.Sent || note.Before["app"] != 2 {
		t.Fatalf("%+v", note)
	}
	restarted := s.list("v1/pods")[0].DeepCopy()
	statuses := restarted.Object["status"].(map[string]any)["containerStatuses"].([]any)
	statuses[0].(map[string]any)["restartCount"] = int64(3)
	s.put(t, "v1/pods", restarted)
	eventually(t, c.changes, "the restart is seen", func() bool {
		p, _ := c.observer.pods.get("shop", "web-0")
		has, _ := p.Container("app")
		return has.Restarts == 3
	})
	if err := c.Do(t.Context(), shopWeb.Ref, restart); err != nil {
		t.Fatal(err)
	}
	p, _ = c.observer.pods.get("shop", "web-0")
	if note, ok := restartNoteOf(p.Pod); !ok || !note.Sent || note.Before["app"] != 2 {
		t.Errorf("%+v", note)
	}
}

// TestRestart_Requests: the requests that a dry run shows are those of the method, and none
// is sent.
func TestRestart_Requests(t *testing.T) {
	for name, c := range map[string]struct {
		served map[string]string
		method string
		want   string
	}{
		"kruise": {kruiseOwn, "", "POST /apis/apps.kruise.io/v1alpha1/namespaces/shop/containerrecreaterequests"},
		"alias":  {nil, "", "PATCH /api/v1/namespaces/shop/pods/web-0"},
		"signal": {nil, plan.RestartSignal, "POST /api/v1/namespaces/shop/pods/web-0/exec?command=kill&command=1&container=app"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, c.served)
			_, pods := newStatefulSet("web-0")
			opened := openAt(t, s, restartStep(c.method), pods...)
			snapshot, err := opened.Observe(t.Context(), shopWeb.Ref)
			if err != nil {
				t.Fatal(err)
			}
			list, err := opened.Requests(snapshot, plan.Action{Step: "step", Restart: restartOf(pods[0], c.method)})
			if err != nil || len(list) != 1 || list[0].Method+" "+list[0].Path != c.want {
				t.Errorf("%+v, %v; want %s", list, err, c.want)
			}
			if got := s.written(); len(got) > 0 {
				t.Errorf("written: %q", got)
			}
		})
	}
}

// TestRestart_ForbiddenRequests: permissions that are missing are an error, not a reason to
// restart in another way.
func TestRestart_ForbiddenRequests(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	_, pods := newStatefulSet("web-0")
	c := openAt(t, s, plan.Step{Kind: plan.StepUpdate}, pods...)
	s.refuse("apps.kruise.io/v1beta1/containerrecreaterequests", http.StatusForbidden)
	s.refuse("apps.kruise.io/v1alpha1/containerrecreaterequests", http.StatusForbidden)
	err := c.Do(t.Context(), shopWeb.Ref, plan.Action{Step: "step", Restart: restartOf(pods[0], "")})
	if err == nil || !strings.Contains(err.Error(), "containerrecreaterequests") || slices.Contains(s.written(), "patch v1/pods/web-0") {
		t.Errorf("%v after %q", err, s.written())
	}
}

// TestResultOfRequest_ByPhaseAndContainer: a request is over when its phase says so, and good when every
// container is.
func TestResultOfRequest_ByPhaseAndContainer(t *testing.T) {
	type states = []kruise.ContainerRecreateRequestContainerRecreateState
	for name, c := range map[string]struct {
		phase   kruise.ContainerRecreateRequestPhase
		message string
		states  states
		want    plan.Result
	}{
		"new":        {"", "", nil, plan.Result{Text: "container main pending, container log pending"}},
		"recreating": {"Recreating", "", states{{Name: "main", Phase: "Succeeded"}, {Name: "log", Phase: "Recreating"}}, plan.Result{Text: "container log recreating"}},
		"good":       {"Completed", "", states{{Name: "log", Phase: "Succeeded"}, {Name: "main", Phase: "Succeeded"}}, plan.Result{Done: true, Good: true}},
		"failed":     {"Completed", "", states{{Name: "main", Phase: "Failed", Message: "cannot be stopped"}}, plan.Result{Done: true, Text: "container main failed: cannot be stopped; container log pending"}},
		"no daemon":  {"Completed", "daemon has not responded for a long time", nil, plan.Result{Done: true, Text: "daemon has not responded for a long time; container main pending; container log pending"}},
		"never back": {"Completed", "recreating has exceeded the activeDeadlineSeconds", states{{Name: "main", Phase: "Recreating"}, {Name: "log", Phase: "Succeeded"}}, plan.Result{Done: true, Text: "recreating has exceeded the activeDeadlineSeconds; container main recreating"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &kruise.ContainerRecreateRequest{}
			r.Spec.Containers = []kruise.ContainerRecreateRequestContainer{{Name: "main"}, {Name: "log"}}
			r.Status = kruise.ContainerRecreateRequestStatus{Phase: c.phase, Message: c.message, ContainerRecreateStates: c.states}
			if diff := cmp.Diff(c.want, resultOfRequest(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRestartNote_KeepsTheResult: what is written on a pod says later how its restart went.
func TestRestartNote_KeepsTheResult(t *testing.T) {
	p := observedPod{Pod: &cluster.Pod{Containers: []cluster.Container{{Name: "main", Restarts: 3, Ready: true}, {Name: "log", Restarts: 9, Ready: true}}}}
	a := newRestartNote("m", p, plan.RestartSignal, []string{"main"})
	p.Annotations = map[string]string{restartAnnotation: a.text()}
	got, ok := restartNoteOf(p.Pod)
	if diff := cmp.Diff(restartNote{"m", plan.RestartSignal, map[string]int{"main": 3}, false}, got); !ok || diff != "" {
		t.Error(diff)
	}
	main := &p.Containers[0]
	if r := got.result(p.Pod); r.Done || r.Text != "container main has not restarted yet (its first process may not handle TERM)" {
		t.Errorf("%+v", r)
	}
	main.Restarts, main.Ready = 4, false
	if r := got.result(p.Pod); r.Done || r.Text != "container main is not ready yet" {
		t.Errorf("%+v", r)
	}
	main.Ready = true
	if r := got.result(p.Pod); !r.Done || !r.Good {
		t.Errorf("%+v", r)
	}
	for _, text := range []string{"", "yes", "[]"} {
		p.Annotations[restartAnnotation] = text
		if _, ok := restartNoteOf(p.Pod); ok {
			t.Errorf("%q says nothing", text)
		}
	}
}

// TestSignalFactsOf_NeedsARestartableContainer: what a container must be like to be restarted by a signal.
func TestSignalFactsOf_NeedsARestartableContainer(t *testing.T) {
	never, yes := corev1.ContainerRestartPolicyNever, true
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "a"},
		{Name: "b", RestartPolicy: &never},
		{Name: "c", Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"drain"}}}}},
	}}}
	got := signalFactsOf(p)
	if diff := cmp.Diff([]string{"b"}, got.endingContainers); diff != "" || got.sharedProcesses != "" || got.preStopCommands["c"][0] != "drain" {
		t.Errorf("%+v", got)
	}
	p.Spec.RestartPolicy, p.Spec.ShareProcessNamespace = corev1.RestartPolicyNever, &yes
	if got := signalFactsOf(p); len(got.endingContainers) != 3 || got.sharedProcesses == "" {
		t.Errorf("%+v", got)
	}
}
