package commands

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// hot has the annotation of a hot upgrade on a pod: of the sidecar proxy, main works.
func (b *bed) hot(t *testing.T, pod string) {
	t.Helper()
	_, err := b.Client().CoreV1().Pods(b.namespace).Patch(t.Context(), pod, types.MergePatchType,
		[]byte(`{"metadata": {"annotations": {"kruise.io/sidecarset-working-hotupgrade-container": "{\"proxy\":\"main\"}"}}}`), metav1.PatchOptions{})
	must(t, err)
}

// TestExec_ReturnsTheExitStatus: in a pod of any kind, with the command's own exit status.
func TestExec_ReturnsTheExitStatus(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload("apps/v1", "Deployment", "plain", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	b.await(t, "apps/v1", "Deployment", "plain", ready)
	pod := b.podsOf(t, "web")[0]
	for _, target := range []string{"cloneset/web", "clone/web", "clonesets.apps.kruise.io/web"} {
		if got := b.call(t, "exec", target, "--", "hostname").ends(t, 0); !strings.HasPrefix(got.out, "web-") {
			t.Errorf("%s: %s", target, got.out)
		}
	}
	b.call(t, "exec", pod, "--", "hostname").prints(t, pod)
	b.call(t, "exec", "pod/"+pod, "-c", "main", "--", "hostname").prints(t, pod)
	b.call(t, "exec", "deploy/plain", "--", "hostname").ends(t, 0, "plain-")
	b.pipe(t, "two\nlines\n", "exec", "-i", pod, "--", "cat").prints(t, "two", "lines")
	b.pipe(t, "", "exec", "-it", pod, "--", "hostname").ends(t, 0, "Unable to use a TTY", pod)
	b.terminal(t, "", "exec", "-it", pod, "--", "hostname").ends(t, 0, pod)
	b.call(t, "exec", pod, "hostname").ends(t, 0, "DEPRECATED", pod)
	b.call(t, "exec", pod, "--", "false").ends(t, 1, "command terminated with exit code 1")
	b.call(t, "exec", "cloneset/web", "--", "nonsense").ends(t, 127, "nonsense: not found", "exit code 127")
}

// TestExec_ChoosesTheWorkingSidecar: the container of a hot-upgraded sidecar that works.
func TestExec_ChoosesTheWorkingSidecar(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	pod := b.podsOf(t, "web")[0]
	b.hot(t, pod)
	got := b.call(t, "exec", pod, "-S", "proxy", "--", "hostname").prints(t, pod)
	if got.err != "Enter working container main of SidecarSet.\n" {
		t.Errorf("%q", got.err)
	}
	b.call(t, "exec", pod, "-S", "main", "--", "hostname").prints(t, pod)
	b.call(t, "exec", pod, "-S", "agent", "--", "hostname").ends(t, 1, "container agent is not valid for pod")
	b.call(t, "exec", pod, "-S", "proxy", "-c", "main", "--", "true").ends(t, 2)
	if got := b.call(t, "logs", pod, "-S", "proxy").ends(t, 0, "main started"); got.err != "Working container of proxy in pod/"+pod+": main\n" {
		t.Errorf("%q", got.err)
	}
	b.call(t, "logs", pod, "-S", "agent").ends(t, 1, "container agent is not valid for pod")
	b.call(t, "logs", pod, "-S", "proxy", "-c", "main").ends(t, 2)
}

// TestExec_RefusesWrongCalls: what cannot be is said, with the exit code.
func TestExec_RefusesWrongCalls(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: empty}
spec:
  replicas: 0
  selector: {matchLabels: {app: empty}}
  template:
    metadata: {labels: {app: empty}}
    spec: {containers: [{name: main, image: web}]}
`)
	b.call(t, "exec").ends(t, 2, "pod, type/name or --filename must be specified")
	b.call(t, "exec", "web").ends(t, 2, "you must specify at least one command for the container")
	b.call(t, "exec", "missing", "--", "true").ends(t, 1, `pods "missing" not found`)
	b.call(t, "exec", "cloneset/missing", "--", "true").ends(t, 1, `"missing" not found`)
	b.call(t, "exec", "nonsense/x", "--", "true").ends(t, 1, "the server doesn't have a resource type")
	b.call(t, "exec", "configmap/kube-root-ca.crt", "--", "true").ends(t, 1, "has no pods of its own", "hint: ")
	b.call(t, "exec", "cloneset/empty", "--pod-running-timeout", "5s", "--", "true").ends(t, 1, "no pod with the labels app=empty")
	b.call(t, "logs").ends(t, 2, "expected 'logs", "hint: see")
	b.call(t, "logs", "missing").ends(t, 1, `pods "missing" not found`)
	b.call(t, "logs", "cloneset/missing").ends(t, 1, `"missing" not found`)
	b.call(t, "logs", "cloneset/empty", "--pod-running-timeout", "5s").ends(t, 1, "no pod with the labels app=empty")
	b.call(t, "logs", "x", "--tail", "-3").ends(t, 1)
}

// TestLogs_OfEachKind: of pods of any kind.
func TestLogs_OfEachKind(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload("apps/v1", "Deployment", "plain", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	b.await(t, "apps/v1", "Deployment", "plain", ready)
	pod := b.podsOf(t, "web")[0]
	b.call(t, "logs", "cloneset/web").ends(t, 0, "Found 3 pods, using pod/web-", "main started")
	b.call(t, "logs", "deploy/plain").ends(t, 0, "Found 3 pods, using pod/plain-", "main started")
	b.call(t, "logs", pod, "--all-containers").ends(t, 0, pod+": main started")
	b.call(t, "logs", pod, "main", "--tail", "1").ends(t, 0, pod+": main started")
	for _, args := range [][]string{{"cloneset/web", "--all-pods"}, {"-l", "app=web", "--prefix", "-S", "main"}} {
		got := b.call(t, append([]string{"logs"}, args...)...).ends(t, 0)
		for _, p := range b.podsOf(t, "web") {
			if !strings.Contains(got.out, "[pod/"+p+"/main]") {
				t.Errorf("%q: %s", args, got.out)
			}
		}
	}
	// Following ends with the container.
	follow := b.command(t, "logs", "-f", pod)
	out, err := follow.StdoutPipe()
	must(t, err)
	must(t, follow.Start())
	buffer := make([]byte, 1)
	_, err = out.Read(buffer)
	must(t, err)
	if b.call(t, "exec", pod, "--", "kill", "1").ends(t, 0); t.Failed() {
		must(t, follow.Process.Kill())
	}
	if code := exitOf(t, follow.Wait()); code != 0 {
		t.Errorf("exit %d", code)
	}
}
