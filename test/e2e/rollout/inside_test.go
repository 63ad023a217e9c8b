package rollout

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// said is what a command came to.
type said struct {
	code     int
	out, err string
}

// call runs the product against the cluster, in the bed's namespace.
func (b *bed) call(t *testing.T, args ...string) said {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig", b.Kubeconfig(), "-n", b.namespace)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// wants fails unless the command ended with a code and said these things.
func (s said) wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	ok := s.code == code
	for _, text := range texts {
		ok = ok && strings.Contains(s.out+s.err, text)
	}
	if !ok {
		t.Errorf("exit %d, want %d and %q\n%s\n%s", s.code, code, texts, s.out, s.err)
	}
}

// TestRestartCommand: pods, a workload, and what is refused.
func TestRestartCommand(t *testing.T) {
	t.Parallel()
	b := newBed(t, nativeKind("Deployment", "deployments", "strategy: {rollingUpdate: {maxUnavailable: 2}}"))
	pods := b.pods(t)
	b.call(t, "restart", pods[0].Name, pods[1].Name).wants(t, 2, "method crr: Kruise's node agent does it", "--yes answers")
	b.call(t, "restart", pods[0].Name, "pod/"+pods[1].Name, "--yes").wants(t, 0, "restart main in 2 pods")
	b.call(t, "restart", "deployment/web", "-c", "main", "--method", "image-alias", "--steps", "1,100%", "--yes").wants(t, 0)
	for _, p := range b.pods(t) {
		want := 1
		if p.Name == pods[0].Name || p.Name == pods[1].Name {
			want = 2
		}
		if n := int(p.Status.ContainerStatuses[0].RestartCount); n != want {
			t.Errorf("pod %s has restarted %d times, want %d", p.Name, n, want)
		}
	}
	b.call(t, "restart", "deployment/web", "-c", "other", "--yes").wants(t, 1, "container other of pod web-", "the pod has no such container")
	b.call(t, "restart", "nobody", "--yes").wants(t, 1, "pod/nobody is not in namespace")
	b.call(t, "restart", "deployment/web", "--method", "magic").wants(t, 2, `unknown method "magic"`)
}

// TestPullCommand: every node is told of, those that fail with a reason.
func TestPullCommand(t *testing.T) {
	t.Parallel()
	b := newBed(t, kruiseKind("CloneSet", "clonesets", ""))
	b.call(t, "pull", "registry.example.com/tool:7", "cloneset/web").wants(t, 0, "\tpulled\n", "registry.example.com/tool:7 is on ")
	all := b.call(t, "pull", "registry.example.com/tool:8", "-o", "json")
	all.wants(t, 0, `"state":"pulled"`)
	b.call(t, "pull", "registry.example.com/tool:8").wants(t, 0, "\tpulled\n")
	b.call(t, "pull", "registry.example.com/tool:bad", "--nodes", "kubernetes.io/hostname=node-0").wants(t, 3, "node-0\tfailed: ", "is on 0 of 1 nodes; failed on node-0")
	b.call(t, "pull", "registry.example.com/tool:8", "--nodes", "pool=none").wants(t, 1, "there is no node to pull")
	b.call(t, "pull", "Not An Image").wants(t, 2, "is no image")
}
