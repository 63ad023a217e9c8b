package commands

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// cut is a command whose watches the server ends, again and again.
type cut struct {
	*exec.Cmd
	proxy *proxy.Proxy
	ended chan error
}

// cutOff starts a command that follows something, waits for its first line, and ends
// its watches until it has begun new ones.
func (b *bed) cutOff(t *testing.T, args ...string) *cut {
	t.Helper()
	p, err := proxy.New(b.Config(), &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	t.Cleanup(p.Kill)
	c := &cut{b.command(t, append([]string{"--server", p.Config().Host}, args...)...), p, make(chan error, 1)}
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		c.ended <- c.Wait()
	}()
	for range 2 {
		before := p.Log.Count()["watch pods"] + p.Log.Count()["watch rollouts"]
		p.EndWatches()
		c.until(t, func() bool { return p.Log.Count()["watch pods"]+p.Log.Count()["watch rollouts"] > before })
	}
	return c
}

// until waits for something, while the command runs.
func (c *cut) until(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case err := <-c.ended:
			t.Fatalf("it ended early: %v", err)
		case <-tick.C:
		}
	}
}

// done waits for the end of the command, which is good.
func (c *cut) done(t *testing.T) {
	t.Helper()
	if err := <-c.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// gated is a CloneSet whose pods are ready when the test says so.
func gated() string {
	return strings.Replace(cloneSet("web", ""), "spec: {containers", "spec: {readinessGates: [{conditionType: example.com/gate}], containers", 1)
}

// open reports that the pods of web are ready.
func (b *bed) open(t *testing.T) {
	t.Helper()
	for _, name := range b.podsOf(t, "web") {
		_, err := b.Client().CoreV1().Pods(b.namespace).Patch(t.Context(), name, types.StrategicMergePatchType,
			[]byte(`{"status":{"conditions":[{"type":"example.com/gate","status":"True"}]}}`), metav1.PatchOptions{}, "status")
		must(t, err)
	}
}

// TestDefectStatus_SurvivesAClosedWatch: the older plugin took the end of a watch for the end of the
// rollout, and ended with 0. A server ends every watch after some minutes.
func TestDefectStatus_SurvivesAClosedWatch(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, gated())
	b.await(t, kruiseV1, "CloneSet", "web", func(u *unstructured.Unstructured) bool { return at(u, "status.replicas") == "3" })
	c := b.cutOff(t, "rollout", "status", "cloneset/web", "--timeout", "2m")
	b.open(t)
	c.done(t)
	if u := b.get(t, kruiseV1, "CloneSet", "web"); at(u, "status.readyReplicas") != "3" {
		t.Errorf("done with %s of 3 ready", at(u, "status.readyReplicas"))
	}
}

// TestDefectStatus_SurvivesAClosedWatchOfARollout: the same for an object of Kruise Rollout.
func TestDefectStatus_SurvivesAClosedWatchOfARollout(t *testing.T) {
	t.Parallel()
	b := withRollouts(t)
	b.Apply(t, b.namespace, releaseOf("web"))
	b.stand(t, rolloutsV1, "Rollout", "web", canaryAt(1))
	c := b.cutOff(t, "rollout", "status", "rollout/web", "--timeout", "2m")
	b.stand(t, rolloutsV1, "Rollout", "web", map[string]any{
		"phase": "Healthy", "observedGeneration": int64(1), "canaryStatus": map[string]any{"currentStepIndex": int64(3), "currentStepState": "Completed"},
	})
	c.done(t)
}

// releaseOf is a Rollout whose first steps have no traffic.
func releaseOf(name string) string {
	return `
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: ` + name + `}
spec:
  workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: ` + name + `}
  strategy: {canary: {steps: [{replicas: 1}, {replicas: 2, traffic: 0%}, {replicas: 100%, traffic: 50%}]}}
---
`
}

// canaryAt is the status of a Rollout at a step.
func canaryAt(step int64) map[string]any {
	return map[string]any{
		"phase": "Progressing", "observedGeneration": int64(1),
		"canaryStatus": map[string]any{"currentStepIndex": step, "currentStepState": "StepUpgrade"},
	}
}

// TestDefectUndoFast_DryRunWritesNothing: a dry run writes nothing, and each Rollout has a target of its own.
func TestDefectUndoFast_DryRunWritesNothing(t *testing.T) {
	t.Parallel()
	b := withRollouts(t)
	b.Apply(t, b.namespace, releaseOf("web")+releaseOf("api"))
	b.stand(t, rolloutsV1, "Rollout", "web", canaryAt(3))
	b.stand(t, rolloutsV1, "Rollout", "api", canaryAt(2))
	for _, mode := range []string{"--dry-run", "--dry-run=client", "--dry-run=server"} {
		b.call(t, "rollout", "undo", "rollout/web", "--fast", mode).ends(t, 0, "rollout.rollouts.kruise.io/web rolled back (")
	}
	if got := at(b.get(t, rolloutsV1, "Rollout", "web"), "status.canaryStatus.nextStepIndex"); got != "" {
		t.Errorf("a dry run wrote step %s", got)
	}
	b.call(t, "rollout", "undo", "rollout/web", "rollout/api", "--fast").
		prints(t, "rollout.rollouts.kruise.io/web rolled back", "rollout.rollouts.kruise.io/api rolled back")
	for name, want := range map[string]string{"web": "2", "api": "1"} {
		if got := at(b.get(t, rolloutsV1, "Rollout", name), "status.canaryStatus.nextStepIndex"); got != want {
			t.Errorf("%s goes to step %s, want %s", name, got, want)
		}
	}
}

// TestDefectRestart_WorksForEachKind: the older plugin failed on Advanced StatefulSets and DaemonSets
// behind a native workload, and gave a CloneSet there an annotation that means nothing to
// it. What updates in place only would never have been restarted.
func TestDefectRestart_WorksForEachKind(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	agent := strings.Replace(workload(kruiseV1, "DaemonSet", "agent", ""), "replicas: 3", "minReadySeconds: 0", 1)
	b.Apply(t, b.namespace, workload("apps/v1", "Deployment", "web", "")+workload(kruiseV1, "StatefulSet", "db", "serviceName: db")+agent+
		cloneSet("still", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}"))
	b.await(t, "apps/v1", "Deployment", "web", ready)
	b.await(t, kruiseV1, "StatefulSet", "db", ready)
	b.await(t, kruiseV1, "CloneSet", "still", ready)
	b.await(t, kruiseV1, "DaemonSet", "agent", func(u *unstructured.Unstructured) bool {
		return at(u, "status.numberReady") != "0" && at(u, "status.numberReady") == at(u, "status.desiredNumberScheduled")
	})
	b.call(t, "rollout", "restart", "deployment/web", "asts/db", "ads/agent").ends(t, 0,
		"deployment.apps/web restarted\n", "statefulset.apps.kruise.io/db restarted\n", "daemonset.apps.kruise.io/agent restarted\n")
	b.call(t, "rollout", "restart", "cloneset/still").ends(t, 1, "updates pods in place only", "hint: with --in-place")
	if got := at(b.get(t, kruiseV1, "CloneSet", "still"), "spec.template.metadata.annotations"); strings.Contains(got, "restartedAt") {
		t.Errorf("the CloneSet's template has %s", got)
	}
}

// TestDefectSet_WorksForDaemonSets: the older plugin sent a strategic merge patch, which the server
// takes for no kind of Kruise.
func TestDefectSet_WorksForDaemonSets(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, strings.Replace(workload(kruiseV1, "DaemonSet", "agent", ""), "replicas: 3", "minReadySeconds: 0", 1))
	b.call(t, "set", "env", "ads/agent", "A=b").prints(t, "daemonset.apps.kruise.io/agent env updated")
	b.call(t, "set", "resources", "ads/agent", "--limits=cpu=1").prints(t, "daemonset.apps.kruise.io/agent resource requirements updated")
	u := b.get(t, kruiseV1, "DaemonSet", "agent")
	if got := at(u, "spec.template.spec.containers.0.env.0.value") + at(u, "spec.template.spec.containers.0.resources.limits.cpu"); got != "b1" {
		t.Errorf("%q", got)
	}
}
