// Package node models the nodes of a test cluster: one small program that keeps
// hundreds of Node objects alive and does to their pods what kubelets would
// (package life decides what that is), with the daemon side of Kruise and an
// address that the API server fetches logs from and runs commands on.
//
// KWOK was weighed: its stages cover phases and delays, but not an image cache
// per node, a changed image that restarts one container, or Kruise's daemon.
package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
)

// Spec describes one modelled node.
type Spec struct {
	Name   string
	Zone   string
	Labels map[string]string
	Taints []corev1.Taint
	// Capacity is plenty where it says nothing.
	Capacity corev1.ResourceList
}

// Spread describes n nodes, node-0 and so on, over the zones in turn.
func Spread(n int, zones ...string) []Spec {
	out := make([]Spec, n)
	for i := range out {
		out[i].Name = fmt.Sprintf("node-%d", i)
		if len(zones) > 0 {
			out[i].Zone = zones[i%len(zones)]
		}
	}
	return out
}

// Config is what a pool of nodes needs of its cluster.
type Config struct {
	// Access must allow everything and be without a limit of requests.
	Access *rest.Config
	// Serving is the certificate of the kubelets' address, 127.0.0.1.
	Serving tls.Certificate
	// Clients signed the API server's client certificate.
	Clients *x509.CertPool
	// Timing is life.Quick when zero.
	Timing life.Timing
	// Heartbeat is how often nodes renew their leases, 10 seconds when zero.
	Heartbeat time.Duration
	// Version is what nodes report as their kubelet's.
	Version string
}

// workers is how many pods are attended to at once.
const workers = 16

// Pool is a set of modelled nodes.
type Pool struct {
	config   Config
	client   kubernetes.Interface
	queue    workqueue.TypedDelayingInterface[types.NamespacedName]
	pods     cache.SharedIndexInformer
	nodes    cache.SharedIndexInformer
	endpoint *endpoint
	running  sync.WaitGroup
	life     context.Context // ends with Stop
	cancel   context.CancelFunc

	mu        sync.Mutex
	hosts     map[string]*host
	lives     map[types.NamespacedName]*tracked
	addresses addresses
	frozen    map[string]bool // by namespace
}

// host is one node.
type host struct {
	life.Host

	spec Spec
	lost bool // silent, as if its network were cut
}

// tracked is one pod's life with the lock that keeps its turns apart.
type tracked struct {
	mu  sync.Mutex
	pod *life.Pod
	// written is the version of the last status that was written.
	written string
}

// Start makes the nodes and attends to them until the context ends or Stop is
// called. Nodes and pods that exist already are taken over.
func Start(ctx context.Context, config Config, specs []Spec) (*Pool, error) {
	config.Timing = cmp.Or(config.Timing, life.Quick())
	config.Heartbeat = cmp.Or(config.Heartbeat, 10*time.Second)
	access := rest.CopyConfig(config.Access)
	access.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return nil, err
	}
	p := &Pool{
		config: config, client: client,
		queue: workqueue.NewTypedDelayingQueue[types.NamespacedName](),
		hosts: map[string]*host{}, lives: map[types.NamespacedName]*tracked{}, frozen: map[string]bool{},
	}
	ctx, p.cancel = context.WithCancel(ctx)
	p.life = ctx
	if p.endpoint, err = serve(p); err != nil {
		return nil, err
	}
	if err := p.watch(ctx); err != nil {
		p.Stop()
		return nil, err
	}
	p.work(ctx)
	if err := p.Add(ctx, specs...); err != nil {
		p.Stop()
		return nil, err
	}
	p.running.Go(func() { p.beat(ctx) })
	return p, nil
}

// Stop leaves all nodes and pods to themselves. Their objects stay.
func (p *Pool) Stop() {
	p.cancel()
	p.queue.ShutDown()
	p.endpoint.close()
	p.running.Wait()
}

// work runs the workers until the queue is shut down.
func (p *Pool) work(ctx context.Context) {
	for range workers {
		p.running.Go(func() {
			for {
				key, shutdown := p.queue.Get()
				if shutdown {
					return
				}
				p.attend(ctx, key)
				p.queue.Done(key)
			}
		})
	}
}

// host is the named node, if it is one of this cluster.
func (p *Pool) host(name string) *host {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hosts[name]
}

// Images is what the named node has pulled, or nil if the node is not ours.
func (p *Pool) Images(name string) *life.Images {
	if h := p.host(name); h != nil {
		return h.Images
	}
	return nil
}
