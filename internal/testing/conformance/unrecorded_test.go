package conformance

import (
	"strings"
	"testing"
	"testing/fstest"
)

// What a case may hold though none of those at hand does.

// TestUnderway: a recording may end while the pods of a job run.
func TestUnderway(t *testing.T) {
	for _, tc := range []struct {
		name, old, spoilt string
		differ            bool
	}{
		{"running", "", "", false},
		{"more than there are nodes", "active: 1", "active: 2", true},
		{"nothing runs", "spec:\n  template", "spec:\n  suspend: true\n  template", true},
		{"in another phase", "phase: running", "phase: completed", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := jobsScenes["broadcast"]
			s.want = strings.NewReplacer("succeeded: 1, phase: completed, completionTime: <time>", "active: 1, phase: running", "phase: Succeeded", "phase: Running").Replace(s.want)
			s.want, s.made = strings.Replace(s.want, tc.old, tc.spoilt, 1), strings.Replace(s.made, tc.old, tc.spoilt, 1)
			if err := s.run(""); (err != nil) != tc.differ {
				t.Errorf("%v, want a difference: %v", err, tc.differ)
			}
		})
	}
}

// TestJob_WithoutParallelismIsAtRest: a job that runs no pod at a time is not over, and is no DaemonSet.
func TestJob_WithoutParallelismIsAtRest(t *testing.T) {
	rest := strings.NewReplacer(
		"succeeded: 1, phase: completed, completionTime: <time>", "active: 0, phase: running",
		"Order: [fake-node-0]\nmostActiveAtOnce: 1", "Order: []\nmostActiveAtOnce: 0", "broadcastjob-name: warm", "of: another")
	for _, tc := range []struct {
		name, made, policy, on string
		differ                 bool
	}{
		{"suspended", strings.Replace(broadcastMade, "spec:\n", "spec:\n  suspend: true\n", 1), "Always", "", false},
		{"it runs", broadcastMade, "Always", "", true},
		{"no DaemonSet", "", "Never", "", false},
		{"no DaemonSet, and pods are recorded", "", "Never", "fake-node-0", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := jobsScenes["broadcast"]
			s.made, s.want = tc.made, strings.Replace(rest.Replace(s.want), "Order: []", "Order: ["+tc.on+"]", 1)
			for _, text := range []*string{&s.input, &s.want} {
				*text = strings.Replace(*text, "spec: {template", "spec: {completionPolicy: {type: "+tc.policy+"}, template", 1)
			}
			if err := s.run("broadcastjob/paused-never"); (err != nil) != tc.differ {
				t.Errorf("%v, want a difference: %v", err, tc.differ)
			}
		})
	}
}

// TestPods_HaveTheFinalizersOfTheirTemplate: a pod has those of its template.
func TestPods_HaveTheFinalizersOfTheirTemplate(t *testing.T) {
	s := jobsScenes["broadcast"]
	for _, text := range []*string{&s.input, &s.want, &s.made} {
		*text = strings.ReplaceAll(*text, "annotations: {", "finalizers: [a/b], annotations: {")
	}
	if err := s.run(""); err != nil {
		t.Error(err)
	}
	s.made = broadcastMade
	if s.run("") == nil {
		t.Error("a finalizer that is lost is not found")
	}
}

// TestEphemeralContainers_KeepTheirPlaces: ephemeral containers that do not end keep their places.
func TestEphemeralContainers_KeepTheirPlaces(t *testing.T) {
	s := jobsScenes["ephemeral"]
	other := restepped(ephemeralStep, "other")
	s.steps = append(s.steps, other)
	s.input = strings.ReplaceAll(podInput, "web", "other") + s.input
	s.want = strings.Replace(s.want, "phase: Succeeded, match: 1, succeeded: 1", "phase: Running, match: 2, running: 1", 1)
	if err := s.run(""); err != nil {
		t.Error(err)
	}
	s.want = strings.Replace(s.want, "running: 1", "running: 2", 1)
	if s.run("") == nil {
		t.Error("two run with a parallelism of 1")
	}
}

func restepped(s JobsStep, pod string) JobsStep {
	s.Pod = pod
	return s
}

// TestPodsMade: the pods of a workload are where images are pulled.
func TestPodsMade(t *testing.T) {
	docs, err := Docs([]byte(`
kind: Deployment
metadata: {name: web, namespace: ops}
spec: {replicas: 3, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a}]}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := &jobsRun{pulling: []string{"n1", "n2"}, waited: 61}
	var on []string
	for _, p := range r.podsMade(docs[0]) {
		on = append(on, nameOf(p)+" "+text(p, "spec", "nodeName")+" "+text(p, "metadata", "creationTimestamp"))
	}
	const born = " 2026-07-01T00:01:01Z"
	if err := Different("pods", Diff([]string{"web-0 n1" + born, "web-1 n2" + born, "web-2 n1" + born}, on)); err != nil {
		t.Error(err)
	}
	if made := r.podsMade(map[string]any{"kind": "Secret"}); made != nil {
		t.Error(made)
	}
}

// TestDistribution_DeletedHasNoStatus: who is deleted has no status.
func TestDistribution_DeletedHasNoStatus(t *testing.T) {
	const status = "status:\n  shared: gone\n"
	run := func(status string) error {
		return Distribution(Case{Name: "1-gone", files: fstest.MapFS{
			"input.yaml":               data("apiVersion: apps.kruise.io/v1\nkind: ResourceDistribution\nmetadata: {name: shared}\n"),
			"expected.yaml":            data("steps: [gone]\nresult: accepted\n"),
			"gone.yaml":                data("apiVersion: conformance/v1\nkind: DeleteObject\nof: apps.kruise.io/v1 ResourceDistribution\nmetadata: {name: shared, namespace: any}\n"),
			"expected-after-gone.yaml": data("result: accepted\n%s", status),
		}}, func(_, _ []map[string]any) (*Rendering, error) {
			return &Rendering{Findings: map[string][]string{"conflict": {"in some"}}}, nil
		})
	}
	if err := run(status); err != nil {
		t.Error(err)
	}
	if run("status:\n  shared: {desired: 1}\n") == nil {
		t.Error("a status of what is gone is not found")
	}
}

// TestScale_OfARefusedWorkloadIsSkipped: what was refused cannot be scaled either.
func TestScale_OfARefusedWorkloadIsSkipped(t *testing.T) {
	run := func(object string) error {
		return Subsets(Case{files: fstest.MapFS{
			"input.yaml": data(oneSubset, 10), "expected.yaml": data("steps: [next]\nresult: rejected\nrefusal: {object: UnitedDeployment/web}\n"),
			"next.yaml": data(scaleTo, 3), "expected-after-next.yaml": data("result: rejected\nrefusal: {object: %s}\n", object),
		}}, renderOne)
	}
	if err := run("Scale/web"); err != nil {
		t.Error(err)
	}
	if run("Scale/other") == nil {
		t.Error("the refusal of another object is not found")
	}
}

// TestEqualise: what the API server fills in or leaves out is no difference.
func TestEqualise(t *testing.T) {
	for _, tc := range []struct {
		name, want, got string
		differ          bool
	}{
		{"stated zero", "{}", "{paused: false}", false},
		{"recorded zero", "{paused: false}", "{}", true},
		{"stated value", "{}", "{paused: true}", true},
		{"empty label", "{}", "{template: {metadata: {labels: {a: ''}}}}", true},
		{"probe", "{template: {spec: {containers: [{startupProbe: {periodSeconds: 10}}]}}}", "{template: {spec: {containers: [{startupProbe: {}}]}}}", false},
		{"other probe", "{template: {spec: {containers: [{startupProbe: {periodSeconds: 9}}]}}}", "{template: {spec: {containers: [{startupProbe: {}}]}}}", true},
		{"policy by tag", "{template: {spec: {initContainers: [{image: 'a:1', imagePullPolicy: IfNotPresent}]}}}", "{template: {spec: {initContainers: [{image: 'a:1'}]}}}", false},
		{"policy against tag", "{template: {spec: {initContainers: [{image: 'a:1', imagePullPolicy: Never}]}}}", "{template: {spec: {initContainers: [{image: 'a:1'}]}}}", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, err := Docs([]byte("kind: Deployment\nspec: " + tc.want + "\n---\nkind: Deployment\nspec: " + tc.got + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			equalise(docs[0], docs[1])
			if diff := Diff(docs[0], docs[1]); (diff != "") != tc.differ {
				t.Errorf("want a difference: %v\n%s", tc.differ, diff)
			}
		})
	}
}

// TestAdopt: pods without room are counted where the controller counts them.
func TestAdopt(t *testing.T) {
	for _, tc := range []struct {
		name                string
		got, recorded, want map[string]any
	}{
		{"all", map[string]any{"a": int64(2), noSubset: int64(3)}, map[string]any{"a": int64(5)}, map[string]any{"a": int64(5)}},
		{"some", map[string]any{"a": int64(2), noSubset: int64(3)}, map[string]any{"a": int64(4), noSubset: int64(1)}, map[string]any{"a": int64(4), noSubset: int64(1)}},
		{"no pod is left", map[string]any{"a": int64(2)}, map[string]any{"a": int64(3)}, map[string]any{"a": int64(2)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			adopt(tc.got, tc.recorded)
			if err := Different("counts", Diff(tc.want, tc.got)); err != nil {
				t.Error(err)
			}
		})
	}
}
