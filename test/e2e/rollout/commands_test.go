package rollout

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"testing"

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
