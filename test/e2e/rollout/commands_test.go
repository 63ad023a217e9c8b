package rollout

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// kubectl calls the command in a namespace; it returns its exit code and what it said.
func kubectl(t *testing.T, c *testcluster.Cluster, namespace string, args ...string) (code int, out, said string) {
	t.Helper()
	return fromAs(t, &bed{Cluster: c, namespace: namespace}, c.Kubeconfig(), os.Getenv("XDG_STATE_HOME"), args...)
}

// call runs the product against the cluster, in the bed's namespace.
func (b *bed) call(t *testing.T, args ...string) product.Said {
	t.Helper()
	return product.Call(t, append(args, "--kubeconfig", b.Kubeconfig(), "-n", b.namespace)...)
}

// fair is a proxy that only counts.
func fair(t *testing.T, b *bed) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(b.Config(), &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	t.Cleanup(p.Kill)
	return p
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
