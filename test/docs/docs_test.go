// Package docs runs the pages that need a cluster: what they show is what a real API
// server and the product make of it.
package docs

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kruise/kubectl-kruise/internal/docrun"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// pages are those that are run, each with the namespace that its commands mean.
var pages = map[string]string{"commands": "shop"}

// TestDocs runs each page in a copy of its folder below testdata.
func TestDocs(t *testing.T) {
	for page, namespace := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			c, _ := cluster.Shared(t, kruise.API(), standin.Controllers())
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"team": namespace}}}
			_, err := c.Client().CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
			must(t, err)
			t.Cleanup(func() {
				// The cluster goes with the tests; what is left in it harms nobody.
				_ = c.Client().CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{})
			})
			work := t.TempDir()
			must(t, os.CopyFS(work, os.DirFS(filepath.Join("testdata", page))))
			path, err := filepath.Abs(filepath.Join("..", "..", "docs", page+".md"))
			must(t, err)
			docrun.Run(t, path, docrun.Ground{Dir: work, Env: within(t, c, namespace)})
		})
	}
}

// within is the environment of somebody who works in a namespace of the cluster, with
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
	path := scripts + string(filepath.ListSeparator) + filepath.Dir(binary) + string(filepath.ListSeparator) + os.Getenv("PATH")
	return []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + path}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
