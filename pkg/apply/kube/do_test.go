package kube

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// mergePatch changes the StatefulSet of openAt, or what a target names.
func mergePatch(t *plan.Target) plan.Action {
	return plan.Action{Step: "step", Precondition: plan.Precondition{UID: "uid-web"}, Patch: &plan.Patch{
		Target: t, Type: plan.PatchMerge, Body: map[string]any{"spec": map[string]any{"minReadySeconds": 1}},
	}}
}

// TestDo_WritesNothingWithoutTheLease: while the lease may be with another process nothing is
// written, though a request would still have time.
func TestDo_WritesNothingWithoutTheLease(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	_, pods := newStatefulSet("web-0")
	c := openAt(t, s, restartStep(plan.RestartAlias), pods...)
	seen, err := c.Observe(t.Context(), shopWeb.Ref)
	if err != nil {
		t.Fatal(err)
	}
	sent := time.Now().Add(-16 * time.Second)
	lapsed := &claim{lease: c.lease, namespace: "shop", name: "rollout"}
	lapsed.renewed.Store(&sent)
	c.lease.claim.Store(lapsed)
	pod := plan.PodRef{Namespace: "shop", Name: "web-0", UID: "uid-of-web-0"}
	note := "x"
	for name, a := range map[string]plan.Action{
		"patch": mergePatch(nil), "pod": {Step: "step", Pod: &plan.PodAction{PodRef: pod, Change: cluster.PodChange{Annotations: map[string]*string{"note": &note}}}},
		"evict": {Step: "step", Evict: &pod}, "delete": {Step: "step", Delete: &pod},
		"restart": {Step: "step", Restart: restartOf(pods[0], plan.RestartAlias)},
	} {
		if err := c.Do(t.Context(), shopWeb.Ref, a); !errors.Is(err, plan.ErrUnavailable) || !strings.Contains(err.Error(), "the lease shop/rollout") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Record(t.Context(), shopWeb.Ref, seen.Version, plan.Progress{Started: stepBegan, Sent: 1}); !errors.Is(err, plan.ErrUnavailable) {
		t.Errorf("record: %v", err)
	}
	if err := c.Begin(t.Context(), shopWeb.Ref, onePlan); !errors.Is(err, plan.ErrUnavailable) {
		t.Errorf("begin: %v", err)
	}
	if got := s.written(); len(got) > 0 {
		t.Errorf("written: %q", got)
	}
}

// TestDo_PatchesNoOtherObject: a plan may come from a record that others can edit, and a patch in it
// that names another object is refused.
func TestDo_PatchesNoOtherObject(t *testing.T) {
	s := newAPIServer(t, kruiseOwn)
	c := openAt(t, s, plan.Step{Kind: plan.StepUpdate})
	own := plan.Target{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "web"}
	for name, change := range map[string]func(*plan.Target){
		"another name":      func(o *plan.Target) { o.Name = "db" },
		"another namespace": func(o *plan.Target) { o.Namespace = "bank" },
		"another kind":      func(o *plan.Target) { o.Kind = "Deployment" },
		"another group":     func(o *plan.Target) { o.APIVersion = "apps.kruise.io/v1beta1" },
		"no workload":       func(o *plan.Target) { o.APIVersion, o.Kind = "v1", "Secret" },
	} {
		other := own
		change(&other)
		if err := c.Do(t.Context(), shopWeb.Ref, mergePatch(&other)); err == nil || !strings.Contains(err.Error(), "this rollout changes statefulset/web only") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := s.written(); len(got) > 0 {
		t.Errorf("written: %q", got)
	}
	for _, target := range []*plan.Target{nil, &own} {
		if err := c.Do(t.Context(), shopWeb.Ref, mergePatch(target)); err != nil {
			t.Error(err)
		}
	}
	if got := s.written(); !slices.Equal(got, []string{"patch apps/v1/statefulsets/web", "patch apps/v1/statefulsets/web"}) {
		t.Errorf("written: %q", got)
	}
}

// TestDo_EvictsAndDeletes: an eviction asks the budgets of the server, and a deletion does not.
func TestDo_EvictsAndDeletes(t *testing.T) {
	pod := plan.PodRef{Namespace: "shop", Name: "web-0", UID: "uid-of-web-0"}
	for want, a := range map[string]plan.Action{
		"create v1/pods/web-0/eviction": {Step: "step", Evict: &pod},
		"delete v1/pods/web-0":          {Step: "step", Delete: &pod},
	} {
		s := newAPIServer(t, kruiseOwn)
		_, pods := newStatefulSet("web-0")
		c := openAt(t, s, plan.Step{Kind: plan.StepUpdate}, pods...)
		if err := c.Do(t.Context(), shopWeb.Ref, a); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if got := s.written(); !slices.Equal(got, []string{want}) {
			t.Errorf("written: %q, want %s", got, want)
		}
		if now := s.list("v1/pods")[0]; now.GetDeletionTimestamp() == nil {
			t.Errorf("%s: the pod stays", want)
		}
		s.refuseWrites("v1/pods", http.StatusForbidden)
		if err := c.Do(t.Context(), shopWeb.Ref, a); err == nil {
			t.Errorf("%s: the refusal is no error", want)
		}
	}
}
