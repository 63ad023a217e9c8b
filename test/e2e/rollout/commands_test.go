package rollout

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// kubectl calls the command in a namespace; it returns its exit code and what it said.
func kubectl(t *testing.T, c *testcluster.Cluster, namespace string, args ...string) (code int, out, said string) {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, "-n", namespace, "--kubeconfig", c.Kubeconfig())...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// images counts the ready pods of each image that stay, by the value of a label.
func images(t *testing.T, c *testcluster.Cluster, namespace, label string) map[string]int {
	t.Helper()
	list, err := c.Client().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	out := map[string]int{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp != nil {
			continue
		}
		for _, image := range []string{web1, web2} {
			out[list.Items[i].Labels[label]+" "+image[len(image)-1:]] += running(list.Items[i:i+1], image)
		}
	}
	return out
}
