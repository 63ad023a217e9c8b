package rollout_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// slow are the workloads of each kind and driver whose pods change one after the other.
var slow = map[string]struct{ of, text, driver string }{
	"CloneSet":             {"cloneset/web", kind("apps.kruise.io/v1beta1", "CloneSet", "replicas: 5\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}"), "kruise"},
	"CloneSet surge":       {"cloneset/web", kind("apps.kruise.io/v1beta1", "CloneSet", "replicas: 5\n  updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}"), "kruise"},
	"Advanced StatefulSet": {"statefulset.apps.kruise.io/web", kind("apps.kruise.io/v1beta1", "StatefulSet", "replicas: 5\n  serviceName: web\n  updateStrategy: {rollingUpdate: {maxUnavailable: 1}}"), "kruise"},
	"Advanced DaemonSet":   {"daemonset.apps.kruise.io/web", kind("apps.kruise.io/v1beta1", "DaemonSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}"), "kruise"},
	"Deployment":           {"deployment/web", kind("apps/v1", "Deployment", "replicas: 5\n  strategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}"), "native"},
	"StatefulSet":          {"statefulset.apps/web", kind("apps/v1", "StatefulSet", "replicas: 5\n  serviceName: web"), "native"},
	"DaemonSet":            {"daemonset.apps/web", kind("apps/v1", "DaemonSet", "minReadySeconds: 0"), "native"},
	"ReplicaSet":           {"replicaset/web", kind("apps/v1", "ReplicaSet", "replicas: 5"), "client"},
	"StatefulSet OnDelete": {"statefulset.apps/web", kind("apps/v1", "StatefulSet", "replicas: 5\n  serviceName: web\n  updateStrategy: {type: OnDelete}"), "client"},
	"DaemonSet OnDelete":   {"daemonset.apps/web", kind("apps/v1", "DaemonSet", "updateStrategy: {type: OnDelete}"), "client"},
}

// settles is how long it is watched that nothing more happens after the controllers have seen that all pods are available:
// they would change the next pod in the same turn, the client a moment later.
const settles = time.Second

// slowly is a rollout of all pods in one step, in the middle of which the story begins: the first pods have changed,
// and no node starts or ends any until they are released.
type slowly struct {
	*story.Story

	run  string
	kind schema.GroupVersionKind
	all  int
	*story.Running
}

func inTheMiddle(t *testing.T, name string) *slowly {
	t.Helper()
	c := slow[name]
	all := 5
	if strings.Contains(name, "DaemonSet") {
		all = 3
	}
	var is metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(c.text), &is); err != nil {
		t.Fatal(err)
	}
	s := &slowly{Story: story.Start(t, all, c.text), kind: is.GroupVersionKind(), all: all}
	s.available() // a pod that is not yet is replaced beside the budget
	s.Nodes.Freeze(story.Namespace)
	s.run = "rollout run " + c.of + " --steps 100% --driver " + c.driver + image2
	s.Running = s.Begin(s.run + " --on-failure rollback")
	s.Await(t, "the first pods have changed", func() bool {
		return len(s.untouched()) < all
	})
	return s
}

// available waits until the controller says in the workload's status that all pods are available.
func (s *slowly) available() {
	s.Helper()
	field := "availableReplicas"
	if s.kind.Kind == "DaemonSet" {
		field = "numberAvailable"
	}
	r := s.Served(s.kind)
	s.Await(s.T, "all pods are available", func() bool {
		u := s.Get(s.T, r.GroupVersion().WithResource(r.Plural), story.Namespace, "web")
		return story.Number(u, "status", field) >= int64(s.all) && story.Number(u, "status", "observedGeneration") == u.GetGeneration()
	})
}

// untouched are the pods that nothing has begun to change.
func (s *slowly) untouched() map[types.UID]bool {
	s.Helper()
	out := map[types.UID]bool{}
	for _, p := range s.Pods(s.T, story.Namespace) {
		if strings.HasSuffix(p.Spec.Containers[0].Image, ":1") {
			out[p.UID] = true
		}
	}
	return out
}

// unchanged wants the pods left alone that nothing had begun to change when a verb answered, also when those that had
// are available.
func (s *slowly) unchanged(said *story.Result) {
	s.Helper()
	before := s.untouched()
	if len(before) == 0 {
		s.Errorf("no pod was left of %d:\n%s", s.all, said.Err)
	}
	s.Nodes.Thaw(story.Namespace)
	s.available()
	time.Sleep(settles)
	after := s.untouched()
	for uid := range before {
		if !after[uid] {
			s.Fatalf("%d of %d pods that were left have changed after the answer:\n%s%s", len(before)-len(after), len(before), said.Out, said.Err)
		}
	}
	if strings.Contains(said.Err, "aborted") && !strings.Contains(said.Err, fmt.Sprintf("left: %d of ", len(before))) {
		s.Errorf("%d pods have the old template:\n%s", len(before), said.Err)
	}
}

// TestPause_WithAnExecutor: a living process stops the controller of each kind, and no pod changes after the answer
// but those on their way. Resuming leads to the end.
func TestPause_WithAnExecutor(t *testing.T) {
	t.Parallel()
	for name, c := range slow {
		t.Run(name, func(t *testing.T) {
			s := inTheMiddle(t, name)
			s.unchanged(s.Run("rollout pause "+c.of).Ends(0, "no further pod is updated"))
			s.Run("rollout resume " + c.of).Ends(0)
			s.End()
			s.Has("", images{"web:2": s.all})
		})
	}
}

// TestAbort_WithoutAnExecutor: the process was interrupted, and the controller of each kind continues; aborting stops
// it, and 'retry' or the next rollout lets it continue.
func TestAbort_WithoutAnExecutor(t *testing.T) {
	t.Parallel()
	for i, name := range slices.Sorted(maps.Keys(slow)) {
		t.Run(name, func(t *testing.T) {
			s, of := inTheMiddle(t, name), slow[name].of
			s.Interrupt()
			s.End()
			s.unchanged(s.Run("rollout abort "+of).Ends(0, "aborted"))
			if i%2 == 1 {
				s.Run(s.run).Ends(0)
			} else {
				s.Run("rollout retry " + of).Ends(0)
			}
			s.Has("", images{"web:2": s.all})
		})
	}
}

// TestAbort_WithAnExecutor: an abort is no failure, so nothing is rolled back although the plan says so of failures;
// --rollback afterwards takes it back.
func TestAbort_WithAnExecutor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CloneSet", "Deployment", "StatefulSet"} {
		t.Run(name, func(t *testing.T) {
			s, of := inTheMiddle(t, name), slow[name].of
			s.unchanged(s.Run("rollout abort "+of).Ends(0, "aborted"))
			if r := s.End().Ends(3); strings.Contains(r.Out+r.Err, "rolled back") {
				t.Errorf("%s%s", r.Out, r.Err)
			}
			if n := len(s.untouched()); n == s.all || n == 0 {
				t.Errorf("%d of %d pods have the old image", n, s.all)
			}
			s.Run("rollout abort " + of + " --rollback --yes").Ends(0)
			s.Has("", images{"web:1": s.all})
		})
	}
}
