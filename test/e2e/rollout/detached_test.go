package rollout

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/notify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// TestDetached_RunsWithThePrintedRoles: a Job carries a rollout out that people steer from elsewhere, by exactly the
// roles that are printed; its pod is admitted at the restricted level.
func TestDetached_RunsWithThePrintedRoles(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	b.call(t, "rollout", "run", "cloneset/web", "--image", "main="+web2, "--pull-images", "never", "--yes", "--detach", "--runner-image", runnerImage, "--runner-namespace", b.namespace).
		Wants(t, 1, "everybody who may create pods in namespace "+b.namespace, "has no ServiceAccount kubectl-kruise-runner", "kubectl kruise rbac --runner")
	if _, err := (kube.Records{Client: b.Client()}).Load(t.Context(), b.object.Ref); err == nil {
		t.Fatal("a rollout is recorded that no Job carries out")
	}
	runners := b.runners(t)
	hook, address := newHeard(t), free(t)
	j := b.detach(t, runners, "--steps", "1,2,100%", "--pause-after", "1", "--notify", hook.URL, "--runner-notify-secret", "hooks", "--listen", address)
	_, err := b.Client().CoreV1().Pods(runners).Create(t.Context(), asPod(j), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	must(t, err) // the namespace enforces the restricted level
	if j.Spec.ActiveDeadlineSeconds != nil {
		t.Error("a person has to promote, which may take any time")
	}
	p := b.play(t, j, "rollout-web-a", nil)
	b.drives(t, p)
	b.pauses(t, 1)
	if text := shown(t, "http://"+address+"/metrics"); !strings.Contains(text, `kubectl_kruise_rollout_pods{workload_kind="CloneSet",workload_namespace="`+b.namespace+`",workload="web",state="updated"} 1`) {
		t.Error(text)
	}
	b.call(t, "rollout", "run", "cloneset/web", "--image", "main="+web1, "--yes", "--detach", "--runner-image", runnerImage, "--runner-namespace", runners).Wants(t, 1)
	b.call(t, "rollout", "resume", "cloneset/web", "--detach", "--runner-image", runnerImage, "--runner-namespace", runners).Wants(t, 1, "runner@rollout-web-a")
	// A second runner of the same rollout waits for the first.
	alone := *j.DeepCopy() // in a pod of its own it has the port for itself
	alone.Spec.Template.Spec.Containers[0].Args = slices.DeleteFunc(alone.Spec.Template.Spec.Containers[0].Args, func(arg string) bool { return strings.HasPrefix(arg, "--listen") })
	second := b.play(t, &alone, "rollout-web-b", nil)
	b.call(t, "rollout", "pause", "cloneset/web").Wants(t, 0)
	b.call(t, "rollout", "resume", "cloneset/web").Wants(t, 0)
	b.call(t, "rollout", "promote", "cloneset/web", "--no-wait").Wants(t, 0)
	p.ends(t, 0, "completed")
	second.ends(t, 0, "this runner continues when that process stops", "completed already")
	if n := running(b.pods(t), web2); n != 4 {
		t.Errorf("%d pods are updated", n)
	}
	b.play(t, j, "rollout-web-c", nil).ends(t, 0, "completed already")
	if !slices.Contains(hook.types, notify.Started) || !slices.Contains(hook.types, notify.Waiting) || hook.types[len(hook.types)-1] != notify.Completed {
		t.Errorf("the web hook was told %q", hook.types)
	}
	events, err := b.Client().EventsV1().Events(b.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "regarding.name=web"})
	must(t, err)
	if !slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.ReportingController == "kubectl-kruise.dev/rollout" }) {
		t.Error("the workload has no Event of the runner")
	}
}

// TestDetached_UninstallLeavesNothing: what uninstalling takes away is all that there was.
func TestDetached_UninstallLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	runners := b.runners(t)
	j := b.detach(t, runners)
	b.play(t, j, "rollout-web-a", nil).ends(t, 0, "completed")
	must(t, b.Client().BatchV1().Jobs(runners).Delete(t.Context(), j.Name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
	for _, what := range []string{"configmaps", "secrets", "leases.coordination.k8s.io", "jobs.batch"} {
		said, err := exec.CommandContext(t.Context(), b.Kubectl(), "--kubeconfig", b.Kubeconfig(), "get", what, "-n", runners, "-o", "name").Output()
		must(t, err)
		for name := range strings.FieldsSeq(string(said)) {
			if name != "configmap/kube-root-ca.crt" {
				t.Errorf("%s is left", name)
			}
		}
	}
}

// TestDetached_ContinuesAfterKills kills the runner again and again, at random moments and by both signals,
// in one rollout. CHAOS_DETACHED is how often.
func TestDetached_ContinuesAfterKills(t *testing.T) {
	t.Parallel()
	seed, kills := number(t, "CHAOS_SEED", 0), int(number(t, "CHAOS_DETACHED", 4))
	chance := rand.New(rand.NewPCG(seed, seed))
	b := newBed(t, kinds["CloneSet"].workload)
	partitions := b.partitions(t)
	j := b.detach(t, b.runners(t), "--steps", "1,2,3,100%", "--pause-after", "1,2,3")
	var lost [2]time.Duration
	var times [2]int
	peak := 0
	p := b.play(t, j, numbered(0), nil)
	b.drives(t, p)
	for i := range kills {
		if half := max(kills/2, 1); i%half == half-1 { // it comes to the last of three pauses
			b.call(t, "rollout", "promote", "cloneset/web", "--no-wait").Wants(t, 0)
		}
		time.Sleep(time.Duration(chance.IntN(1500)) * time.Millisecond)
		peak = max(peak, resident(t, p))
		how := (i + chance.IntN(2)) % 2
		must(t, p.Process.Signal([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[how]))
		killed := time.Now()
		_ = p.Wait()
		p = b.play(t, j, numbered(i+1), nil)
		b.drives(t, p)
		lost[how] += time.Since(killed)
		times[how]++
	}
	b.call(t, "rollout", "promote", "cloneset/web", "--full", "--no-wait").Wants(t, 0)
	p.ends(t, 0)
	if n := running(b.pods(t), web2); n != 4 {
		t.Errorf("%d pods are updated", n)
	}
	if got := partitions(); len(got) == 0 || !slices.IsSortedFunc(got, func(a, b int) int { return b - a }) {
		t.Errorf("the partition went back: %v", got)
	}
	for how, name := range []string{"TERM", "KILL"} {
		if times[how] > 0 {
			t.Logf("%d by %s, %s each until the next one drives", times[how], name, (lost[how] / time.Duration(times[how])).Round(time.Millisecond))
		}
	}
	t.Logf("a runner had %d MiB at most", peak)
}

// partitions gathers the partitions that the workload has, as they are written, once the new
// template is there.
func (b *bed) partitions(t *testing.T) func() []int {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	w, err := client.Resource(b.object.Resource).Namespace(b.namespace).Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	over, out := make(chan struct{}), []int{}
	go func() {
		defer close(over)
		for e := range w.ResultChan() {
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			list, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
			if main, ok := list[0].(map[string]any); !ok || main["image"] != web2 {
				continue
			}
			value, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "updateStrategy", "rollingUpdate", "partition")
			if n, ok := value.(int64); ok {
				out = append(out, int(n))
			}
		}
	}()
	return func() []int { w.Stop(); <-over; return out }
}

// resident is the most memory that a process has had, in MiB.
func resident(t *testing.T, p *played) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.Process.Pid) + "/status")
	must(t, err)
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(after)[0])
	must(t, err)
	return n / 1024
}

// TestDetached_WorksBesideGitOps: a controller has applied the new template under a partition that
// holds all pods back; a runner from a manifest moves the partition and nothing else.
func TestDetached_WorksBesideGitOps(t *testing.T) {
	t.Parallel()
	b := newBed(t, kruiseKind("CloneSet", "clonesets", `updateStrategy: {rollingUpdate: {partition: "100%", maxUnavailable: 2}}`))
	runners := b.runners(t)
	b.Apply(t, b.namespace, b.next)
	file := filepath.Join(t.TempDir(), "released.yaml")
	must(t, os.WriteFile(file, []byte(strings.Replace(b.next, `"100%"`, "0", 1)), 0o600))
	said := b.call(t, "rollout", "run", "-f", file, "--driver", "kruise", "--steps", "1,100%", "--detach", "--manifest", "--runner-namespace", runners, "--runner-image", runnerImage)
	said.Wants(t, 0, "kind: Job")
	plans, jobs, _ := strings.Cut(said.Out, "---\n")
	var cm corev1.ConfigMap
	must(t, yaml.Unmarshal([]byte(plans), &cm))
	p, err := planfile.Read([]byte(cm.Data["plan.yaml"]))
	must(t, err)
	for _, s := range p.Steps {
		if s.Kind != plan.StepPartition {
			t.Errorf("step %s is a %s", s.Name, s.Kind)
		}
	}
	var j batchv1.Job
	must(t, yaml.UnmarshalStrict([]byte(jobs), &j))
	b.Apply(t, runners, said.Out)
	b.play(t, &j, "rollout-web-a", cm.Data).ends(t, 0, "completed")
	if n := running(b.pods(t), web2); n != 4 {
		t.Errorf("%d pods are updated", n)
	}
}
