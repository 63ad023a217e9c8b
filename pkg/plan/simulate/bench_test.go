//go:build unix

package simulate

import (
	"encoding/json"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const largeSet = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      podUpdatePolicy: InPlaceIfPossible
      maxUnavailable: 20%%
      priorityStrategy: {weightPriority: [{weight: 50, matchSelector: {matchLabels: {tier: gold}}}]}
      scatterStrategy: [{key: shard, value: a}]
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1.0"}]}
---
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 30%%}
`

// large is a settled world and a plan of 100 steps.
func large(tb testing.TB, pods int) (*World, plan.Plan) {
	tb.Helper()
	o := DefaultOptions()
	o.GuardUpdates = true
	w := New(o)
	for i := range max(pods/50, 1) {
		w.AddNode(fmt.Sprintf("node-%04d", i), nil)
	}
	if err := w.Apply(documents(tb, fmt.Sprintf(largeSet, pods))...); err != nil {
		tb.Fatal(err)
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		tb.Fatal(ok, err)
	}
	ref := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}
	gold, a := "gold", "a"
	for i, p := range append([]*cluster.Pod(nil), w.store.objects[ref].pods.now...) {
		change := cluster.PodChange{Labels: map[string]*string{}}
		if i%3 == 0 {
			change.Labels["tier"] = &gold
		}
		if i%5 == 0 {
			change.Labels["shard"] = &a
		}
		if err := w.PatchPod(plan.PodRef{Namespace: p.Namespace, Name: p.Name}, change); err != nil {
			tb.Fatal(err)
		}
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		tb.Fatal(ok, err)
	}
	policy := plan.Policy{}
	for i := range 100 {
		policy.Steps = append(policy.Steps, plan.PolicyStep{To: plan.Amount{Value: float64(i + 1), Percent: true}})
	}
	p, err := planOfImage(w, ref, "web:2.0", policy)
	if err != nil {
		tb.Fatal(err)
	}
	return w, p
}

// documents parses all documents of a text.
func documents(tb testing.TB, text string) []*tree.Node {
	tb.Helper()
	out, err := parseAll(text)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// BenchmarkRollout simulates the rollout of a CloneSet in 100 steps, in place,
// with priority, scatter and a budget. For 10,000 pods it must cost no more than
// fifteen times the CPU that it takes to decode those pods from JSON.
func BenchmarkRollout(b *testing.B) {
	for _, pods := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(pods), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w, p := large(b, pods)
				texts := asJSON(b, w)
				decoding := cpu(b, func() { decode(b, texts) })
				b.StartTimer()
				simulating := cpu(b, func() {
					line, err := Rollout(w, p, RolloutOptions{})
					if err != nil || line.Summary.Outcome != Completed {
						b.Fatal(err, line.Summary)
					}
				})
				b.ReportMetric(simulating.Seconds(), "cpu-s")
				ratio := float64(simulating) / float64(decoding)
				b.ReportMetric(ratio, "x-decode")
				if pods == 10000 && ratio > 15 {
					b.Errorf("simulating costs %.1f times what decoding the pods does", ratio)
				}
			}
		})
	}
}

const largeStatefulSet = `
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: web, namespace: shop}
spec:
  replicas: %d
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1.0"}]}
`

// BenchmarkRolloutOneByOne simulates the rollout of an Advanced StatefulSet that replaces one pod
// after the other. 1,000 pods must take no more than a second of CPU time, and 8,000 twenty.
func BenchmarkRolloutOneByOne(b *testing.B) {
	for pods, most := range map[int]time.Duration{1000: time.Second, 8000: 20 * time.Second} {
		b.Run(fmt.Sprint(pods), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w, p := oneByOne(b, pods)
				b.StartTimer()
				took := cpu(b, func() {
					line, err := Rollout(w, p, RolloutOptions{})
					if err != nil || line.Summary.Outcome != Completed {
						b.Fatal(err, line.Summary)
					}
				})
				b.ReportMetric(took.Seconds(), "cpu-s")
				if took > most {
					b.Errorf("%d pods take %s, at most %s", pods, took, most)
				}
			}
		})
	}
}

// oneByOne is a settled world of a StatefulSet and a plan for another image.
func oneByOne(tb testing.TB, pods int) (*World, plan.Plan) {
	tb.Helper()
	w := New(DefaultOptions())
	for i := range max(pods/50, 1) {
		w.AddNode(fmt.Sprintf("node-%04d", i), nil)
	}
	if err := w.Apply(documents(tb, fmt.Sprintf(largeStatefulSet, pods))...); err != nil {
		tb.Fatal(err)
	}
	if ok, err := w.Settle(1000 * time.Hour); !ok || err != nil {
		tb.Fatal(ok, err)
	}
	ref := cluster.Ref{Group: "apps.kruise.io", Kind: "StatefulSet", Namespace: "shop", Name: "web"}
	p, err := planOfImage(w, ref, "web:2.0", plan.Policy{})
	if err != nil {
		tb.Fatal(err)
	}
	return w, p
}

// BenchmarkSnapshots takes a snapshot of each of many workloads, each with a budget of both kinds.
// One of 800 must cost no more than 3 times the CPU of one of 100: asking every budget for each
// workload takes 8 times, and looking at every pod for each budget 60 times.
func BenchmarkSnapshots(b *testing.B) {
	var few float64
	for _, n := range []int{100, 800} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w, refs := budgeted(b, n)
				b.StartTimer()
				each := cpu(b, func() {
					for _, ref := range refs {
						if s, err := w.Snapshot(ref); err != nil || len(s.Budgets) != 1 || len(s.Disruptions) != 1 {
							b.Fatal(err, len(s.Budgets), len(s.Disruptions))
						}
					}
				}).Seconds() / float64(n)
				b.ReportMetric(each*1e6, "cpu-µs/workload")
				if few == 0 {
					few = each
				}
				if each > 3*few {
					b.Errorf("a workload among %d costs %.1f times what it costs among 100", n, each/few)
				}
			}
		})
	}
}

// budgeted is a settled world of CloneSets of two pods with their budgets.
func budgeted(tb testing.TB, n int) (*World, []cluster.Ref) {
	tb.Helper()
	const text = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web-%[1]d, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web-%[1]d}}
  template:
    metadata: {labels: {app: web-%[1]d}}
    spec: {containers: [{name: main, image: "web:1.0"}]}
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web-%[1]d, namespace: shop}
spec: {selector: {matchLabels: {app: web-%[1]d}}, maxUnavailable: 1}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web-%[1]d, namespace: shop}
spec: {selector: {matchLabels: {app: web-%[1]d}}, maxUnavailable: 1}
`
	w := New(DefaultOptions())
	w.AddNode("node", nil)
	var refs []cluster.Ref
	for i := range n {
		if err := w.Apply(documents(tb, fmt.Sprintf(text, i))...); err != nil {
			tb.Fatal(err)
		}
		refs = append(refs, cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: fmt.Sprintf("web-%d", i)})
	}
	if err := w.Run(w.clock.now().Add(20 * time.Second)); err != nil {
		tb.Fatal(err)
	}
	return w, refs
}

// cpu is how much time the process computes while do runs: on a shared machine wall-clock time
// means little.
func cpu(tb testing.TB, do func()) time.Duration {
	tb.Helper()
	runtime.GC()
	before := used(tb)
	do()
	return used(tb) - before
}

func used(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// asJSON are the pods of a world as an API server sends them.
func asJSON(tb testing.TB, w *World) [][]byte {
	tb.Helper()
	out := make([][]byte, len(w.store.all.now))
	for i, p := range w.store.all.now {
		text, err := json.Marshal(sent(p))
		if err != nil {
			tb.Fatal(err)
		}
		out[i] = text
	}
	return out
}

// sent has only what the rules read of a pod; real ones are longer.
func sent(p *cluster.Pod) *corev1.Pod {
	out := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: p.Name, Namespace: p.Namespace, UID: types.UID(p.UID), Labels: p.Labels, Annotations: p.Annotations,
			CreationTimestamp: metav1.NewTime(p.Created),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps.kruise.io/v1beta1", Kind: p.Owner.Kind, Name: p.Owner.Name, UID: types.UID(p.Owner.UID), Controller: new(true),
			}},
		},
		Spec:   corev1.PodSpec{NodeName: p.Node},
		Status: corev1.PodStatus{Phase: p.Phase},
	}
	for _, gate := range p.ReadinessGates {
		out.Spec.ReadinessGates = append(out.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(gate)})
	}
	for _, c := range p.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(c.Type), Status: c.Status, Reason: c.Reason, LastTransitionTime: metav1.NewTime(c.Since),
		})
	}
	for _, c := range p.Containers {
		out.Spec.Containers = append(out.Spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
		out.Status.ContainerStatuses = append(out.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.StatusImage, ImageID: c.ImageID, Ready: c.Ready,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(p.Created)}},
		})
	}
	return out
}

// decode reads pods as the plugin does when it lists them.
func decode(tb testing.TB, texts [][]byte) {
	tb.Helper()
	for _, text := range texts {
		var p corev1.Pod
		if err := json.Unmarshal(text, &p); err != nil {
			tb.Fatal(err)
		}
		cluster.ReadPod(&p)
	}
}
