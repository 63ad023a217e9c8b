package playground

import (
	"bytes"
	"context"
	_ "embed" // the CloneSet to begin with
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// Hold is the program in the background: it has the cluster until the context
// ends.
func (p Playground) Hold(ctx context.Context) (err error) {
	dir, err := folder()
	if err != nil {
		return err
	}
	nodes := node.Spread(6, "zone-a", "zone-b", "zone-c")
	c, err := cluster.New(ctx, cluster.WithNodes(nodes...), cluster.WithTiming(leisurely()), kruise.API(), standin.Controllers())
	if err != nil {
		return err
	}
	defer func() {
		if closing := c.Close(); err == nil {
			err = closing
		}
		for _, name := range []string{"state.json", kubeconfigName, cloneSetName} {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}()
	fmt.Println("the control plane is up, with", len(nodes), "modelled nodes")
	fmt.Println("Kruise's kinds are served, and stand-ins of its controllers and webhooks act on them")
	if err := p.apply(ctx, c); err != nil {
		return err
	}
	if err := save(dir, c); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// leisurely is slow enough to watch.
func leisurely() life.Timing {
	return life.Timing{
		Pull: 2 * time.Second, Start: time.Second, Stop: 500 * time.Millisecond,
		BackOff: 5 * time.Second, BackOffLimit: time.Minute,
	}
}

// apply renders the example and waits until all its pods are ready.
func (p Playground) apply(ctx context.Context, c *cluster.Cluster) error {
	render := exec.CommandContext(ctx, p.Binary, "render", "-k", p.Example, "--order", "apply", "--quiet")
	var said bytes.Buffer
	render.Stderr = &said
	manifests, err := render.Output()
	if err != nil {
		return fmt.Errorf("rendering the example: %w\n%s", err, &said)
	}
	objects, err := c.ApplyAll(ctx, metav1.NamespaceDefault, bytes.NewReader(manifests))
	if err != nil {
		return err
	}
	fmt.Println(len(objects), "objects of the example applied; waiting for their pods")
	for _, o := range objects {
		var err error
		switch o.GetAPIVersion() + " " + o.GetKind() {
		case "apps/v1 Deployment":
			_, err = cluster.Await(ctx, c.Client().AppsV1().Deployments(o.GetNamespace()), o.GetName(), deploymentUp)
		case "apps/v1 StatefulSet":
			_, err = cluster.Await(ctx, c.Client().AppsV1().StatefulSets(o.GetNamespace()), o.GetName(), statefulSetUp)
		}
		if err != nil {
			return err
		}
	}
	pods, err := c.Client().CoreV1().Pods(corev1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fmt.Println(len(pods.Items), "pods are up")
	return nil
}

// The files that users are told.
const (
	kubeconfigName = "kubeconfig"
	cloneSetName   = "cloneset.yaml"
)

//go:embed cloneset.yaml
var cloneSet []byte

// save tells the commands where the playground is.
func save(dir string, c *cluster.Cluster) error {
	kubeconfig := filepath.Join(dir, kubeconfigName)
	text, err := os.ReadFile(c.Kubeconfig())
	if err != nil {
		return err
	}
	if err := os.WriteFile(kubeconfig, text, 0o600); err != nil { //nolint:gosec // below the user's cache folder
		return err
	}
	web := filepath.Join(dir, cloneSetName)
	if err := os.WriteFile(web, cloneSet, 0o600); err != nil {
		return err
	}
	s, err := json.Marshal(state{PID: os.Getpid(), Kubeconfig: kubeconfig, Kubectl: c.Kubectl(), CloneSet: web})
	if err != nil {
		return err
	}
	whole := filepath.Join(dir, "state.json.new")
	if err := os.WriteFile(whole, s, 0o600); err != nil {
		return err
	}
	return os.Rename(whole, filepath.Join(dir, "state.json"))
}
