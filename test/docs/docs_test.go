// Package docs runs the pages that need a cluster: what they show is what a real API
// server and the product make of it.
package docs

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/docrun"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/build"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// top is the repository.
const top = "../.."

// TestDocs_PrintWhatTheyShowOnACluster runs each page that says so, in a copy of the examples and of the page's own
// folder below testdata, in the namespace that the page names.
func TestDocs_PrintWhatTheyShowOnACluster(t *testing.T) {
	pages, err := docrun.RunOn(top, docrun.Cluster)
	must(t, err)
	for page, namespace := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			c, _ := cluster.Shared(t, kruise.API(), standin.Controllers())
			provide(t, c, namespace)
			path, err := filepath.Abs(filepath.Join(top, page))
			must(t, err)
			docrun.Run(t, path, docrun.Ground{Dir: files(t, page), Env: within(t, c, namespace)})
		})
	}
}

// provide makes a namespace, if it is not every cluster's own.
func provide(t *testing.T, c *cluster.Cluster, namespace string) {
	t.Helper()
	if namespace == metav1.NamespaceDefault {
		return
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"team": namespace}}}
	_, err := c.Client().CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
	must(t, err)
	_, err = cluster.Await(t.Context(), c.Client().CoreV1().ServiceAccounts(namespace), "default", func(watch.EventType, *corev1.ServiceAccount) bool { return true })
	must(t, err) // without it no pod can be created
	t.Cleanup(func() {
		// The cluster goes with the tests; what is left in it does no harm.
		_ = c.Client().CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{})
	})
}

// files is a folder with what a page works on.
func files(t *testing.T, page string) string {
	t.Helper()
	work := t.TempDir()
	// Readers are in a checkout, which bounds what kustomizations may read.
	must(t, os.Mkdir(filepath.Join(work, ".git"), 0o750))
	must(t, os.CopyFS(work, os.DirFS(filepath.Join(top, "examples"))))
	name, _, _ := strings.Cut(filepath.Base(page), ".")
	own := filepath.Join("testdata", name)
	if _, err := os.Stat(own); err != nil {
		return work // the examples are all it needs
	}
	must(t, fs.WalkDir(os.DirFS(own), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return cmp.Or(err, os.MkdirAll(filepath.Join(work, path), 0o750))
		}
		text, err := os.ReadFile(filepath.Join(own, path))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(work, path), text, 0o600)
	}))
	return work
}

// within is the environment of a user who works in a namespace of the cluster, with
// kubectl and its plugin.
func within(t *testing.T, c *cluster.Cluster, namespace string) []string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	must(t, err)
	config.Contexts[config.CurrentContext].Namespace = namespace
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, kubeconfig))
	binary, err := product.Binary()
	must(t, err)
	scripts, err := filepath.Abs(filepath.Join("testdata", "bin"))
	must(t, err)
	servers, err := build.Ensure(t.Context(), build.Control, "", os.Stderr)
	must(t, err)
	path := strings.Join([]string{scripts, filepath.Dir(binary), os.Getenv("PATH"), docrun.Tools(t, "kustomize")}, string(filepath.ListSeparator))
	return []string{
		"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + path, "KUBECTL=" + filepath.Join(servers, "kubectl"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com",
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
