package plan_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// The workload of the benchmark: priority by label, scatter over two terms, in
// place, and a budget.
const crowded = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop, uid: u-web, generation: 4}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  updateStrategy:
    rollingUpdate:
      podUpdatePolicy: InPlaceIfPossible
      maxUnavailable: 20%%
      priorityStrategy: {orderPriority: [{orderedKey: tier}]}
      scatterStrategy: [{key: shard, value: a}, {key: shard, value: b}]
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "web:1", env: [{name: A, value: b}], resources: {limits: {cpu: 1, memory: 1Gi}}}
      - {name: side, image: "side:1"}
`

// podJSON are n pods as an API server sends them.
func podJSON(n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		p := onePod(i*7919%n, n)
		out[i] = must(json.Marshal(p))
	}
	return out
}

func onePod(i, n int) *corev1.Pod {
	since := metav1.NewTime(time.Date(2026, 7, 1, 12, 0, i%500, 0, time.UTC))
	owned := true
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-%05d", i), Namespace: "shop", UID: types.UID(fmt.Sprintf("0000-%d", i)), CreationTimestamp: since,
			Labels: map[string]string{
				"app": "web", "controller-revision-hash": "web-7c9f", "tier": fmt.Sprint("t-", i%3), "shard": string("abc"[i%3]),
				kruise.CloneSetInstanceIDLabel: fmt.Sprintf("%05d", i), kruise.LifecycleStateLabel: "Normal",
			},
			Annotations:     map[string]string{kruise.RelatedBudgetAnnotation: "web", kruise.LifecycleTimestampAnnotation: "2026-07-01T12:00:00Z"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Name: "web", UID: "u-web", Controller: &owned}},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", i%200), RestartPolicy: "Always", ServiceAccountName: "default", SchedulerName: "default-scheduler",
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: kruise.InPlaceUpdateReady}},
			Tolerations:    []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute"}},
			Volumes:        []corev1.Volume{{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", HostIP: "10.1.0.1", StartTime: &since},
	}
	for _, c := range []string{"main", "side"} {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name: c, Image: map[string]string{"main": "web:1", "side": "side:1"}[c], ImagePullPolicy: "Always",
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
			VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
		})
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c, Ready: true, Image: "web:1", ImageID: "sha256:" + strings.Repeat("0", 64), ContainerID: "containerd://" + strings.Repeat("1", 64),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		})
	}
	for _, c := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled", kruise.InPlaceUpdateReady} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(c), Status: "True", LastTransitionTime: since})
	}
	return p
}

// decoded is what a client does with the pods of a list.
func decoded(texts [][]byte) []*cluster.Pod {
	out := make([]*cluster.Pod, len(texts))
	for i, text := range texts {
		var p corev1.Pod
		if err := json.Unmarshal(text, &p); err != nil {
			panic(err)
		}
		out[i] = cluster.ReadPod(&p)
	}
	return out
}

// crowd is what Build gets for n pods.
func crowd(tb testing.TB, texts [][]byte) (*cluster.Workload, plan.Snapshot) {
	tb.Helper()
	n := len(texts)
	text := fmt.Sprintf(crowded, n)
	present, desired := read(tb, text), read(tb, strings.Replace(text, "web:1", "web:2", 1))
	pods := decoded(texts)
	budget := &rules.Budget{Name: "web", Spec: &kruise.PodUnavailableBudgetSpec{MaxUnavailable: new(percent(10))}, Expected: n, Pods: pods}
	return desired, plan.Snapshot{
		Workload: present, Pods: pods, Gates: cluster.DefaultGates(), Budgets: []*rules.Budget{budget},
		Revisions: []cluster.Revision{{Name: "web-7c9f", Number: 1, Template: present.Template}},
	}
}

// BenchmarkBuild plans for pods that are read from JSON in the same run: planning costs at most half of
// reading what is planned for, and as much where each step is written out.
func BenchmarkBuild(b *testing.B) {
	for name, steps := range map[string][]plan.PolicyStep{"default steps": nil, "100 steps": hundred()} {
		for _, n := range []int{1000, 10_000, 100_000} {
			texts := podJSON(n)
			desired, s := crowd(b, texts)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				decode := best(3, func() { decoded(texts) })
				least := time.Hour
				for b.Loop() {
					least = min(least, best(1, func() { must(plan.Build(desired, s, plan.Policy{Steps: steps})) }))
				}
				b.ReportMetric(float64(least)/float64(decode), "x-decode")
				most := decode
				if steps == nil {
					most /= 2
				}
				if least > most {
					b.Errorf("building takes %s, at most %s is meant", least, most)
				}
			})
		}
	}
}

// BenchmarkNext is one look at a step that is in progress: an executor takes it after
// every change.
func BenchmarkNext(b *testing.B) {
	desired, s := crowd(b, podJSON(10000))
	p := must(plan.Build(desired, s, plan.Policy{}))
	next := *desired
	s.Workload, s.Progress = &next, plan.Progress{Step: 1, Sent: 1, Started: noon}
	next.UID = s.Workload.UID
	for i := range 200 {
		updatedPod(&s, i)
	}
	p.Steps[1].After = p.Steps[1].After[:1]
	p.Steps[1].After = append(p.Steps[1].After, plan.Condition{Type: plan.HoldsSettled})
	for b.Loop() {
		if d := plan.Next(p, s, noon.Add(time.Minute)); d.Verb != plan.Wait {
			b.Fatal(d)
		}
	}
}

func hundred() []plan.PolicyStep {
	var out []plan.PolicyStep
	for i := range 100 {
		out = append(out, plan.PolicyStep{To: plan.Amount{Value: float64(i + 1), Percent: true}})
	}
	return out
}

// best is the least time of a few tries: what is above it is noise of the machine.
func best(tries int, f func()) time.Duration {
	least := time.Hour
	for range tries {
		runtime.GC()
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}
