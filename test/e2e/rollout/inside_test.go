package rollout

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// call runs the product against the cluster, in the bed's namespace.
func (b *bed) call(t *testing.T, args ...string) product.Said {
	t.Helper()
	return product.Call(t, append(args, "--kubeconfig", b.Kubeconfig(), "-n", b.namespace)...)
}

// TestRestart_OfPodsAndWorkloads: pods, a workload, and what is refused.
func TestRestart_OfPodsAndWorkloads(t *testing.T) {
	t.Parallel()
	b := newBed(t, nativeKind("Deployment", "deployments", "strategy: {rollingUpdate: {maxUnavailable: 2}}"))
	pods := b.pods(t)
	b.call(t, "restart", pods[0].Name, pods[1].Name).Wants(t, 2, "method crr: Kruise's node agent restarts the containers", "add --yes to confirm")
	b.call(t, "restart", pods[0].Name, "pod/"+pods[1].Name, "--yes").Wants(t, 0, "restart main in 2 pods")
	b.call(t, "restart", "deployment/web", "-c", "main", "--method", "image-alias", "--steps", "1,100%", "--yes").Wants(t, 0)
	for _, p := range b.pods(t) {
		want := 1
		if p.Name == pods[0].Name || p.Name == pods[1].Name {
			want = 2
		}
		if n := int(p.Status.ContainerStatuses[0].RestartCount); n != want {
			t.Errorf("pod %s has restarted %d times, want %d", p.Name, n, want)
		}
	}
	b.call(t, "restart", "deployment/web", "-c", "other", "--yes").Wants(t, 1, `the pods have no container "other"`, "hint: containers: ")
	b.call(t, "restart", "missing", "--yes").Wants(t, 1, `pods "missing" not found`)
	b.call(t, "restart", "deployment/web", "--method", "magic").Wants(t, 2, `unknown method "magic"`)
}

// TestPull_ReportsEveryNode: every node is told of, those that fail with a reason.
func TestPull_ReportsEveryNode(t *testing.T) {
	t.Parallel()
	b := newBed(t, kruiseKind("CloneSet", "clonesets", ""))
	b.call(t, "pull", "registry.example.com/tool:7", "cloneset/web").Wants(t, 0, "\tpulled\n", "registry.example.com/tool:7 is on ")
	all := b.call(t, "pull", "registry.example.com/tool:8", "-o", "json")
	all.Wants(t, 0, `"state":"pulled"`)
	b.call(t, "pull", "registry.example.com/tool:8").Wants(t, 0, "\tpulled\n")
	b.call(t, "pull", "registry.example.com/tool:bad", "--node-selector", "kubernetes.io/hostname=node-0").Wants(t, 3, "node-0\tfailed: ", "is on 0 of 1 node; failed on node-0")
	b.call(t, "pull", "registry.example.com/tool:8", "--node-selector", "pool=none").Wants(t, 1, "there is no node to pull")
	b.call(t, "pull", "Not An Image").Wants(t, 2, "is not an image")
}
