package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

const cloneSet = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop, uid: web, generation: 1, labels: {team: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, partition: 1}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "web:2"}]}
status: {observedGeneration: 1, replicas: 2, readyReplicas: 2, updateRevision: web-2, currentRevision: web-1}
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop, uid: api, generation: 1}
spec:
  replicas: 1
  selector: {matchLabels: {app: api}}
  template: {metadata: {labels: {app: api}}, spec: {containers: [{name: app, image: "api:1"}]}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1}
`

const replicaSet = `
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  {name: api-77, namespace: shop, uid: api-77, labels: {app: api, pod-template-hash: "77"}, annotations: {deployment.kubernetes.io/revision: "1"},
   ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: api, uid: api, controller: true}]}
spec:
  replicas: 1
  selector: {matchLabels: {app: api, pod-template-hash: "77"}}
  template:
    metadata: {labels: {app: api, pod-template-hash: "77"}}
    spec:
      {containers: [{name: app, image: "api:1", imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}],
       dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: 30}
status: {replicas: 1}
`

// pod is a pod of an owner: KIND/NAME.
func pod(name, owner, label, waiting string) string {
	kind, of, _ := strings.Cut(owner, "/")
	version := "apps/v1"
	if kind == "CloneSet" {
		version = "apps.kruise.io/v1beta1"
	}
	ready, state := "True", "running: {}"
	if waiting != "" {
		ready, state = "False", "waiting: {reason: "+waiting+"}"
	}
	app, _, _ := strings.Cut(name, "-")
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  {name: %s, namespace: shop, uid: %s, labels: {app: %s, %s}, ownerReferences: [{apiVersion: %s, kind: %s, name: %s, uid: %s, controller: true}]}
spec: {nodeName: node-1, containers: [{name: app, image: "x:1"}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "%s"}]
  containerStatuses: [{name: app, image: "x:1", imageID: x, ready: %s, restartCount: 0, state: {%s}}]
`, name, name, app, label, version, kind, of, of, ready, strings.ToLower(ready), state)
}

func shop(t *testing.T) *api {
	t.Helper()
	return newAPI(t, cloneSet, deployment, replicaSet,
		pod("web-a", "CloneSet/web", "controller-revision-hash: web-1", ""),
		pod("web-b", "CloneSet/web", "controller-revision-hash: web-2", ""),
		pod("api-77-a", "ReplicaSet/api-77", `pod-template-hash: "77"`, ""),
		"{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {topology.kubernetes.io/zone: zone-a}}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: other}}",
		"{apiVersion: v1, kind: Event, metadata: {name: e1, namespace: shop}, type: Warning, reason: BackOff, message: it fails, count: 3, "+
			"lastTimestamp: \"2026-01-02T03:04:05Z\", involvedObject: {kind: Pod, name: web-a, namespace: shop}}",
	)
}

// seeing is a live world over a server.
func seeing(t *testing.T, a *api, namespace, selector string) *liveSource {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(true)
	flags.APIServer = &a.url
	f := factory.New(factory.Streams{In: strings.NewReader("")})
	f.Flags = flags
	f = withoutMessages(f)
	l, err := connect(t.Context(), f, world.Where{Context: "test", Namespace: namespace}, look{selector: selector, stateNamespace: "kruise"}, live.New(t.Context(), f, "kruise"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// until awaits a world that is as wanted.
func until(t *testing.T, l *liveSource, want world.Want, what string, ok func(*world.World) bool) *world.World {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var since int64
	var last *world.World
	for {
		w, err := l.Await(ctx, since, want)
		if err != nil {
			t.Fatalf("%s: %v; the last was %+v", what, err, last)
		}
		if since, last = w.Version, w; ok(w) {
			return w
		}
	}
}

func loaded(w *world.World) bool { return w.Loaded }

var web = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}

// TestLive_RowsFollowThePods: workloads of Kruise and of Kubernetes stand there with their pods; a pod
// that changes changes its row and no other.
func TestLive_RowsFollowThePods(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	w := until(t, l, world.Want{}, "rows", loaded)
	var got []string
	for _, row := range w.Workloads {
		got = append(got, fmt.Sprintf("%s %s %d/%d updated %d", row.Ref, row.Driver, row.Pods.Ready, row.Pods.Total, row.Pods.Updated))
	}
	want := []string{"cloneset/web kruise 2/2 updated 1", "deployment/api native 1/1 updated 1"}
	if !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	if !slices.Equal(w.Namespaces, []string{"other", "shop"}) {
		t.Errorf("namespaces %q", w.Namespaces)
	}
	a.put(pod("web-b", "CloneSet/web", "controller-revision-hash: web-2", "CrashLoopBackOff"))
	next := until(t, l, world.Want{}, "a pod that crashes", func(w *world.World) bool { return w.Find(web).Health == world.Blocked })
	if why := next.Find(web).Why; !strings.Contains(why, "web-b") {
		t.Errorf("why: %s", why)
	}
	if next.Workloads[1] != w.Workloads[1] {
		t.Error("a row was worked out again that has not changed")
	}
}

// TestLive_WatchesEachKindOnce: however many workloads there are.
func TestLive_WatchesEachKindOnce(t *testing.T) {
	a := shop(t)
	for i := range 50 {
		a.put(strings.NewReplacer("name: api", fmt.Sprintf("name: api%d", i), "uid: api", fmt.Sprintf("uid: api%d", i)).Replace(deployment))
	}
	l := seeing(t, a, "", "")
	until(t, l, world.Want{}, "rows", func(w *world.World) bool { return len(w.Workloads) == 52 })
	a.mu.Lock()
	defer a.mu.Unlock()
	times := map[string]int{}
	for _, r := range a.asked {
		if times[r]++; times[r] > 1 && !strings.HasSuffix(r, "/replicasets") || times[r] > 2 {
			t.Errorf("%s is asked again", r)
		}
	}
}

// TestLive_SelectorIsForWorkloads: -l is about workloads, not about their pods.
func TestLive_SelectorIsForWorkloads(t *testing.T) {
	l := seeing(t, shop(t), "shop", "team=shop")
	w := until(t, l, world.Want{}, "rows", loaded)
	if len(w.Workloads) != 1 || w.Workloads[0].Ref != web || w.Workloads[0].Pods.Total != 2 {
		t.Errorf("%+v", w.Workloads)
	}
}

// TestLive_DetailFollowsTheCluster: a screen gets pods, events and nodes of its workload, and their changes.
func TestLive_DetailFollowsTheCluster(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	want := world.Want{Workload: web}
	w := until(t, l, want, "a detail", func(w *world.World) bool {
		return w.Of(web) != nil && len(w.Detail.Events) > 0 && w.Detail.Snapshot.Nodes != nil
	})
	e := w.Detail.Events[0]
	if e.About != "pod/web-a" || e.Count != 3 || !e.Warning || w.Detail.Pods.Updated != 1 || !w.Detail.Updated["web-b"] {
		t.Errorf("%+v, %+v", e, w.Detail.Pods)
	}
	a.put(pod("web-a", "CloneSet/web", "controller-revision-hash: web-2", ""))
	until(t, l, want, "a pod that is updated", func(w *world.World) bool { return w.Of(web) != nil && w.Detail.Pods.Updated == 2 })
}

// TestLive_DropsAnAbortedRollout: of a rollout that has halted and was ended, nothing is left on the screen.
func TestLive_DropsAnAbortedRollout(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	change := func(f func(*plan.Progress)) {
		t.Helper()
		_, err := kube.Records{Client: l.core, StateNamespace: "kruise"}.Change(t.Context(), web, "ann", func(r *plan.Record) error {
			f(&r.Progress)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change(func(p *plan.Progress) { p.Failed = "pod web-b crashes" })
	want := world.Want{Workload: web}
	until(t, l, want, "a halt", func(w *world.World) bool {
		return w.Of(web) != nil && w.Detail.Begun && strings.HasPrefix(w.Detail.Diagnosis.Answer, "failed at step ")
	})
	change(func(p *plan.Progress) { p.Finished = time.Unix(9, 0) })
	w := until(t, l, want, "the end", func(w *world.World) bool { return w.Of(web) != nil && !w.Detail.Begun })
	if d := w.Detail; d.Snapshot.Progress != (plan.Progress{}) || strings.Contains(d.Diagnosis.Answer, "failed") || d.Health == world.Blocked {
		t.Errorf("%s %+v %+v", d.Health, d.Snapshot.Progress, d.Diagnosis)
	}
}

// TestLive_ReconnectsAfterALostConnection: a connection that is lost shows as such, what was seen stays, and it comes
// back by itself.
func TestLive_ReconnectsAfterALostConnection(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	until(t, l, world.Want{}, "rows", loaded)
	a.lose()
	w := until(t, l, world.Want{}, "a lost connection", func(w *world.World) bool { return w.Link.Lost != "" })
	if len(w.Workloads) != 2 || w.At.After(w.Now) {
		t.Errorf("%+v", w)
	}
	a.back()
	a.put(pod("web-a", "CloneSet/web", "controller-revision-hash: web-2", ""))
	until(t, l, world.Want{}, "the connection again", func(w *world.World) bool { return w.Link.Lost == "" && w.Find(web).Pods.Updated == 2 })
}

// TestLive_MovesToAnotherNamespace: another namespace takes the place of the first one.
func TestLive_MovesToAnotherNamespace(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	until(t, l, world.Want{}, "rows", loaded)
	if err := l.Move(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	w := until(t, l, world.Want{}, "no rows", func(w *world.World) bool { return w.Where.Namespace == "other" })
	if !w.Loaded || len(w.Workloads) != 0 {
		t.Errorf("%+v", w)
	}
}

// TestLive_NamesWhatCannotBeRead checks also that pods are shown once they can be read.
func TestLive_NamesWhatCannotBeRead(t *testing.T) {
	a := shop(t)
	a.forbid("/api/v1/configmaps", true)
	l := seeing(t, a, "shop", "")
	want := world.Want{Workload: web}
	w := until(t, l, want, "a reason", func(w *world.World) bool { return w.Unseen != "" })
	if w.Detail != nil || !strings.Contains(w.Unseen, "Forbidden") {
		t.Errorf("%q, %+v", w.Unseen, w.Detail)
	}
	a.forbid("/api/v1/configmaps", false)
	until(t, l, want, "the pods", func(w *world.World) bool { return w.Unseen == "" && w.Of(web) != nil })
}
