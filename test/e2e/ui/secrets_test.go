package ui

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/e2e/secretive"
)

// TestSecrets_AreShownOnNoScreen: no frame of any screen shows what is secret in a workload, in its
// pods, in what changes, and in what is distributed.
func TestSecrets_AreShownOnNoScreen(t *testing.T) {
	t.Parallel()
	c, namespace := cluster.Shared(t, kruise.API(), standin.Controllers())
	b := &bed{c, namespace}
	b.Apply(t, b.namespace, secretive.Secrets(b.namespace, "one")+secretive.Wordy("one", before))
	b.await(t, "all pods to be ready", func(list map[types.UID]*corev1.Pod) bool { return count(list, before) == 2 })
	file := filepath.Join(t.TempDir(), "web.yaml")
	must(t, os.WriteFile(file, []byte(secretive.Secrets(b.namespace, "two")+secretive.Wordy("two", after)), 0o600))
	b.call(t, 5, "rollout", "run", "cloneset/web", "-f", file, "--steps", "1,100%", "--pause-after", "1", "--yes", "--exit-on-pause")

	s := watching(secretive.Marks()...).open(t, b.command(t, "ui"))
	s.until(t, "cloneset/web", "paused")
	s.visit(t, "y", "kind: CloneSet").visit(t, "d", "describe cloneset/web").visit(t, "D", "TEMPLATE")
	s.press(t, enter).until(t, "waiting for approval")
	s.visit(t, "D", "TEMPLATE").visit(t, "p", "plan of cloneset/web").visit(t, "y", "kind: CloneSet").visit(t, "d", "describe cloneset/web")
	s.press(t, enter).until(t, "main").visit(t, "y", "kind: Pod").visit(t, "d", "describe pod/")
	s.press(t, "3").until(t, b.namespace+"-secret").visit(t, "y", "kind: ResourceDistribution").visit(t, "d", "ResourceDistribution")
	s.press(t, "q").leave(t, 0)
	for _, frame := range s.leaks() {
		t.Errorf("a secret is on the screen:\n%s", frame)
	}
}

// visit opens a screen, looks at it from its first line to its last, and goes back.
func (s *terminal) visit(t *testing.T, key string, texts ...string) *terminal {
	t.Helper()
	s.press(t, key).until(t, texts...)
	return s.press(t, "\x1b[6~", "\x1b[6~", "G", "\x7f")
}
