package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
)

// hostIP is the address of every modelled node: nothing leaves the machine.
const hostIP = "127.0.0.1"

// plenty is a node's capacity by default.
func plenty() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("500"),
	}
}

// addresses counts through 10.64.0.0/10.
type addresses uint32

func (a *addresses) next() string {
	*a++
	n := uint32(*a)
	return fmt.Sprintf("10.%d.%d.%d", 64+n>>16&0x3f, n>>8&0xff, n&0xff)
}

// Add makes nodes and has them ready when it returns.
func (p *Pool) Add(ctx context.Context, specs ...Spec) error {
	var all sync.WaitGroup
	errs := make([]error, beats)
	for part := range beats {
		all.Go(func() {
			for i := part; i < len(specs) && errs[part] == nil; i += beats {
				errs[part] = p.add(ctx, specs[i])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (p *Pool) add(ctx context.Context, s Spec) error {
	h := &host{spec: s, Host: life.Host{
		Timing: p.config.Timing, Images: life.NewImages(), IP: hostIP,
	}}
	if err := p.create(ctx, h); err != nil {
		return err
	}
	p.mu.Lock()
	p.hosts[s.Name] = h
	p.mu.Unlock()
	p.enqueuePods(s.Name)
	return nil
}

// create makes the Node object, or takes over one that exists.
func (p *Pool) create(ctx context.Context, h *host) error {
	labels := map[string]string{
		corev1.LabelHostname: h.spec.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
	}
	if h.spec.Zone != "" {
		labels[corev1.LabelTopologyZone] = h.spec.Zone
		labels[corev1.LabelTopologyRegion] = "test"
	}
	maps.Copy(labels, h.spec.Labels)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: h.spec.Name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: h.spec.Taints},
		Status:     p.nodeStatus(h),
	}
	_, err := p.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := p.renew(ctx, h.spec.Name); err != nil {
		return err
	}
	return p.report(ctx, h)
}

// Remove takes a node out of the cluster, with its object, as a scale-down does.
func (p *Pool) Remove(ctx context.Context, name string) error {
	p.mu.Lock()
	delete(p.hosts, name)
	p.mu.Unlock()
	return p.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
}

// Lose cuts a node off: no heartbeat, no news of its pods, and nothing that is
// asked of it happens, until Recover.
func (p *Pool) Lose(name string) { p.setLost(name, true) }

// Recover brings a lost node back.
func (p *Pool) Recover(ctx context.Context, name string) error {
	p.setLost(name, false)
	h := p.host(name)
	if h == nil {
		return fmt.Errorf("node %s is not modelled", name)
	}
	if err := p.renew(ctx, name); err != nil {
		return err
	}
	if err := p.report(ctx, h); err != nil {
		return err
	}
	p.enqueuePods(name)
	return nil
}

func (p *Pool) setLost(name string, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.hosts[name]; h != nil {
		h.lost = lost
	}
}

func (p *Pool) isLost(h *host) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.lost
}

// reachable lists the nodes that are not lost, by name.
func (p *Pool) reachable() []*host {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*host
	for _, h := range p.hosts {
		if !h.lost {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *host) int { return cmp.Compare(a.spec.Name, b.spec.Name) })
	return out
}

// enqueuePods gives all pods of a node a turn.
func (p *Pool) enqueuePods(name string) {
	for _, pod := range p.podsOf(name) {
		if key, err := cache.ObjectToName(pod); err == nil {
			p.queue.Add(types.NamespacedName(key))
		}
	}
}
