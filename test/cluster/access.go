package cluster

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
)

// masters is the group that may do everything.
const masters = "system:masters"

// localHosts are the names that serving certificates carry.
var localHosts = []string{"127.0.0.1", "localhost"}

// subjects are the certificates of a control plane, by file name. Each of them
// also opens etcd, which trusts the cluster's authority.
var subjects = map[string]pki.Subject{
	"etcd":               {Name: "etcd", Hosts: localHosts},
	"apiserver":          {Name: "kube-apiserver", Hosts: append([]string{"10.0.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}, localHosts...)},
	"apiserver-client":   {Name: "kube-apiserver", Groups: []string{masters}},
	"admin":              {Name: "admin", Groups: []string{masters}},
	"controller-manager": {Name: "system:kube-controller-manager", Hosts: localHosts},
	"scheduler":          {Name: "system:kube-scheduler", Hosts: localHosts},
}

// certificates writes the authority, all pairs and the key of service accounts.
func (c *Cluster) certificates() error {
	ca, err := pki.New()
	if err != nil {
		return err
	}
	c.ca = ca
	if err := ca.Pair.Write(c.path("ca")); err != nil {
		return err
	}
	for name, subject := range subjects {
		pair, err := ca.Issue(subject)
		if err != nil {
			return err
		}
		if err := pair.Write(c.path(name)); err != nil {
			return err
		}
	}
	return c.serviceAccountKey()
}

// serviceAccountKey is of the kind that the certificates have: one of RSA takes a tenth of a
// second to make.
func (c *Cluster) serviceAccountKey() error {
	pair, err := c.ca.Issue(pki.Subject{Name: "service-accounts"})
	if err != nil {
		return err
	}
	return os.WriteFile(c.path("service-accounts.key"), pair.Key, 0o600)
}

// tokensFile has the tokens of those who send most requests: the API server would verify a
// certificate again with each of them, which takes a thirtieth of its time.
const tokensFile = "tokens.csv"

// access writes the kubeconfigs and makes the administrator's client.
func (c *Cluster) access() error {
	var tokens strings.Builder
	for _, user := range []string{"admin", "controller-manager", "scheduler"} {
		token, s := rand.Text(), subjects[user]
		fmt.Fprintf(&tokens, "%s,%s,%s,%q\n", token, s.Name, s.Name, strings.Join(s.Groups, ","))
		if err := c.writeKubeconfig(c.path(user+".kubeconfig"), &api.AuthInfo{Token: token}); err != nil {
			return err
		}
	}
	if err := os.WriteFile(c.path(tokensFile), []byte(tokens.String()), 0o600); err != nil {
		return err
	}
	admin, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return err
	}
	admin.WarningHandler = rest.NoWarnings{}
	c.admin = Unlimited(admin)
	if c.client, err = kubernetes.NewForConfig(compact(c.admin)); err != nil {
		return err
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))
	return nil
}

// compact is a configuration for clients of Kubernetes' own types: both sides take a fraction
// of the time for protobuf that they take for JSON, above all for watches.
func compact(config *rest.Config) *rest.Config {
	const protobuf = "application/vnd.kubernetes.protobuf"
	out := rest.CopyConfig(config)
	out.ContentType, out.AcceptContentTypes = protobuf, protobuf+",application/json"
	return out
}

// Unlimited takes the client's own limit of requests away.
func Unlimited(config *rest.Config) *rest.Config {
	config.QPS = -1
	config.RateLimiter = nil
	return config
}

// WriteKubeconfig writes access for whom the pair is. Its clients ask for answers that are not
// compressed: since v1.37, the API server would compress each event of a watch.
func (c *Cluster) WriteKubeconfig(file string, pair pki.Pair) error {
	return c.writeKubeconfig(file, &api.AuthInfo{ClientCertificateData: pair.Cert, ClientKeyData: pair.Key})
}

func (c *Cluster) writeKubeconfig(file string, user *api.AuthInfo) error {
	config := api.NewConfig()
	config.Clusters["test"] = &api.Cluster{
		Server: c.URL(APIServer), CertificateAuthorityData: c.ca.Pair.Cert, DisableCompression: true,
	}
	config.AuthInfos["test"] = user
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test", Namespace: "default"}
	config.CurrentContext = "test"
	return clientcmd.WriteToFile(*config, file)
}

// Issue signs a certificate of this cluster.
func (c *Cluster) Issue(s pki.Subject) (pki.Pair, error) { return c.ca.Issue(s) }

// read loads a pair that certificates wrote.
func (c *Cluster) read(name string) (pki.Pair, error) {
	cert, err := os.ReadFile(c.path(name + ".crt"))
	if err != nil {
		return pki.Pair{}, err
	}
	key, err := os.ReadFile(c.path(name + ".key"))
	return pki.Pair{Cert: cert, Key: key}, err
}
