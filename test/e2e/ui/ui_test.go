package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

const (
	before = "registry.example.com/web:1"
	after  = "registry.example.com/web:2"
	pods   = 4
)

// web is a CloneSet of four pods; script is an annotation of its pods.
func web(image, script string) string {
	return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}, annotations: {%s}}
    spec: {containers: [{name: main, image: "%s"}]}
`, pods, script, image)
}

// bed is a CloneSet at rest in a namespace of its own.
type bed struct {
	*cluster.Cluster
	namespace string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	c, namespace := cluster.Shared(t, kruise.API(), standin.Controllers())
	b := &bed{c, namespace}
	c.Apply(t, namespace, web(before, ""))
	b.await(t, "all pods to be ready", func(list map[types.UID]*corev1.Pod) bool { return count(list, before) == pods })
	return b
}

// command is the product with the bed's cluster and namespace.
func (b *bed) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, path, append([]string{"--kubeconfig", b.Kubeconfig(), "-n", b.namespace}, args...)...)
}

// call runs the product in a pipe to an end with a code.
func (b *bed) call(t *testing.T, code int, args ...string) {
	t.Helper()
	cmd := b.command(t, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		must(t, err)
	}
	if got != code {
		t.Fatalf("%q: exit %d, want %d\n%s", args, got, code, &out)
	}
}

// screens opens the interface on the bed's namespace.
func (b *bed) screens(t *testing.T, args ...string) *terminal {
	t.Helper()
	return open(t, b.command(t, append([]string{"ui"}, args...)...))
}

// await waits until the namespace's pods are as wanted.
func (b *bed) await(t *testing.T, what string, ok func(map[types.UID]*corev1.Pod) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	now := map[types.UID]*corev1.Pod{}
	_, err := cluster.Await(ctx, b.Client().CoreV1().Pods(b.namespace), "", func(kind watch.EventType, p *corev1.Pod) bool {
		if now[p.UID] = p; kind == watch.Deleted {
			delete(now, p.UID)
		}
		return ok(now)
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// count is how many pods are ready with an image.
func count(list map[types.UID]*corev1.Pod, image string) (n int) {
	for _, p := range list {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && p.Spec.Containers[0].Image == image {
				n++
			}
		}
	}
	return n
}

// TestFailedRollout_IsFirstAndExplained: a failed rollout is first in the list, and its screen says why.
func TestFailedRollout_IsFirstAndExplained(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	file := filepath.Join(t.TempDir(), "web.yaml")
	must(t, os.WriteFile(file, []byte(web(after, `lab.test/crash-start: "100"`)), 0o600))
	b.call(t, 3, "rollout", "run", "-f", file, "--steps", "1,100%", "--yes")
	s := b.screens(t).until(t, "cloneset/web", "blocked", "CrashLoopBackOff")
	s.press(t, enter).until(t, "BLOCKED BY", "CrashLoopBackOff", "failed at step")
	s.press(t, "q").leave(t, 0)
}

// TestCanary_IsPromotedAndRolledBack: a canary that waits is promoted and carried out from the screen,
// and taken back in the end.
func TestCanary_IsPromotedAndRolledBack(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.call(t, 5, "rollout", "run", "cloneset/web", "--image", "main="+after, "--steps", "1,100%", "--pause-after", "1", "--yes", "--exit-on-pause")
	s := b.screens(t).until(t, "cloneset/web", "paused")
	s.press(t, enter).until(t, "waiting for approval", "1/4 updated")
	s.press(t, ">").until(t, "context", "namespace", b.namespace, "No program runs the rollout", "y yes")
	s.press(t, "y").until(t, "running 1 rollout")
	b.await(t, "all pods to be new", func(list map[types.UID]*corev1.Pod) bool { return count(list, after) == pods })
	s.until(t, "healthy").idle(t)
	s.press(t, "u").until(t, "Roll cloneset/web back?", "steps: ", "y yes")
	s.press(t, "y").until(t, "started: ")
	b.await(t, "all pods to be old again", func(list map[types.UID]*corev1.Pod) bool { return count(list, before) == pods })
	s.until(t, "healthy").idle(t)
	s.press(t, "q").leave(t, 0)
}

// TestRestart_OfOnePod: the containers of one pod restart, and of no other.
func TestRestart_OfOnePod(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	s := b.screens(t, "cloneset/web").until(t, "PODS", "BLOCKED BY")
	s.press(t, " ", "R").until(t, "Restart all containers in pod web-", "steps: ", "y yes")
	s.press(t, "y").until(t, "started: ")
	b.await(t, "one container to restart", func(list map[types.UID]*corev1.Pod) bool {
		restarts := int32(0)
		for _, p := range list {
			for _, c := range p.Status.ContainerStatuses {
				restarts += c.RestartCount
			}
		}
		return restarts == 1 && count(list, before) == pods
	})
	// Busy machines show what is carried out after it has ended in the cluster, so that leaving
	// would ask.
	s.until(t, "healthy", "of the last rollout: completed").idle(t)
	s.press(t, "q").leave(t, 0)
}

// TestLeaving_AsksDuringARollout: leaving asks while a rollout is carried out here, and leaves it to be
// resumed.
func TestLeaving_AsksDuringARollout(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	s := open(t, b.command(t, "rollout", "run", "cloneset/web", "--image", "main="+after, "--steps", "1,100%", "--pause-after", "1", "--yes", "--ui"))
	s.until(t, "waiting for approval", "running 1 rollout") // not the step that says so, further up
	s.press(t, "q").until(t, "This program runs", "y yes")
	s.press(t, "y").leave(t, 130)
	b.call(t, 0, "rollout", "promote", "cloneset/web")
	b.await(t, "all pods to be new", func(list map[types.UID]*corev1.Pod) bool { return count(list, after) == pods })
}

// TestReadOnly_OffersNoChanges: nothing that changes the cluster is offered.
func TestReadOnly_OffersNoChanges(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	s := b.screens(t, "--read-only").until(t, "cloneset/web", "read-only")
	if text := s.text(); strings.Contains(text, "promote") {
		t.Errorf("a key is offered that changes the cluster:\n%s", text)
	}
	s.press(t, ">").until(t, "nothing is changed from here")
	s.press(t, "q").leave(t, 0)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
