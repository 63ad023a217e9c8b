package kube

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var (
	web       = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	configs   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	errLate   = apierrors.NewTimeoutError("it may have happened", 0)
	errBroken = apierrors.NewInternalError(errors.New("broken"))
	onePlan   = plan.Plan{
		Driver: plan.DriverKruise, Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "shop", Name: "web"},
		Change: plan.Change{Mode: rules.ModeRecreate, ToHash: "abc"},
		Steps:  []plan.Step{{Name: "update", Kind: plan.StepUpdate, OnFailure: plan.FailPause}},
	}
)

// failingRecords is a cluster where the first writes of a verb go wrong, each in its way;
// lost is a write that took effect and whose answer did not come.
func failingRecords(verb string, errs ...error) Records {
	client := fake.NewClientset()
	client.PrependReactor(verb, "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if c, ok := a.(clienttesting.CreateAction); ok {
			c.GetObject().(*corev1.ConfigMap).ResourceVersion = "1" // which the fake does not
		}
		if len(errs) == 0 {
			return false, nil, nil
		}
		err := errs[0]
		errs = errs[1:]
		if errors.Is(err, errLate) {
			_, _, _ = clienttesting.ObjectReaction(client.Tracker())(a)
		}
		return true, nil, err
	})
	return Records{Client: client, Program: "test 1"}
}

// TestRecords_StartOnce: a plan is recorded once, whatever becomes of the answers.
func TestRecords_StartOnce(t *testing.T) {
	for name, errs := range map[string][]error{
		"fair":          nil,
		"lost answer":   {errLate},
		"broken, lost":  {errBroken, errLate},
		"created first": {apierrors.NewAlreadyExists(configs.GroupResource(), "web")},
	} {
		t.Run(name, func(t *testing.T) {
			r := failingRecords("create", errs...)
			rec, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, map[string]any{"a": "b"}, "anna")
			if err != nil || rec.By != "anna" || len(rec.Plan.Steps) != 1 || rec.Base["a"] != "b" {
				t.Fatal(rec, err)
			}
			again, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "ben")
			if err != nil || again.By != "ben" || again.Base["a"] != "b" || again.Begun.Equal(rec.Begun) {
				t.Fatal(again, err)
			}
		})
	}
}

// TestRecords_ChangeOnce: a change is made once, on top of what others have written.
func TestRecords_ChangeOnce(t *testing.T) {
	for name, c := range map[string]struct {
		errs []error
		made int
	}{
		"fair":        {nil, 1},
		"lost answer": {[]error{errLate}, 1},
		"conflict":    {[]error{apierrors.NewConflict(configs.GroupResource(), "web", errors.New("changed"))}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := failingRecords("patch", c.errs...)
			if _, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna"); err != nil {
				t.Fatal(err)
			}
			made := 0
			rec, err := r.Change(t.Context(), web, "ben", func(rec *plan.Record) error {
				made++
				rec.Progress.Sent++
				rec.Progress.Promoted = true
				return nil
			})
			if err != nil || rec.Progress.Sent != 1 || rec.By != "ben" || made != c.made {
				t.Error(rec.Progress, rec.By, made, err)
			}
			kept, err := r.Load(t.Context(), web)
			if err != nil {
				t.Fatal(err)
			}
			var history []string
			for _, e := range kept.Entries {
				history = append(history, e.What+" by "+e.By+" with "+e.Program)
			}
			if got := strings.Join(history, ", "); got != "begin by anna with test 1, promote by ben with test 1" {
				t.Error(got)
			}
		})
	}
}

// TestRecords_RefusalIsFinal: what will not change is not tried again.
func TestRecords_RefusalIsFinal(t *testing.T) {
	forbidden := apierrors.NewForbidden(configs.GroupResource(), "web", errors.New("you may not"))
	r := failingRecords("create", forbidden)
	if _, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna"); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	if _, err := r.Change(t.Context(), web, "anna", nil); !errors.Is(err, plan.ErrNoRollout) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := failingRecords("create", errBroken, errBroken).Begin(ctx, web, metav1.OwnerReference{}, onePlan, nil, "anna"); err == nil {
		t.Error("the context has ended")
	}
}

// TestPlanErrorKind_OfAnswers: what answers mean.
func TestPlanErrorKind_OfAnswers(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	budget := apierrors.NewTooManyRequests("a budget", 0)
	budget.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "DisruptionBudget"}}
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"not found":    {apierrors.NewNotFound(pods, "a"), plan.ErrNotFound},
		"conflict":     {apierrors.NewConflict(pods, "a", errors.New("changed")), plan.ErrConflict},
		"budget":       {budget, plan.ErrRefused},
		"busy":         {apierrors.NewTooManyRequests("busy", 1), plan.ErrUnavailable},
		"broken":       {errBroken, plan.ErrUnavailable},
		"timeout":      {errLate, plan.ErrUnavailable},
		"no answer":    {context.DeadlineExceeded, plan.ErrUnavailable},
		"two budgets":  {apierrors.NewInternalError(errors.New("two: This pod has more than one PodDisruptionBudget")), nil},
		"forbidden":    {apierrors.NewForbidden(pods, "a", errors.New("you may not")), nil},
		"kruise's pub": {apierrors.NewForbidden(pods, "a", errors.New(`admission webhook "podunavailablebudget.policy.kruise.io" denied`)), plan.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			if got := planErrorKind(c.err); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestWatchedRecord_RefusesAnotherRecord: another record than the one that the process carries out,
// or none, is an error, unless the workload itself was deleted.
func TestWatchedRecord_RefusesAnotherRecord(t *testing.T) {
	mine := plan.Record{Begun: time.Unix(1, 0), Version: "1", By: "anna", Plan: onePlan}
	mine.Plan.Target.UID = "a"
	for name, c := range map[string]struct {
		rec  plan.Record
		uid  string
		want error
	}{
		"mine":                    {mine, "a", nil},
		"another":                 {plan.Record{Begun: time.Unix(2, 0), Version: "2"}, "a", plan.ErrOtherExecutor},
		"deleted":                 {plan.Record{}, "a", plan.ErrNotFound},
		"deleted with the object": {plan.Record{}, "b", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := &watchedRecord{shown: map[string]plan.Record{}}
			if r.isLost(plan.Record{}) {
				t.Error("nothing is lost before there is anything")
			}
			r.pin(mine)
			if got, want := r.isLost(c.rec), c.rec.Version == ""; got != want {
				t.Errorf("lost: %t, want %t", got, want)
			}
			s := plan.Snapshot{Version: "1", Workload: &cluster.Workload{Ref: web, UID: c.uid}}
			if err := r.noteShown(s, c.rec); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestServedAs_IsNewestVersion: a workload is written in the newest version that the cluster serves.
func TestServedAs_IsNewestVersion(t *testing.T) {
	old, now := schema.GroupVersion{Group: kruise.Group, Version: kruise.V1alpha1}, schema.GroupVersion{Group: kruise.Group, Version: kruise.V1beta1}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{old, now})
	mapper.Add(old.WithKind("CloneSet"), meta.RESTScopeNamespace)
	mapper.Add(now.WithKind("CloneSet"), meta.RESTScopeNamespace)
	mapper.Add(old.WithKind("SidecarSet"), meta.RESTScopeRoot)
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	for ref, want := range map[cluster.Ref]string{
		{Group: kruise.Group, Kind: "CloneSet", Namespace: "shop", Name: "web"}: "apps.kruise.io/v1beta1, Resource=clonesets",
		{Group: kruise.Group, Kind: "SidecarSet", Name: "mesh"}:                 "apps.kruise.io/v1alpha1, Resource=sidecarsets",
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}:     "apps/v1, Resource=deployments",
	} {
		got, err := servedAs(mapper, ref)
		if err != nil || got.Ref != ref || got.Resource.String() != want {
			t.Errorf("%s: %+v, %v; want %s", ref, got, err, want)
		}
	}
	if got, err := servedAs(mapper, cluster.Ref{Group: kruise.Group, Kind: "DaemonSet", Name: "web"}); !errors.Is(err, plan.ErrNotFound) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRecords_ListsNoneOfTheClusterElsewhere: a record of a kind without a namespace counts in the namespace of these only.
func TestRecords_ListsNoneOfTheClusterElsewhere(t *testing.T) {
	r := Records{Client: fake.NewClientset(), StateNamespace: "state"}
	p := onePlan
	p.Target = plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "SidecarSet", Name: "side"}
	for _, namespace := range []string{"shop", "state", "team"} {
		cm, err := Records{StateNamespace: namespace}.configMap(plan.Record{Ref: p.Target.Ref(), Plan: p, By: namespace}, metav1.OwnerReference{})
		if err == nil {
			_, err = r.Client.CoreV1().ConfigMaps(namespace).Create(t.Context(), cm, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for namespace, want := range map[string]string{"": "state", "state": "state", "shop": ""} {
		list, unreadable, err := r.List(t.Context(), namespace)
		got := ""
		for _, rec := range list {
			got += rec.By
		}
		if got != want || len(unreadable) > 0 || err != nil {
			t.Errorf("in %q: %q, want %q; %v, %v", namespace, got, want, unreadable, err)
		}
	}
}
