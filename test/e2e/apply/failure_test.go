package apply

import (
	"strings"
	"testing"
)

// TestApply_FailedRolloutEndsWith3: a rollout that comes to no good end is exit code 3; no other begins,
// nothing is pruned, and the same apply does not let go of the pods that are held
// back.
func TestApply_FailedRolloutEndsWith3(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one := document("apps.kruise.io/v1beta1", "CloneSet", "1", "")
	other := strings.NewReplacer("name: web", "name: zebra", "app: web", "app: zebra").Replace(one)
	b.done(t, settings+one+other, "--applyset", "shop")
	how := []string{"--steps", "1,100%", "--pull-images", "never", "--applyset", "shop", "--prune", "--yes"}
	bad := strings.Replace(one, "registry.example.com/web:1", "bad.lab/web:2", 1)
	changed := bad + strings.Replace(other, "web:1", "web:2", 1)
	a := b.apply(t, changed, how...)
	a.is(t, 3)
	a.has(t, "cloneset.apps.kruise.io/zebra waiting: its rollout was not started")
	if got := b.images(t); got["bad.lab/web:2"] != 1 || got[web1] != 5 || b.configMap(t, "settings") == nil {
		t.Errorf("pods: %v, settings: %v", got, b.configMap(t, "settings"))
	}
	b.apply(t, changed, how...).is(t, 1, "its last rollout failed", "rollout abort cloneset/", " --rollback")
	b.done(t, settings+one+other, "--applyset", "shop", "--pull-images", "never").has(t, "cloneset.apps.kruise.io/web rolled out")
	if got := b.images(t); got[web1] != 6 {
		t.Errorf("taken back: %v", got)
	}
}

// TestApply_TimeoutEndsWith4: what is not there in time is exit code 4, a new workload and a
// rollout alike; the same apply continues it.
func TestApply_TimeoutEndsWith4(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one := document("apps.kruise.io/v1beta1", "CloneSet", "1", "")
	never := strings.Replace(one, "labels: {app: web}}\n    spec", "labels: {app: web}, annotations: {lab.test/unready: '*'}}\n    spec", 1)
	b.apply(t, never, "--yes", "--timeout", "2s").is(t, 4)
	b.done(t, one, "--pull-images", "never").has(t, "cloneset.apps.kruise.io/web rolled out")
	late := strings.NewReplacer("web:1", "web:2", "labels: {app: web}}\n    spec", "labels: {app: web}, annotations: {lab.test/ready-delay: 4s}}\n    spec").Replace(one)
	b.apply(t, late, "--yes", "--timeout", "2s", "--pull-images", "never").is(t, 4)
	a := b.done(t, late, "--pull-images", "never")
	a.has(t, "cloneset.apps.kruise.io/web rolled out")
	if got := b.images(t); got[web2] != 3 || !strings.Contains(a.err, "continuing the rollout of") {
		t.Errorf("pods: %v\n%s", got, a.err)
	}
}

func task(name, annotations, more string) string {
	return `
apiVersion: batch/v1
kind: Job
metadata: {name: ` + name + `}
spec:
  backoffLimit: 0
  ` + more + `
  template:
    metadata: {annotations: {` + annotations + `}}
    spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example.com/task:1"}]}
---
`
}

// TestApply_WaitsForJobs: workloads are rolled out when Jobs are done; a Job that fails keeps them
// as they are.
func TestApply_WaitsForJobs(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one := document("apps/v1", "Deployment", "1", "")
	two := document("apps/v1", "Deployment", "2", "")
	b.done(t, one+task("later", "", "suspend: true")).has(t, "job.batch/later created")
	a := b.apply(t, two+task("bad", "lab.test/run: 100ms, lab.test/exit-code: '3'", ""), "--yes", "--pull-images", "never")
	a.is(t, 3, "waiting for job.batch/bad")
	if got := b.images(t); got[web2] != 0 || !strings.Contains(a.out, "job.batch/bad failed: BackoffLimitExceeded") {
		t.Errorf("pods: %v\n%s", got, a.out)
	}
	a = b.apply(t, two+task("slow", "lab.test/run: 1h", ""), "--yes", "--pull-images", "never", "--job-timeout", "2s")
	a.is(t, 4)
	if got := b.images(t); got[web2] != 0 || !strings.Contains(a.out, "job.batch/slow not finished after") {
		t.Errorf("pods: %v\n%s", got, a.out)
	}
	b.done(t, two+task("good", "lab.test/run: 1s", ""), "--pull-images", "never").has(t, "job.batch/good created", "job.batch/good finished", "deployment.apps/web rolled out")
}
