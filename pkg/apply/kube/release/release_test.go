package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var web = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &out.Object); err != nil {
		t.Fatal(err)
	}
	// as the API server's answers are read: whole numbers are int64
	body, err := json.Marshal(out.Object)
	if err == nil {
		err = out.UnmarshalJSON(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rollout is a Rollout of two steps with a spec and a status.
func rollout(spec, status string) string {
	return `
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web, namespace: shop, uid: r1, generation: 3}
spec:
  workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}` + spec + `
  strategy: {canary: {steps: [{replicas: 1, traffic: 5%}, {replicas: 50%, pause: {duration: 60}}]}}
status: {observedGeneration: 3, ` + status + "}\n"
}

const old = `
apiVersion: rollouts.kruise.io/v1alpha1
kind: Rollout
metadata: {name: web, namespace: shop, uid: r1}
spec:
  objectRef: {workloadRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}}
  strategy: {paused: true, canary: {steps: [{weight: 20}, {weight: 40, replicas: 3}]}}
status: {phase: Progressing, canaryStatus: {currentStepIndex: 2, currentStepState: StepPaused, canaryReplicas: 3, canaryReadyReplicas: 2}}
`

const blueGreen = `
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web, namespace: shop, uid: r1}
spec:
  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  strategy: {blueGreen: {steps: [{replicas: 100%, traffic: 0%}]}}
status:
  phase: Progressing
  blueGreenStatus: {currentStepIndex: 1, currentStepState: StepPaused, updatedReplicas: 4, updatedReadyReplicas: 3}
`

func TestRead_SpecAndStatus(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Rollout
	}{
		"v1beta1": {
			rollout("", "phase: Progressing, message: waits, conditions: [{type: Progressing, reason: InRolling}], canaryStatus: {currentStepIndex: 1, currentStepState: StepPaused, stableRevision: abc, observedWorkloadGeneration: 7, canaryReplicas: 1, canaryReadyReplicas: 1}"),
			Rollout{
				Namespace: "shop", Name: "web", UID: "r1", Version: "v1beta1", Workload: web, Style: Canary, Seen: true, Begun: true,
				Steps: []Step{{Replicas: "1", Traffic: "5%", Pause: -1}, {Replicas: "50%", Pause: 60}}, Phase: "Progressing", Message: "waits", Reason: "InRolling",
				Index: 1, State: stepPaused, Stable: "abc", Generation: 7, Updated: 1, Ready: 1,
			},
		},
		"v1alpha1": {old, Rollout{
			Namespace: "shop", Name: "web", UID: "r1", Version: "v1alpha1", Workload: web, Style: Canary, Paused: true, Seen: true, Begun: true,
			Steps: []Step{{Replicas: "20%", Traffic: "20%", Pause: -1}, {Replicas: "3", Traffic: "40%", Pause: -1}}, Phase: "Progressing", Index: 2, State: stepPaused, Updated: 3, Ready: 2,
		}},
		"blue-green": {blueGreen, Rollout{
			Namespace: "shop", Name: "web", UID: "r1", Version: "v1beta1", Style: BlueGreen, Seen: true, Begun: true,
			Workload: cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
			Steps:    []Step{{Replicas: "100%", Traffic: "0%", Pause: -1}}, Phase: "Progressing", Index: 1, State: stepPaused, Updated: 4, Ready: 3,
		}},
	} {
		got, err := Read(parsed(t, c.text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreUnexported(Rollout{})); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestRead_RefusesOtherKinds(t *testing.T) {
	if _, err := Read(parsed(t, "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: web}}")); err == nil {
		t.Error("Argo's Rollout is another kind")
	}
}

func TestRollout_StatusOfEachPhase(t *testing.T) {
	const paused = "canaryStatus: {currentStepIndex: %d, currentStepState: StepPaused}"
	for name, c := range map[string]struct {
		text               string
		holds, waits, done bool
	}{
		"at a step for a person": {rollout("", "phase: Progressing, "+fmt.Sprintf(paused, 1)), true, true, false},
		"at a step for a time":   {rollout("", "phase: Progressing, "+fmt.Sprintf(paused, 2)), true, false, false},
		"paused as a whole":      {old, true, true, false},
		"finished":               {rollout("", "phase: Healthy, canaryStatus: {currentStepIndex: 2, currentStepState: Completed}"), false, false, true},
		"not seen yet":           {strings.Replace(rollout("", "phase: Healthy"), "observedGeneration: 3", "observedGeneration: 2", 1), false, false, false},
		"being deleted":          {rollout("", "phase: Terminating"), true, false, false},
	} {
		r, err := Read(parsed(t, c.text))
		if err != nil {
			t.Fatal(err)
		}
		if r.Controls() != c.holds || r.Waits() != c.waits || r.Done() != c.done {
			t.Errorf("%s: holds %v, waits %v, done %v", name, r.Controls(), r.Waits(), r.Done())
		}
	}
}

// server holds objects; sent returns what was written.
func server(t *testing.T, texts ...string) *fake.FakeDynamicClient {
	t.Helper()
	var objects []runtime.Object
	for _, text := range texts {
		objects = append(objects, parsed(t, text))
	}
	kinds := map[schema.GroupVersionResource]string{
		resourceOf("v1beta1"): "RolloutList", resourceOf("v1alpha1"): "RolloutList",
		{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}: "CloneSetList",
	}
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
}

// watched waits until watches have begun: the fake keeps nothing for one that begins after
// a change.
func watched(t *testing.T, c *fake.FakeDynamicClient, n int) {
	t.Helper()
	for t.Context().Err() == nil {
		begun := 0
		for _, a := range c.Actions() {
			if a.GetVerb() == "watch" {
				begun++
			}
		}
		if begun >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func sent(c *fake.FakeDynamicClient) string {
	var out []string
	for _, a := range c.Actions() {
		if p, ok := a.(clienttesting.PatchAction); ok {
			v := p.GetResource()
			out = append(out, fmt.Sprintf("%s %s %s/%s %s", p.GetPatchType(), v.Version, v.Resource, p.GetSubresource(), p.GetPatch()))
		}
	}
	return strings.Join(out, "\n")
}

// TestWrites_AreExact: the exact writes of docs/facts/older-plugin.md#client-writes and
// docs/facts/older-plugin.md#rollout, and its refusals.
func TestWrites_AreExact(t *testing.T) {
	const merge = "application/merge-patch+json "
	waiting := rollout("", "phase: Progressing, canaryStatus: {currentStepIndex: 1, currentStepState: StepPaused}")
	for name, c := range map[string]struct {
		text string
		do   func(c *fake.FakeDynamicClient, r *Rollout) error
		want string
	}{
		"approve":            {waiting, approve, merge + `v1beta1 rollouts/status {"metadata":{"uid":"r1"},"status":{"canaryStatus":{"currentStepState":"StepReady"}}}`},
		"approve v1alpha1":   {old, approve, merge + `v1alpha1 rollouts/status {"metadata":{"uid":"r1"},"status":{"canaryStatus":{"currentStepState":"StepReady"}}}`},
		"approve blue-green": {blueGreen, approve, merge + `v1beta1 rollouts/status {"metadata":{"uid":"r1"},"status":{"blueGreenStatus":{"currentStepState":"StepReady"}}}`},
		"approve too early": {
			strings.ReplaceAll(waiting, stepPaused, "StepUpgrade"), approve,
			`rollouts.rollouts.kruise.io "web" does not allow to approve, because current canary state is not 'StepPaused'`,
		},
		"approve blue-green too early": {
			strings.ReplaceAll(blueGreen, stepPaused, "StepUpgrade"), approve,
			`rollouts.rollouts.kruise.io "web" does not allow to approve, because current blue-green state is not 'StepPaused'`,
		},
		"approve nothing": {rollout("", "phase: Healthy"), approve, `rollouts.rollouts.kruise.io "web" no need to approve: not in canary or blue-green progress`},
		"pause":           {waiting, pause(true), merge + `v1beta1 rollouts/ {"metadata":{"uid":"r1"},"spec":{"strategy":{"paused":true}}}`},
		"pause again":     {old, pause(true), `rollouts.rollouts.kruise.io "web" is already paused`},
		"resume":          {old, pause(false), merge + `v1alpha1 rollouts/ {"metadata":{"uid":"r1"},"spec":{"strategy":{"paused":null}}}`},
		"resume again":    {waiting, pause(false), `rollouts.rollouts.kruise.io "web" is not paused`},
	} {
		client := server(t, c.text)
		r, err := Get(t.Context(), client, "shop", "web")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		if err := c.do(client, r); err != nil {
			var no *refusedError
			if got = err.Error(); !errors.As(err, &no) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got += sent(client); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func approve(c *fake.FakeDynamicClient, r *Rollout) error {
	_, err := Approve(context.Background(), c, r, Request{Manager: "test"})
	return err
}

func pause(on bool) func(*fake.FakeDynamicClient, *Rollout) error {
	return func(c *fake.FakeDynamicClient, r *Rollout) error {
		_, err := Pause(context.Background(), c, r, on, Request{Manager: "test"})
		return err
	}
}

// TestDefectFast_RollsBackByTheRollout: the older plugin took matches for no traffic, compared numbers with
// percentages, had several Rollouts share a target, and wrote under --dry-run.
func TestDefectFast_RollsBackByTheRollout(t *testing.T) {
	const steps = `[{replicas: 1}, {replicas: 50%, traffic: 0%}, {replicas: 60%, matches: [{headers: []}]}, {replicas: 3, traffic: 30%}, {replicas: 100%}]`
	canary := func(phase string, index int) string {
		return fmt.Sprintf(`{apiVersion: rollouts.kruise.io/v1beta1, kind: Rollout, metadata: {name: web, namespace: shop, uid: r1},
spec: {workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}, strategy: {canary: {steps: %s}}},
status: {phase: %s, canaryStatus: {currentStepIndex: %d, currentStepState: StepPaused}}}`, steps, phase, index)
	}
	write := func(to int) string {
		return fmt.Sprintf(`application/merge-patch+json v1beta1 rollouts/status {"metadata":{"uid":"r1"},"status":{"canaryStatus":{"nextStepIndex":%d}}}`, to)
	}
	for name, c := range map[string]struct{ text, want string }{
		"matches are traffic":  {canary("Progressing", 4), write(2)},
		"just the one before":  {canary("Progressing", 2), write(1)},
		"none is before":       {canary("Progressing", 1), `rollouts.rollouts.kruise.io "web" already at the first step`},
		"too far":              {canary("Progressing", 6), `rollouts.rollouts.kruise.io "web" has 5 steps, but current step is too large 6`},
		"no rollout":           {canary("Healthy", 3), `rollouts.rollouts.kruise.io "web" no need to roll back: not in canary or blue-green progress`},
		"all had some traffic": {strings.NewReplacer("{replicas: 1}", "{replicas: 1, traffic: 1%}", "traffic: 0%", "traffic: 2%").Replace(canary("Progressing", 4)), `rollouts.rollouts.kruise.io "web" no previous step with no traffic found`},
		"v1alpha1":             {strings.Replace(old, "weight: 20", "weight: 0", 1), `application/merge-patch+json v1alpha1 rollouts/status {"metadata":{"uid":"r1"},"status":{"canaryStatus":{"nextStepIndex":1}}}`},
	} {
		client := server(t, c.text)
		r, err := Get(t.Context(), client, "shop", "web")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if u, err := Fast(t.Context(), client, r, Request{Only: true}); sent(client) != "" || err == nil && u.GetName() != "web" {
			t.Errorf("%s: it was pretended, and written: %s, %v", name, sent(client), err)
		}
		got := ""
		if _, err := Fast(t.Context(), client, r, Request{}); err != nil {
			got = err.Error()
		}
		if got += sent(client); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestHand_PinsTemplateToObject: the whole template, pinned to the object, and nothing else.
func TestHand_PinsTemplateToObject(t *testing.T) {
	c := server(t, `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop, uid: w1}
spec: {replicas: 3, template: {metadata: {labels: {app: web, more: x}}}}
`)
	v := schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "clonesets"}
	w := Template{Workload: web, Resource: v, UID: "w1", Template: map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}}}
	got, err := Hand(t.Context(), c, w, Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"replicas": int64(3), "template": w.Template}
	if diff := cmp.Diff(want, got.Object["spec"]); diff != "" {
		t.Error(diff)
	}
	w.UID = "another"
	if _, err := Hand(t.Context(), c, w, Request{}); err == nil {
		t.Error("its successor was written to")
	}
}

func TestOf_FindsControllingRollout(t *testing.T) {
	other := strings.Replace(strings.Replace(rollout("", "phase: Healthy"), "kind: CloneSet, name: web", "kind: CloneSet, name: api", 1), "name: web,", "name: api,", 1)
	for name, c := range map[string]struct {
		texts []string
		w     cluster.Ref
		want  bool
	}{
		"its own":               {[]string{other, rollout("", "phase: Healthy")}, web, true},
		"v1alpha1 alone":        {[]string{old}, web, true},
		"another's":             {[]string{other}, web, false},
		"disabled":              {[]string{rollout("\n  disabled: true", "phase: Disabled")}, web, false},
		"disabled, but not yet": {[]string{rollout("\n  disabled: true", "phase: Disabling")}, web, true},
		"a kind it cannot have": {[]string{rollout("", "phase: Healthy")}, cluster.Ref{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "web"}, false},
	} {
		client := server(t, c.texts...)
		if strings.Contains(c.texts[0], "v1alpha1") {
			client.PrependReactor("list", "rollouts", func(a clienttesting.Action) (bool, runtime.Object, error) {
				return a.GetResource().Version == "v1beta1", nil, errNotServed
			})
		}
		r, err := Of(t.Context(), client, c.w)
		if err != nil || (r != nil) != c.want || r != nil && r.Name != "web" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

var errNotServed = &statusError{}

type statusError struct{}

func (*statusError) Error() string { return "not served" }
func (*statusError) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: 404}
}

func TestGet_ReportsAMissingRollout(t *testing.T) {
	if _, err := Get(t.Context(), server(t), "shop", "web"); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

// TestWatch_ReportsEveryStateOnce: every state once, until there is enough; a deletion is an error.
func TestWatch_ReportsEveryStateOnce(t *testing.T) {
	c := server(t, rollout("", "phase: Progressing"))
	r, err := Get(t.Context(), c, "shop", "web")
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	api := c.Resource(resourceOf("v1beta1")).Namespace("shop")
	err = Watch(t.Context(), c, r, func(r *Rollout) bool {
		phases = append(phases, r.Phase)
		if r.Phase == "Progressing" {
			watched(t, c, 1)
			if _, err := api.Update(t.Context(), parsed(t, rollout("", "phase: Healthy")), metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		}
		return r.Phase == "Healthy"
	})
	if diff := cmp.Diff([]string{"Progressing", "Healthy"}, phases); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	err = Watch(t.Context(), c, r, func(*Rollout) bool {
		watched(t, c, 2)
		if err := api.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		return false
	})
	if err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("%v", err)
	}
}
