package cluster_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// TestRestart_KeepsAcknowledgedWrites kills the API server while writers are at work: whatever
// was acknowledged is there afterwards, and the cluster continues.
func TestRestart_KeepsAcknowledgedWrites(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t)
	c.Apply(t, "default", deployment("web", 20))
	writing, stop := context.WithCancel(t.Context())
	written := make(chan struct{}, 1000)
	load := writers(writing, c, written)
	receive(t, written, 50)
	if err := c.Kill(t.Context(), cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := c.Resume(t.Context(), cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	t.Logf("the API server serves again after %s", time.Since(start).Round(100*time.Millisecond))
	drain(written)
	receive(t, written, 50)
	if err := c.Stop(t.Context(), cluster.Etcd); err != nil {
		t.Fatal(err)
	}
	if err := c.Resume(t.Context(), cluster.Etcd); err != nil {
		t.Fatal(err)
	}
	stop()
	acknowledged := load()
	list, err := c.Client().CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range list.Items {
		delete(acknowledged, stored.Name)
	}
	if len(acknowledged) > 0 {
		t.Errorf("lost: %v", slices.Sorted(maps.Keys(acknowledged)))
	}
	c.Apply(t, "default", deployment("web", 30))
	awaitReady(t, c, "default", "web")
}

// receive waits for n words.
func receive(t *testing.T, c <-chan struct{}, n int) {
	t.Helper()
	limit := time.After(cluster.Patience)
	for i := range n {
		select {
		case <-c:
		case <-limit:
			t.Fatalf("%d of %d writes", i, n)
		}
	}
}

func drain(c <-chan struct{}) {
	for len(c) > 0 {
		<-c
	}
}

// writers create objects as fast as they are let until the context ends. The
// answer is what the server acknowledged.
func writers(ctx context.Context, c *cluster.Cluster, written chan<- struct{}) func() map[string]bool {
	var all sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	maps := c.Client().CoreV1().ConfigMaps("default")
	for w := range 4 {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("load-%d-%d", w, i)
				// The writer's context would make the last answer uncertain.
				if _, err := maps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
					pause(ctx) // leave the processors to the server that comes back
					continue
				}
				mu.Lock()
				acknowledged[name] = true
				mu.Unlock()
				select {
				case written <- struct{}{}:
				default:
				}
			}
		})
	}
	return func() map[string]bool { all.Wait(); return acknowledged }
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// size is how many pods TestManyPods_RunAsOnRealNodes starts, ten on a node; make test-scale asks for 5,000.
var size = flag.Int("pods", 1000, "how many pods TestManyPods_RunAsOnRealNodes brings up")

// TestManyPods_RunAsOnRealNodes brings up a large cluster: each pod runs on a node that
// exists, with an address and a start of its own, no node holds more than twice its share,
// and no pod is made twice.
func TestManyPods_RunAsOnRealNodes(t *testing.T) {
	const workloads = 10
	replicas, nodes := *size/workloads, *size/workloads
	c := cluster.Start(t, cluster.WithNodes(node.Spread(nodes, "zone-a", "zone-b", "zone-c")...))
	ctx, cancel := context.WithTimeout(t.Context(), 4*cluster.Patience)
	defer cancel()
	for i := range workloads {
		c.Apply(t, "default", deployment(fmt.Sprintf("web-%d", i), replicas))
	}
	for i := range workloads {
		awaitReplicas(ctx, t, c, fmt.Sprintf("web-%d", i), int32(replicas))
	}
	list, err := c.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != workloads*replicas {
		t.Errorf("%d pods, want %d", len(list.Items), workloads*replicas)
	}
	addresses, onNode := map[string]string{}, map[string]int{}
	for i := range list.Items {
		p := &list.Items[i]
		onNode[p.Spec.NodeName]++
		if other, taken := addresses[p.Status.PodIP]; taken || p.Status.PodIP == "" {
			t.Errorf("%s has the address %q, as has %s", p.Name, p.Status.PodIP, other)
		}
		addresses[p.Status.PodIP] = p.Name
		if s := status(p); !ready(p) || s.State.Running == nil || s.RestartCount != 0 {
			t.Errorf("%s is ready: %v, and its container %+v after %d restarts", p.Name, ready(p), s.State, s.RestartCount)
		}
	}
	for name, n := range onNode {
		if n > 2*workloads*replicas/nodes {
			t.Errorf("node %s holds %d pods", name, n)
		}
		if _, err := c.Client().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{}); err != nil {
			t.Errorf("node of %d pods: %v", n, err)
		}
	}
}

// awaitReplicas waits for so many ready pods of a Deployment in namespace default.
func awaitReplicas(ctx context.Context, t *testing.T, c *cluster.Cluster, name string, n int32) {
	t.Helper()
	_, err := cluster.Await(ctx, c.Client().AppsV1().Deployments("default"), name,
		func(_ watch.EventType, d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == n })
	if err != nil {
		t.Fatal(err)
	}
}
