package rollout

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// account is access with the roles that the program prints, and no more. spoil may
// take something away from them.
func (b *bed) account(t *testing.T, spoil func(string) string) *rest.Config {
	t.Helper()
	return b.person(t, "deployer", spoil, "--features", "pull,restart,verify,scale,apply", "--name", b.namespace)
}

// person is access of a service account with the role that rbac prints with some flags.
func (b *bed) person(t *testing.T, name string, spoil func(string) string, role ...string) *rest.Config {
	t.Helper()
	accounts := b.Client().CoreV1().ServiceAccounts(b.namespace)
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
	token, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	path, err := product.Binary()
	must(t, err)
	roles, err := exec.CommandContext(t.Context(), path, append([]string{"rbac", "--bind", b.namespace + "/" + name}, role...)...).Output()
	must(t, err)
	if spoil == nil {
		spoil = func(text string) string { return text }
	}
	cmd := exec.CommandContext(t.Context(), b.Kubectl(), "--kubeconfig", b.Kubeconfig(), "apply", "-f", "-")
	cmd.Stdin = strings.NewReader(spoil(string(roles)))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	admin := b.Config()
	return &rest.Config{Host: admin.Host, TLSClientConfig: rest.TLSClientConfig{CAData: admin.CAData, CAFile: admin.CAFile}, BearerToken: token.Status.Token, QPS: -1}
}

// opened watches a bed by restricted access, as soon as the server knows of it.
func (b *bed) opened(t *testing.T, cfg *rest.Config) *kube.Cluster {
	t.Helper()
	var c *kube.Cluster
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, testcluster.Patience, true, func(context.Context) (bool, error) {
		var err error
		c, err = kube.Open(t.Context(), cfg, kube.Options{Target: b.object, Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "test"})
		if err != nil && !strings.Contains(err.Error(), "forbidden") {
			return false, err
		}
		return err == nil, nil
	}))
	return c
}

// TestMissingPermission_IsNamedBeforeWrites: what is missing is said by name, before anything is written.
func TestMissingPermission_IsNamedBeforeWrites(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["ReplicaSet"].workload)
	cfg := b.account(t, func(s string) string { return strings.ReplaceAll(s, "- pods/eviction\n", "- pods/nothing\n") })
	b.opened(t, cfg).Close()
	p, err := proxy.New(cfg, &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	defer p.Kill()
	path, err := product.Binary()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, "rollout", "run", "replicaset/web", "--image", "main="+web2, "--driver", "client",
		"--pull-images", "never", "--yes", "--kubeconfig", kubeconfig(t, p.Config()), "-n", b.namespace)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(out), "you may not create pods/eviction in namespace "+b.namespace) {
		t.Errorf("exit %d\n%s", code, out)
	}
	p.Log.Each(func(r *proxy.Request) {
		if r.Writes() && r.Resource != "selfsubjectaccessreviews" {
			t.Errorf("written: %s %s", r.Verb, r.Resource)
		}
	})
}
