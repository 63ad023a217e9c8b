package conformance

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// A small case of each kind, and an engine that answers it as it was recorded. Every
// row below spoils one of the two: then the case must fail.
const (
	broadcastInput = `
apiVersion: apps.kruise.io/v1beta1
kind: BroadcastJob
metadata: {name: warm, namespace: ops}
spec: {template: {metadata: {annotations: {lab.test/run: 1s}}, spec: {containers: [{name: warm}]}}}
`
	broadcastWant = `
result: accepted
stable: true
stored:
- apiVersion: apps.kruise.io/v1beta1
  kind: BroadcastJob
  metadata: {name: warm, namespace: ops}
  spec: {template: {metadata: {annotations: {lab.test/run: 1s}}, spec: {containers: [{name: warm}]}}}
status:
  BroadcastJob/warm: {desired: 1, succeeded: 1, phase: completed, completionTime: <time>}
nodesInCreationOrder: [fake-node-0]
mostActiveAtOnce: 1
pods:
- phase: Succeeded
  object:
    metadata: {labels: {broadcastjob-name: warm}, annotations: {lab.test/run: 1s}}
    spec: {nodeName: fake-node-0, containers: [{name: warm}], affinity: AFFINITY}
`
	broadcastMade = `
apiVersion: batch/v1
kind: Job
metadata: {name: warm-fake-node-0, namespace: ops}
spec:
  template: {metadata: {annotations: {lab.test/run: 1s}}, spec: {containers: [{name: warm}], affinity: AFFINITY}}
`
	affinity = `{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [fake-node-0]}]}]}}}`

	pullInput = `
apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: pull, namespace: ops}
spec: {image: "example.com/app:1", pullPolicy: {timeoutSeconds: 5, backoffLimit: 1}}
`
	pullWant = `
result: accepted
status:
  ImagePullJob/pull: {desired: 1, succeeded: 1, completionTime: <time>}
mostActiveAtOnce: {pull: 1}
nodeImages:
- node: fake-node-0
  spec:
    example.com/app:
      pullSecrets: [{name: creds-<random>}]
      tags: [{tag: "1", imagePullPolicy: IfNotPresent, ownerReferences: [{name: pull}], pullPolicy: {timeoutSeconds: 5, backoffLimit: 1}}]
`
	pullMade = `
apiVersion: batch/v1
kind: Job
metadata: {name: pull-fake-node-0, namespace: ops}
spec:
  activeDeadlineSeconds: 10
  template:
    spec:
      imagePullSecrets: [{name: creds}]
      volumes: [{image: {reference: "example.com/app:1", pullPolicy: IfNotPresent}}]
      affinity: AFFINITY
`

	cronInput = `
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: report, namespace: ops}
spec: {schedule: "1 2 * * *", concurrencyPolicy: Forbid, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1, template: {jobTemplate: {spec: {backoffLimit: 2}}}}
`
	cronWant = `
result: accepted
childrenSeen: [Job/report-<tick-1>]
objects:
- apiVersion: batch/v1
  kind: Job
  metadata: {name: report-<tick-1>, ownerReferences: [{kind: AdvancedCronJob, name: report}], annotations: {apps.kruise.io/scheduled-at: <time>}}
  spec: {backoffLimit: 2, selector: {matchLabels: {a: b}}}
`
	cronMade = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: ops}
spec: {schedule: "1 2 * * *", concurrencyPolicy: Forbid, jobTemplate: {spec: {backoffLimit: 2}}}
`

	podInput = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: ops}
spec: {nodeName: fake-node-0, containers: [{name: app, image: "example.com/app:1"}]}
---
`
	recreateInput = podInput + `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: restart, namespace: ops}
spec: {podName: web, containers: [{name: app}]}
`
	recreateWant = `
result: accepted
answerToCreate:
- apiVersion: apps.kruise.io/v1beta1
  kind: ContainerRecreateRequest
  metadata: {name: restart, namespace: ops}
  spec: {podName: web, containers: [{name: app}]}
status:
  ContainerRecreateRequest/restart: {phase: Completed, containerRecreateStates: [{name: app, phase: Succeeded, isKilled: true}]}
`
	ephemeralInput = podInput + `
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: trace, namespace: ops}
spec: {template: {ephemeralContainers: [{name: tracer}]}}
`
	ephemeralWant = `
result: accepted
status:
  EphemeralJob/trace: {phase: Succeeded, match: 1, succeeded: 1}
pods:
- phase: Running
  object: {metadata: {name: web}, spec: {ephemeralContainers: [{name: tracer}]}}
`
)

var restartStep = JobsStep{Pod: "web", Type: "json", Body: []any{
	map[string]any{"op": "test", "path": "/spec/containers/0/image", "value": "example.com/app:1"},
	map[string]any{"op": "replace", "path": "/spec/containers/0/image", "value": "example.com/app:1@sha256:5"},
}}

var ephemeralStep = JobsStep{Pod: "web", Type: "strategic", Subresource: "ephemeralcontainers", Body: map[string]any{
	"spec": map[string]any{"ephemeralContainers": []any{map[string]any{"name": "tracer"}}},
}}

// jobsScene is one case and what an engine makes of it.
type jobsScene struct {
	input, want, made string
	steps             []JobsStep
}

var jobsScenes = map[string]jobsScene{
	"broadcast": {broadcastInput, broadcastWant, broadcastMade, nil},
	"pull":      {pullInput, pullWant, pullMade, nil},
	"cron":      {cronInput, cronWant, cronMade, nil},
	"recreate":  {recreateInput, recreateWant, "", []JobsStep{restartStep}},
	"ephemeral": {ephemeralInput, ephemeralWant, "", []JobsStep{ephemeralStep}},
}

// run runs the scene with an engine that stores objects as they are.
func (s jobsScene) run(finding string) error {
	engine := JobsEngine{
		Refuse: func(object, _ map[string]any, _ []map[string]any) []string {
			if nameOf(object) == "refused" {
				return []string{"spec.podName"}
			}
			return nil
		},
		Stored: func(object, _ map[string]any, _ string) (map[string]any, error) { return copied(object), nil },
		Render: func(map[string]any, []map[string]any) (*JobsRendering, error) {
			objects, err := Docs([]byte(strings.ReplaceAll(s.made, "AFFINITY", affinity)))
			return &JobsRendering{Objects: objects, Findings: map[string]string{finding: "2 at a time"}, Steps: s.steps}, err
		},
	}
	files := fstest.MapFS{"input.yaml": data("%s", s.input), "expected.yaml": data("%s", strings.ReplaceAll(s.want, "AFFINITY", affinity))}
	return Jobs(Case{files: files}, engine)
}

// TestJobs: what was recorded passes, and each difference is found.
func TestJobs(t *testing.T) {
	for name, scene := range jobsScenes {
		t.Run(name, func(t *testing.T) {
			if err := scene.run(""); err != nil {
				t.Error(err)
			}
		})
	}
	for _, tc := range []struct{ scene, where, old, spoilt, finding string }{
		{"broadcast", "want", "desired: 1", "desired: 2", ""},
		{"broadcast", "want", "succeeded: 1", "succeeded: 0", ""},
		{"broadcast", "want", "phase: completed", "phase: failed", ""},
		{"broadcast", "want", "mostActiveAtOnce: 1", "mostActiveAtOnce: 2", ""},
		{"broadcast", "want", "Order: [fake-node-0]", "Order: [fake-node-1]", ""},
		{"broadcast", "want", "{lab.test/run: 1s}}\n    spec", "{lab.test/run: 2s}}\n    spec", ""},
		{"broadcast", "want", "{containers: [{name: warm}]}}}\nstatus", "{containers: [{name: other}]}}}\nstatus", ""},
		{"broadcast", "made", "spec:\n", "spec:\n  suspend: true\n", ""},
		{"broadcast", "made", "run: 1s", `run: 1s, lab.test/exit-code: "3"`, "broadcastjob/fail-fast"},
		{"broadcast", "made", "spec:\n", "spec:\n  activeDeadlineSeconds: 0\n", ""},
		{"broadcast", "made", "AFFINITY", "{}", ""},
		{"broadcast", "made", "kind: Job", "kind: CronJob", ""},
		{"pull", "want", "desired: 1", "desired: 2", ""},
		{"pull", "want", "succeeded: 1", "failed: 1, failedNodes: [fake-node-0]", ""},
		{"pull", "want", ", completionTime: <time>", "", ""},
		{"pull", "want", "node: fake-node-0", "node: fake-node-1", ""},
		{"pull", "want", "IfNotPresent", "Always", ""},
		{"pull", "want", "creds-<random>", "other-<random>", ""},
		{"pull", "want", "backoffLimit: 1", "backoffLimit: 2", ""},
		{"pull", "want", "{pull: 1}", "{pull: 2}", ""},
		{"pull", "made", `"example.com/app:1"`, `"example.com/app:2"`, ""},
		{"pull", "made", "spec:\n  a", "spec:\n  suspend: true\n  a", ""},
		{"cron", "made", "1 2 * * *", "1 3 * * *", ""},
		{"cron", "made", "Forbid", "Allow", ""},
		{"cron", "made", "{schedule", "{suspend: true, schedule", ""},
		{"cron", "made", "backoffLimit: 2", "backoffLimit: 3", ""},
		{"cron", "made", "kind: CronJob", "kind: Job", ""},
		{"recreate", "want", "phase: Succeeded", "phase: Failed", ""},
		{"recreate", "want", "isKilled: true", "isKilled: false", ""},
		{"recreate", "want", "containers: [{name: app}]}\nstatus", "containers: [{name: other}]}\nstatus", ""},
		{"recreate", "input", "example.com/app:1", "example.com/app:2", ""},
		{"recreate", "input", "name: restart", "name: refused", ""},
		{"ephemeral", "want", "[{name: tracer}]", "[]", ""},
		{"ephemeral", "want", "phase: Succeeded", "phase: Running", ""},
		{"ephemeral", "want", "match: 1", "match: 2", ""},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s", tc.scene, tc.where, tc.spoilt), func(t *testing.T) {
			s := jobsScenes[tc.scene]
			text := map[string]*string{"input": &s.input, "want": &s.want, "made": &s.made}[tc.where]
			if !strings.Contains(*text, tc.old) {
				t.Fatalf("there is no %q to be spoilt", tc.old)
			}
			*text = strings.Replace(*text, tc.old, tc.spoilt, 1)
			if s.run(tc.finding) == nil {
				t.Error("the difference is not found")
			}
		})
	}
}

// TestNodes_OfNotesAreRead: nodes that only the notes describe are there.
func TestNodes_OfNotesAreRead(t *testing.T) {
	r := &jobsRun{cluster: cluster{}}
	r.noted("Two more nodes exist in this case: fan-node-0 (taint a.b/pool=c:NoSchedule), fan-node-1 (taint a.b/drain=now:NoExecute and cordoned). Both carry the label a.b/extra=true.")
	want := map[string]any{"taints": []any{map[string]any{"key": "a.b/drain", "value": "now", "effect": "NoExecute"}}, "unschedulable": true}
	got := r.cluster[key{kind: "Node", name: "fan-node-1"}]
	if err := Different("the node", Diff(want, got["spec"])); err != nil {
		t.Error(err)
	}
	if text(got, "metadata", "labels", "a.b/extra") != "true" || len(r.cluster) != 2 {
		t.Errorf("%v", r.cluster)
	}
}
