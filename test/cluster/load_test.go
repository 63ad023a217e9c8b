package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/node"
)

// TestRestartUnderLoad kills the API server while writers are at work: whatever
// was acknowledged is there afterwards, and the cluster goes on.
func TestRestartUnderLoad(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t)
	c.Apply(t, "default", deployment("web", 20))
	writing, stop := context.WithCancel(t.Context())
	written := make(chan struct{}, 1000)
	load := writers(writing, c, written)
	for range 50 {
		<-written
	}
	if err := c.Kill(t.Context(), cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	if err := c.Resume(t.Context(), cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	drain(written)
	for range 50 {
		<-written
	}
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

// TestFiveThousandPods is the size that later suites measure at.
func TestFiveThousandPods(t *testing.T) {
	c := cluster.Start(t, cluster.WithNodes(node.Spread(500, "zone-a", "zone-b", "zone-c")...))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	start := time.Now()
	for i := range 10 {
		c.Apply(t, "default", deployment(fmt.Sprintf("web-%d", i), 500))
	}
	for i := range 10 {
		awaitReplicas(ctx, t, c, fmt.Sprintf("web-%d", i), 500)
	}
	t.Logf("5,000 pods on 500 nodes ready after %s", time.Since(start).Round(time.Second))
}
