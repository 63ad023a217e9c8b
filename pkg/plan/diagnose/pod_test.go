package diagnose_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

func TestPod_NamesWhyItIsNotUpdated(t *testing.T) {
	for name, c := range map[string]struct {
		pod   string
		spoil func(*diagnose.Question)
		want  string
	}{
		"updated":         {"web-0", func(*diagnose.Question) {}, "up to date with cloneset/web and ready"},
		"updated and ill": {"web-0", func(q *diagnose.Question) { down(q, 0, "ErrImagePull") }, "up to date with cloneset/web, not ready: ErrImagePull: container main, image web:1\n! image ErrImagePull: container main in pod web-0; image web:1"},
		"first in line":   {"web-3", func(*diagnose.Question) {}, "on an old revision: next in order: the controller updates it in its next pass\n- turn web-3: next in order: the controller updates it in its next pass"},
		"last in line":    {"web-1", func(*diagnose.Question) {}, "on an old revision: 2 pods are updated before it: 1 pod of the target revision is not available yet, at most 1: web-2 waits\n- maxUnavailable web-1: 2 pods are updated before it: 1 pod of the target revision is not available yet, at most 1: web-2 waits"},
		"kept":            {"web-1", func(q *diagnose.Question) { rolling(q).Partition = new(intstr.FromString("50%")) }, "on an old revision: partition 50% allows 2 of 4 pods to be updated, and it is not among them\n- partition partition 50% allows 2 of 4 pods to be updated, and it is not among them"},
		"paused":          {"web-1", func(q *diagnose.Question) { rolling(q).Paused = true }, "on an old revision: the update is paused in the spec of its workload\n! paused the update is paused in the spec of its workload"},
		"not seen":        {"web-1", func(q *diagnose.Question) { set(q).Generation = 9 }, "on an old revision: the controller has not processed the latest change yet\n- controller the controller has not processed the latest change yet"},
		"a field in the way": {"web-1", func(q *diagnose.Question) {
			rolling(q).PodUpdatePolicy = kruise.InPlaceOnlyCloneSetPodUpdateStrategyType
			old := read(t, strings.Replace(cloneSet, `image: "web:2"`, `image: "web:1", command: [run]`, 1))
			q.Snapshot.Revisions[0].Template = old.Template
		}, "on an old revision: spec.containers[0].command: only images of containers, labels and annotations change in place\n! notAllowed web-1: spec.containers[0].command: only images of containers, labels and annotations change in place"},
		"old and ill":     {"web-1", func(q *diagnose.Question) { down(q, 1, "CrashLoopBackOff"); rolling(q).Paused = true }, "on an old revision: the update is paused in the spec of its workload\n! crash CrashLoopBackOff: container main in pod web-1; image web:1\n! paused the update is paused in the spec of its workload"},
		"being deleted":   {"web-1", func(q *diagnose.Question) { q.Snapshot.Pods[1].Deleting = true }, "terminating"},
		"somebody else's": {"api-1", func(*diagnose.Question) {}, "not a pod of cloneset/web"},
	} {
		t.Run(name, func(t *testing.T) {
			q := question(t)
			c.spoil(q)
			q.Plan = plan.CurrentSpecPlan(q.Snapshot)
			if diff := cmp.Diff(c.want, text(diagnose.Pod(*q, c.pod))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnmanagedPod_Diagnosis(t *testing.T) {
	q := question(t)
	if got := text(diagnose.UnmanagedPod(running(7, ""))); got != "it belongs to no workload that can be rolled out" {
		t.Error(got)
	}
	if d := diagnose.UnmanagedPod(down(q, 1, "CrashLoopBackOff")); len(d.Causes) != 1 || strings.Contains(d.Causes[0].Hint, "NAME") {
		t.Errorf("%+v", d)
	}
}

const mesh = `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: mesh, generation: 1, annotations: {kruise.io/sidecarset-hash: h2, kruise.io/sidecarset-hash-without-image: w1}}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: mesh, image: "mesh:2"}]
  updateStrategy: {type: RollingUpdate, maxUnavailable: 1}
status: {observedGeneration: 1, matchedPods: 2, updatedPods: 0, readyPods: 2}
`

// meshed is a pod with the sidecar, at two hashes.
func meshed(i int, hash, withoutImage string) *cluster.Pod {
	p := running(i, "new")
	p.Containers = append(p.Containers, cluster.Container{Name: "mesh", Image: "mesh:1", Reported: true, Ready: true})
	p.Annotations = map[string]string{
		kruise.SidecarSetInjectedListAnnotation:     "mesh",
		kruise.SidecarSetHashAnnotation:             `{"mesh":{"hash":"` + hash + `"}}`,
		kruise.SidecarSetHashWithoutImageAnnotation: `{"mesh":{"hash":"` + withoutImage + `"}}`,
	}
	return p
}

func TestSidecars_OfAPod(t *testing.T) {
	young := running(0, "new")
	stranger := running(1, "new")
	stranger.Labels = map[string]string{"app": "other"}
	for name, c := range map[string]struct {
		pod  *cluster.Pod
		set  string
		then func(*diagnose.Surroundings)
		want string
	}{
		"older than the set":    {young, mesh, func(s *diagnose.Surroundings) { s.Created["mesh"] = noon }, "absent: it matches now, but the pod is older (2026-07-01T11:00:00Z) than the set (2026-07-01T12:00:00Z): only a new pod gets it"},
		"missed":                {young, mesh, nil, "absent: it matches now, but did not when the pod was created, or Kruise's webhook was not called: only a new pod gets it"},
		"kept away":             {young, mesh, func(s *diagnose.Surroundings) { s.Namespace[kruise.OutsideLabel] = "" }, "absent: the namespace has the label " + kruise.OutsideLabel + ", which excludes it from Kruise's webhook"},
		"other labels":          {stranger, mesh, nil, "no match: its selector app=web does not match the labels"},
		"injection paused":      {young, strings.Replace(mesh, "  updateStrategy", "  injectionStrategy: {paused: true}\n  updateStrategy", 1), nil, "no match: injectionStrategy.paused is set"},
		"another namespace":     {young, strings.Replace(mesh, "  containers", "  namespaceSelector: {matchLabels: {mesh: \"on\"}}\n  containers", 1), nil, "no match: its namespaceSelector mesh=on does not match the namespace"},
		"up to date":            {meshed(0, "h2", "w1"), mesh, nil, "present: injected"},
		"first in line":         {meshed(1, "h1", "w1"), mesh, nil, "present: injected; on an old revision: next in order: the controller updates it in its next pass"},
		"more than images":      {meshed(0, "h1", "w0"), mesh, nil, "present: injected; on an old revision: the sidecars changed in more than images since the pod was created, and only images can change in place"},
		"never updated":         {meshed(0, "h1", "w1"), strings.Replace(mesh, "RollingUpdate", "NotUpdate", 1), nil, "present: injected; on an old revision: update strategy NotUpdate: only new pods get the new sidecar"},
		"left out":              {meshed(0, "h1", "w1"), strings.Replace(mesh, "maxUnavailable: 1", "selector: {matchLabels: {tier: x}}", 1), nil, "present: injected; on an old revision: not matched by updateStrategy.selector"},
		"kept by the partition": {meshed(0, "h1", "w1"), strings.Replace(mesh, "maxUnavailable: 1", "partition: 100%", 1), nil, "present: injected; on an old revision: partition 100% allows 0 of 2 pods to be updated, and it is not among them"},
	} {
		t.Run(name, func(t *testing.T) {
			w := read(t, c.set)
			n, err := yaml.Parse(c.set)
			if err != nil {
				t.Fatal(err)
			}
			compiled, err := inject.Compile(n.YNode(), nil)
			if err != nil {
				t.Fatal(err)
			}
			s := diagnose.Surroundings{
				Sets: []*inject.Set{compiled}, Created: map[string]time.Time{"mesh": noon.Add(-24 * time.Hour)}, Namespace: map[string]string{"kubernetes.io/metadata.name": "shop"}, Known: true,
			}
			if c.then != nil {
				c.then(&s)
			}
			list, err := diagnose.Sidecars(c.pod, s, func(string) (diagnose.Question, bool) {
				snap := plan.Snapshot{Workload: w, Pods: []*cluster.Pod{c.pod, meshed(9, "h2", "w1")}}
				return diagnose.Question{Name: "sidecarset/mesh", Snapshot: snap, Plan: plan.CurrentSpecPlan(snap), Now: noon}, true
			})
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			state := "no match: "
			switch one := list[0]; {
			case one.Injected:
				state = "present: "
			case one.Matches:
				state = "absent: "
			}
			if diff := cmp.Diff(c.want, state+list[0].Why); diff != "" {
				t.Error(diff)
			}
		})
	}
}
