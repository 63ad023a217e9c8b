package plan_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// carriers are native objects whose pods the client updates.
var carriers = map[string]string{
	"ReplicaSet":  manifest(natives, "ReplicaSet", plain+"  replicas: 6\n"),
	"StatefulSet": manifest(natives, "StatefulSet", plain+"  replicas: 4\n  podManagementPolicy: Parallel\n  updateStrategy: {type: OnDelete}\n"),
	"DaemonSet":   manifest(natives, "DaemonSet", plain+"  updateStrategy: {type: OnDelete}\n"),
}

// TestClientDriver: in place, drained, and by recreation, pod by pod.
func TestClientDriver(t *testing.T) {
	for kind, text := range carriers {
		for name, change := range map[string]func(string) string{
			"in place": func(s string) string { return s },
			"drained": func(s string) string {
				return strings.Replace(s, "labels: {app: web}}\n    spec", "labels: {app: web, kubectl-kruise.dev/in-service: \"true\"}}\n    spec", 1)
			},
			"recreated": func(s string) string { return s },
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				text := change(text)
				next := strings.ReplaceAll(text, "web:1", newer)
				if name == "recreated" {
					next = strings.Replace(next, `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1)
				}
				w, ref := world(t, simulate.Usual(), text)
				p := built(t, w, ref, next, plan.Policy{Steps: must(plan.ParseSteps("1,50%,100%"))})
				if p.Driver != plan.DriverClient {
					t.Fatal(p.Driver)
				}
				d, story := drive(t, w, ref, p, nil)
				if d.Verb != plan.Done {
					t.Fatal(strings.Join(story, "\n"))
				}
				t.Log(strings.Join(story, "\n"))
				if n, all := updated(observe(t, w, ref)); n != all || all == 0 {
					t.Errorf("%d of %d pods run %s at the end", n, all, newer)
				}
			})
		}
	}
}

// TestForgedCount: a status may say anything; pods that are missing cost nothing.
func TestForgedCount(t *testing.T) {
	for _, forged := range []int32{-1 << 22, -1, 1 << 22} {
		w, ref := world(t, simulate.Usual(), carriers["DaemonSet"])
		text := strings.ReplaceAll(carriers["DaemonSet"], "web:1", newer)
		p := built(t, w, ref, text, plan.Policy{Steps: must(plan.ParseSteps("100%")), Pull: plan.PullNever})
		s := observe(t, w, ref)
		set := s.Workload.Object.(*appsv1.DaemonSet).DeepCopy()
		set.Status.DesiredNumberScheduled = forged
		own := *s.Workload
		own.Object, s.Workload = set, &own
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan.Next(p, s, w.Now())
		s.Pods = nil
		if _, err := plan.Build(read(t, text), s, plan.Policy{}); err != nil {
			t.Log(err)
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 32<<20 {
			t.Errorf("%d pods that should be there: %d MiB", forged, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
}

// TestChangingPodsCount: a pod whose new image was asked for counts as unavailable
// before its node has heard of it, while its status still says that it is ready; and so
// does one that is gone and not made again yet.
func TestChangingPodsCount(t *testing.T) {
	unheard := cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo("Ready", "True", "", "")}}
	starts := func(d plan.Decision) (names []string) {
		for _, a := range d.Actions {
			if a.Pod != nil && len(a.Pod.Change.Images) > 0 {
				names = append(names, a.Pod.Name)
			}
		}
		return names
	}
	for kind, text := range carriers {
		t.Run(kind, func(t *testing.T) {
			w, ref := world(t, simulate.Usual(), text)
			p := built(t, w, ref, strings.ReplaceAll(text, "web:1", newer), plan.Policy{Steps: must(plan.ParseSteps("100%")), Pull: plan.PullNever})
			begun := 0
			drive(t, w, ref, p, func(d plan.Decision) {
				begun += len(starts(d))
				s := observe(t, w, ref)
				for i, pod := range s.Pods {
					if slices.Contains(starts(d), pod.Name) {
						s.Pods[i] = pod.With(unheard, w.Now())
					}
				}
				if more := starts(plan.Next(p, s, w.Now())); len(starts(d)) > 0 && len(more) > 0 {
					t.Errorf("right after %v, %v", starts(d), more)
				}
				s.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(pod *cluster.Pod) bool { return slices.Contains(starts(d), pod.Name) })
				if more := starts(plan.Next(p, s, w.Now())); len(starts(d)) > 0 && len(more) > 0 {
					t.Errorf("without %v, %v", starts(d), more)
				}
			})
			if begun == 0 {
				t.Error("no pod was changed")
			}
		})
	}
}
