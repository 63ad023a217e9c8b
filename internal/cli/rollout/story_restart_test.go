package rollout_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// alone is a pod without an owner.
func alone(name, app, policy string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {app: " + app + "}}\nspec: {restartPolicy: " + policy + ", containers: [{name: main, image: \"registry.example.com/web:1\"}]}\n"
}

// restarts are how often the main container of each pod has restarted.
func restarts[K comparable](s *story.Story, key func(*corev1.Pod) K) map[K]int {
	s.Helper()
	out := map[K]int{}
	for _, p := range s.Pods(s.T, story.Namespace) {
		out[key(&p)] = int(p.Status.ContainerStatuses[0].RestartCount)
	}
	return out
}

func byName(p *corev1.Pod) string { return p.Name }

func byUID(p *corev1.Pod) string { return string(p.UID) }

// mostDown follows the pods; the function that it returns says how many were down at once.
func mostDown(s *story.Story) func() int {
	s.Helper()
	pods := s.Client.CoreV1().Pods(story.Namespace)
	list, err := pods.List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		s.Fatal(err)
	}
	var most atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		down := map[string]bool{}
		for e := range w.ResultChan() {
			p, ok := e.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			delete(down, p.Name)
			if !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
				down[p.Name] = true
			}
			most.Store(max(most.Load(), int64(len(down))))
		}
	}()
	return func() int {
		cancel()
		<-ended
		return int(most.Load())
	}
}

// TestRestartPods_UnmanagedOnesOneByOne: pods without an owner restart one after the other; one that would not come
// back is refused.
func TestRestartPods_UnmanagedOnesOneByOne(t *testing.T) {
	s := story.Start(t, 3, alone("a", "web", "Always"), alone("b", "web", "OnFailure"), alone("never", "web", "Never"))
	s.Run("restart never --yes").Ends(1, "restartPolicy is Never")
	most := mostDown(s)
	s.Run("restart a pod/b --yes").Ends(0)
	if n := most(); n != 1 {
		t.Errorf("%d pods were down at once", n)
	}
	if got := restarts(s, byName); !maps.Equal(got, map[string]int{"a": 1, "b": 1, "never": 0}) {
		t.Errorf("restarts %v", got)
	}
}

// TestRestartPods_RolloutVerbsContinueIt: the restart of a pod without an owner that was left is looked at, and
// continued, by the verbs for rollouts.
func TestRestartPods_RolloutVerbsContinueIt(t *testing.T) {
	s := story.Start(t, 1, alone("a", "web", "Always"))
	s.Run("rollout pause pod/a").Ends(1, "pausing is not supported")
	s.Run("rollout retry pod/a").Ends(1, "no rollout is recorded")
	s.Run("restart a --yes --timeout 1ns").Ends(4)
	s.Run("rollout list").Ends(0, "pod/a")
	s.Run("rollout status pod/a --watch=false").Ends(0, "pod/a")
	s.Run("rollout pause pod/a").Ends(0, "no further pod is updated")
	s.Run("rollout resume pod/a").Ends(0, "completed")
	s.Run("rollout status po/a").Ends(0, "completed")
	s.Run("rollout abort pod/a").Ends(1, "the rollout is completed")
	if got := restarts(s, byName); !maps.Equal(got, map[string]int{"a": 1}) {
		t.Errorf("restarts %v", got)
	}
}

// TestRestart_ReportsABudgetWithoutRoom before anything is written.
func TestRestart_ReportsABudgetWithoutRoom(t *testing.T) {
	s := web(t)
	s.Apply(t, story.Namespace, `apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web}
spec: {maxUnavailable: 0, targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}}
`)
	s.Run("restart cloneset/web --yes").Ends(1, "the plan cannot finish", "budget web")
	if r := s.Run("rollout list").Ends(0); strings.Contains(r.Out, "web") {
		t.Errorf("a rollout is recorded\n%s", r.Out)
	}
}

// TestRestart_Selector: -l restarts the pods that it matches, or all pods of the workloads that it matches, and no
// other pods.
func TestRestart_Selector(t *testing.T) {
	set := strings.NewReplacer("{name: web}", "{name: web, labels: {part: shop}}", "app: web", "app: set").Replace(kind("apps/v1", "StatefulSet", "replicas: 2\n  serviceName: web"))
	s := story.Start(t, 4, alone("a", "web", "Always"), alone("b", "db", "Always"), set)
	for _, call := range []struct {
		args string
		ends int
		says string
		want map[string]int
	}{
		{"pods -l app=web --yes", 0, "", map[string]int{"a": 1, "b": 0, "web-0": 0, "web-1": 0}},
		{"-l part=shop --yes", 0, "", map[string]int{"a": 1, "b": 0, "web-0": 1, "web-1": 1}},
		{"sts,deploy -l part=shop --yes", 0, "", map[string]int{"a": 1, "b": 0, "web-0": 2, "web-1": 2}},
		{"-l part=none --yes", 1, `no workload in namespace ` + story.Namespace + ` matches "part=none"`, nil},
		{"po -l part=none --yes", 1, `no pod in namespace ` + story.Namespace, nil},
		{"sts/web -l part=shop --yes", 2, "-l goes with types", nil},
		{"jobs -l part=shop --yes", 2, "unknown type", nil},
	} {
		s.Run("restart "+call.args).Ends(call.ends, call.says)
		if got := restarts(s, byName); call.want != nil && !maps.Equal(got, call.want) {
			t.Errorf("%s: restarts %v, want %v", call.args, got, call.want)
		}
	}
}

// TestRestart_OfPodsAndWorkloads: pods, a workload, and what is refused.
func TestRestart_OfPodsAndWorkloads(t *testing.T) {
	s := story.Start(t, 4, kind("apps/v1", "Deployment", "replicas: 4\n  strategy: {rollingUpdate: {maxUnavailable: 2}}"))
	pods := s.Pods(t, story.Namespace)
	a, b := pods[0].Name, pods[1].Name
	s.Run("restart "+a+" "+b).Ends(2, "method crr: Kruise's node agent restarts the containers", "add --yes to confirm")
	s.Run("restart "+a+" pod/"+b+" --yes").Ends(0, "restart main in 2 pods")
	s.Run("restart deployment/web -c main --method image-alias --steps 1,100% --yes").Ends(0)
	if got, want := restarts(s, byName), map[string]int{a: 2, b: 2, pods[2].Name: 1, pods[3].Name: 1}; !maps.Equal(got, want) {
		t.Errorf("restarts %v, want %v", got, want)
	}
	s.Run("restart deployment/web -c other --yes").Ends(1, `the pods have no container "other"`, "hint: containers: ")
	s.Run("restart missing --yes").Ends(1, `pods "missing" not found`)
	s.Run("restart deployment/web --method magic").Ends(2, `unknown method "magic"`)
}

// TestRestart_OnceByEveryMethod restarts the containers of all pods, each once, by every method but signals, which need a kubelet; the pods stay.
func TestRestart_OnceByEveryMethod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, of, method string }{
		"crr, CloneSet":             {kind("apps.kruise.io/v1beta1", "CloneSet", "replicas: 3\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}"), "cloneset/web", plan.RestartCRR},
		"chosen, StatefulSet":       {kind("apps/v1", "StatefulSet", "replicas: 3\n  serviceName: web"), "statefulset.apps/web", ""},
		"image-alias, ReplicaSet":   {kind("apps/v1", "ReplicaSet", "replicas: 3"), "replicaset/web", plan.RestartAlias},
		"image-alias, Deployment":   {kind("apps/v1", "Deployment", "replicas: 3\n  strategy: {rollingUpdate: {maxUnavailable: 2}}"), "deployment/web", plan.RestartAlias},
		"crr, DaemonSet":            {kind("apps/v1", "DaemonSet", "minReadySeconds: 0"), "daemonset.apps/web", plan.RestartCRR},
		"crr, Advanced StatefulSet": {kind("apps.kruise.io/v1beta1", "StatefulSet", "replicas: 3\n  serviceName: web"), "statefulset.apps.kruise.io/web", plan.RestartCRR},
	} {
		t.Run(name, func(t *testing.T) {
			s := story.Start(t, 3, c.text)
			want := restarts(s, byUID)
			line := "restart " + c.of + " --yes"
			if c.method != "" {
				line += " --method " + c.method
			}
			s.Run(line).Ends(0)
			for uid := range want {
				want[uid]++
			}
			if got := restarts(s, byUID); !maps.Equal(got, want) {
				t.Errorf("restarts %v, want %v", got, want)
			}
		})
	}
}

// TestRestart_ResumeRestartsNothingTwice: a process that continues after a crash finds on the cluster what was
// restarted, and restarts nothing twice.
func TestRestart_ResumeRestartsNothingTwice(t *testing.T) {
	t.Parallel()
	for _, method := range []string{plan.RestartCRR, plan.RestartAlias} {
		t.Run(method, func(t *testing.T) {
			s := web(t)
			p := restartPlan(s, plan.RestartRequest{Method: method}, func(*plan.Plan) {})
			for crashes := 0; ; crashes++ {
				ctx, cancel := context.WithCancelCause(t.Context())
				k := opened(s)
				acted := 0
				res, err := apply.Run(ctx, k, webRef, p, apply.Options{Emit: func(e event.Event) {
					if e.Type == event.Acted {
						if acted++; acted == 1 {
							cancel(errors.New("crash"))
						}
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				cancel(nil)
				k.Close()
				if res.Outcome == event.Completed {
					break
				}
				if res.Outcome != event.Interrupted || crashes > 8 {
					t.Fatalf("%s: %s", res.Outcome, res.Reason)
				}
			}
			for uid, n := range restarts(s, byUID) {
				if n != 1 {
					t.Errorf("pod %s has restarted %d times", uid, n)
				}
			}
		})
	}
}

// TestRestart_RefusedEndsTheRollout: the reason is the rollout's end.
func TestRestart_RefusedEndsTheRollout(t *testing.T) {
	s := web(t)
	p := restartPlan(s, plan.RestartRequest{}, func(p *plan.Plan) { p.Steps[0].Containers.Names = []string{"other"} })
	res, err := apply.Run(t.Context(), opened(s), webRef, p, apply.Options{})
	if err != nil || res.Outcome != event.Failed || !strings.Contains(res.Reason, "container other cannot be restarted: the pod has no such container") {
		t.Errorf("%s: %s, %v", res.Outcome, res.Reason, err)
	}
	if slices.Max(slices.Collect(maps.Values(restarts(s, byUID)))) > 0 {
		t.Error("something has restarted")
	}
}
