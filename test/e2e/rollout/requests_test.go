package rollout

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

var tenSteps = []string{"10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%", "100%"}

// counted rolls a bed out through a proxy in fair weather, and returns the requests
// of the rollout, without the lease and the questions for permissions.
func counted(t *testing.T, b *bed, p *proxy.Proxy, driver plan.Driver, texts []string) (map[string]int, plan.Plan) {
	t.Helper()
	// A server makes the cache of a custom kind when that is first asked for, and puts the
	// reader off meanwhile ("storage is (re)initializing"): here it is asked for uncounted.
	b.open(t).Close()
	c, err := kube.Open(t.Context(), p.Config(), kube.Options{Target: b.object, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "test"})
	must(t, err)
	held, release, err := c.Hold(t.Context(), nil)
	must(t, err)
	made := b.plan(t, c, plan.Policy{Driver: driver, Steps: steps(t, texts...), Pull: plan.PullNever})
	must(t, c.May(t.Context(), made))
	res, err := apply.Run(held, c, b.object.Ref, made, apply.Options{Emit: c.Announce})
	must(t, err)
	if res.Outcome != event.Completed {
		t.Fatalf("%s: %s", res.Outcome, res.Reason)
	}
	release()
	c.Close()
	return rolloutsOwn(p.Log.Count()), made
}

// fair is a proxy that only counts.
func fair(t *testing.T, b *bed) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(b.Config(), &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	t.Cleanup(p.Kill)
	return p
}

func rolloutsOwn(counts map[string]int) map[string]int {
	maps.DeleteFunc(counts, func(what string, _ int) bool {
		return strings.HasSuffix(what, " leases") || strings.HasSuffix(what, " selfsubjectaccessreviews")
	})
	return counts
}

// writes are the requests that change something.
func writes(counts map[string]int) int {
	n := 0
	for what, count := range counts {
		switch strings.Fields(what)[0] {
		case "get", "list", "watch":
		default:
			n += count
		}
	}
	return n
}

// readOnce fails where a resource was listed or watched more than once.
func readOnce(t *testing.T, counts map[string]int) {
	t.Helper()
	for what, n := range counts {
		verb := strings.Fields(what)[0]
		if n > 1 && (verb == "list" || verb == "watch") {
			t.Errorf("%s: %d times", what, n)
		}
	}
}

// beginAndEnd are the record that is made, and the mark in it that all is done.
const beginAndEnd = 2

// TestRequests_DoNotGrowWithPods: what a rollout costs the server does not depend on the pods.
func TestRequests_DoNotGrowWithPods(t *testing.T) {
	t.Parallel()
	c := testcluster.Start(t, testcluster.WithNodes(), kruise.API())
	var before map[string]int
	for _, n := range []int{50, 1000} {
		b := newSwarm(t, c, n)
		counts, p := counted(t, b, fair(t, b), plan.DriverKruise, tenSteps)
		t.Logf("%d pods, %d steps: %v", n, len(p.Steps), counts)
		readOnce(t, counts)
		if most := 4*len(p.Steps) + beginAndEnd; len(p.Steps) < len(tenSteps) || writes(counts) > most {
			t.Errorf("%d pods: %d writes in %d steps", n, writes(counts), len(p.Steps))
		}
		delete(counts, "create events") // none waits for an answer
		if before != nil && writes(before) != writes(counts) {
			t.Errorf("with fewer pods %v\nwith %d pods %v", before, n, counts)
		}
		before = counts
	}
}

// TestRequests_OfTheClientPerPod: the driver client writes at most four times to each pod.
func TestRequests_OfTheClientPerPod(t *testing.T) {
	for name, driven := range map[string]workload{
		"ReplicaSet":           nativeKind("ReplicaSet", "replicasets", ""),
		"StatefulSet OnDelete": nativeKind("StatefulSet", "statefulsets", "serviceName: web\n  updateStrategy: {type: OnDelete}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, driven)
			pods := len(b.pods(t))
			counts, p := counted(t, b, fair(t, b), plan.DriverClient, []string{"1", "100%"})
			t.Logf("%d pods, %d steps: %v", pods, len(p.Steps), counts)
			readOnce(t, counts)
			n := 0
			for what, count := range counts {
				if strings.Contains(what, " pods") && writes(map[string]int{what: 1}) > 0 {
					n += count
				}
			}
			if n > 4*pods {
				t.Errorf("%d writes to %d pods", n, pods)
			}
		})
	}
}

// TestRequests_AtStartAreNotRepeated: the command reads nothing twice.
func TestRequests_AtStartAreNotRepeated(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	run := []string{"rollout", "run", "cloneset/web", "--image", "main=" + web2, "--steps", "1,100%", "--pull-images", "never"}
	b.call(t, append(run, "--dry-run=client")...).Wants(t, 0) // uncounted, as in counted
	p := fair(t, b)
	path, err := product.Binary()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, append(run, "--yes", "--kubeconfig", kubeconfig(t, p.Config()), "-n", b.namespace)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	counts := rolloutsOwn(p.Log.Count())
	delete(counts, "list rollouts") // Kruise Rollout's, asked for in each version that may be served
	t.Log(counts)
	readOnce(t, counts)
	for what, n := range counts {
		if strings.HasPrefix(what, "get ") && n > 2 {
			t.Errorf("%s: %d times", what, n)
		}
	}
}

// kubeconfig writes access down for a process of its own.
func kubeconfig(t *testing.T, cfg *rest.Config) string {
	t.Helper()
	c := api.NewConfig()
	c.Clusters["test"] = &api.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	c.AuthInfos["test"] = &api.AuthInfo{Token: cfg.BearerToken, Impersonate: cfg.Impersonate.UserName, ImpersonateGroups: cfg.Impersonate.Groups}
	c.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test"}
	c.CurrentContext = "test"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*c, file))
	must(t, os.Chmod(file, 0o600))
	return file
}
