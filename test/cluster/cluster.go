// Package cluster starts a real Kubernetes control plane for tests: etcd, the
// API server, its controllers and the scheduler, all on loopback, in seconds.
// Nodes are modelled (package node) or real (WithRealNode).
//
// Most tests take one line:
//
//	c, namespace := cluster.Shared(t)
package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/build"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/guard"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/realnode"
)

// startLimit is how long a control plane may take to become ready, and a
// component to come back.
const startLimit = Patience

// Cluster is a running control plane.
type Cluster struct {
	// Nodes are the modelled nodes.
	Nodes *node.Pool
	// Real is the real node, if the cluster was started WithRealNode.
	Real *realnode.Node

	options  options
	binaries string
	folder   *guard.Folder
	ca       *pki.Authority
	ports    map[Component]int
	claims   []net.Listener
	life     context.Context // ends with Close
	end      context.CancelFunc
	admin    *rest.Config
	client   *kubernetes.Clientset
	mapper   meta.ResettableRESTMapper
	parts    map[Component]*process
	ended    ended
	audited  audited
}

// New starts a control plane. Tests call Start or Shared instead.
func New(ctx context.Context, opts ...Option) (*Cluster, error) {
	o := defaults()
	for _, opt := range opts {
		opt(&o)
	}
	binaries, err := build.Ensure(ctx, build.Control, build.Line(), o.progress)
	if err != nil {
		return nil, err
	}
	folder, err := guard.New()
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: o, binaries: binaries, folder: folder}
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// start prepares all files and starts the components in their order.
func (c *Cluster) start(ctx context.Context) error {
	for _, step := range []func() error{c.reserve, c.forget, c.certificates, c.access, c.configure} {
		if err := step(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	// The controller manager gives up when the API server keeps it waiting for more
	// than some seconds, which a machine under load does.
	for _, together := range [][]Component{{Etcd, APIServer}, {ControllerManager, Scheduler}} {
		for _, name := range together {
			if err := c.parts[name].start(c.folder); err != nil {
				return err
			}
		}
		for _, name := range together {
			if err := c.ready(ctx, name); err != nil {
				return err
			}
		}
	}
	if err := c.awaitServiceAccount(ctx, "default"); err != nil {
		return err
	}
	if err := c.startNodes(); err != nil {
		return err
	}
	if err := c.startRealNode(ctx); err != nil {
		return err
	}
	for _, a := range c.options.addOns {
		if err := a.install(c.life, c); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// startNodes starts the model, which lives until Close.
func (c *Cluster) startNodes() error {
	pair, err := c.read("apiserver")
	if err != nil {
		return err
	}
	serving, err := pair.TLS()
	if err != nil {
		return err
	}
	version, err := c.Version()
	if err != nil {
		return err
	}
	c.Nodes, err = node.Start(c.life, node.Config{
		Access: c.admin, Serving: serving, Clients: c.Roots(), Version: version,
		Timing: c.options.timing, Heartbeat: min(c.options.nodeGrace/4, 10*time.Second),
	}, c.options.nodes)
	return err
}

// Close ends the cluster and removes all it had. A second call does nothing.
func (c *Cluster) Close() error {
	c.end()
	if c.Nodes != nil {
		c.Nodes.Stop()
	}
	defer c.release()
	for _, p := range c.parts {
		p.forgo()
	}
	var err error
	if c.Real != nil {
		err = c.Real.Close()
	}
	return errors.Join(err, c.folder.Close())
}

// Config is the administrator's access, without a limit of requests per second.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Client is a client with the administrator's rights.
func (c *Cluster) Client() kubernetes.Interface { return c.client }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.path("admin.kubeconfig") }

// Kubectl is the path of the kubectl of the server's version.
func (c *Cluster) Kubectl() string { return filepath.Join(c.binaries, "kubectl") }

// Folder is where the cluster keeps its files while it lives.
func (c *Cluster) Folder() string { return c.folder.Path }

// Roots are the authorities that the cluster's certificates are signed by.
func (c *Cluster) Roots() *x509.CertPool { return c.ca.Pool() }

// path is a file in the cluster's folder.
func (c *Cluster) path(name string) string { return filepath.Join(c.folder.Path, name) }

// Log is what a component has logged so far.
func (c *Cluster) Log(name Component) ([]byte, error) { return os.ReadFile(c.parts[name].log) }

// Stop ends a component in its regular way, as a rolling restart does.
func (c *Cluster) Stop(ctx context.Context, name Component) error {
	return c.parts[name].stop(ctx, syscall.SIGTERM)
}

// Kill ends a component at once, as a crash does.
func (c *Cluster) Kill(ctx context.Context, name Component) error {
	return c.parts[name].stop(ctx, syscall.SIGKILL)
}

// Resume starts a stopped component again and waits until it is ready. State,
// ports and certificates are the same as before.
func (c *Cluster) Resume(ctx context.Context, name Component) error {
	if err := c.parts[name].start(c.folder); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return c.ready(ctx, name)
}

// Restart ends a component in its regular way, or at once as a crash does, and starts it
// again.
func (c *Cluster) Restart(ctx context.Context, name Component, crash bool) error {
	end := c.Stop
	if crash {
		end = c.Kill
	}
	if err := end(ctx, name); err != nil {
		return err
	}
	return c.Resume(ctx, name)
}

// Fault reports components that ended although they were not stopped, and that nothing
// starts again.
func (c *Cluster) Fault() error {
	var errs []error
	for _, p := range c.parts {
		errs = append(errs, p.fault())
	}
	return errors.Join(errs...)
}

// Version is the exact version of the servers, such as "v1.37.1".
func (c *Cluster) Version() (string, error) {
	info, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return "", fmt.Errorf("server version: %w", err)
	}
	return info.GitVersion, nil
}
