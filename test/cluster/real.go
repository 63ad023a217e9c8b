package cluster

import (
	"context"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/build"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/realnode"
)

// WithRealNode adds a node with a real kubelet and containerd, and leaves the
// modelled ones out, or skips the test where the machine cannot have one.
func WithRealNode(tb testing.TB) Option {
	tb.Helper()
	if lacks := realnode.Missing(); lacks != "" {
		tb.Skipf("no real node: this test needs %s", lacks)
	}
	return RealNode()
}

// RealNode is WithRealNode outside of tests: starting fails where it cannot be.
func RealNode() Option { return func(o *options) { o.realNode, o.nodes = true, nil } }

// startRealNode starts the node if it is asked for.
func (c *Cluster) startRealNode(ctx context.Context) error {
	if !c.options.realNode {
		return nil
	}
	binaries, err := build.Ensure(ctx, build.Node, build.Line(), c.options.progress)
	if err != nil {
		return err
	}
	c.Real, err = realnode.Start(ctx, realnode.Config{
		Folder: c.folder, Binaries: binaries, Client: c.client, Issue: c.Issue, Kubeconfig: c.WriteKubeconfig,
	})
	return err
}
