package story

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/memory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/standin"
)

// Cluster is a whole cluster in the process of a test: an API server in memory (package memory), modelled
// nodes (node), a scheduler that takes the emptiest node, Kubernetes' own controllers of workloads,
// and stand-ins for Kruise (standin). It starts in a moment and needs no other program. What it is not: see memory.
type Cluster struct {
	*memory.Server

	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	Nodes   *node.Pool
	// Kubeconfig is a file.
	Kubeconfig string
}

// quick is how pods behave: as if everything took a moment.
func quick() life.Timing {
	return life.Timing{Start: 2 * time.Millisecond, BackOff: 20 * time.Millisecond, BackOffLimit: 200 * time.Millisecond}
}

// silence has the controllers log nothing; it is done once, before any of them runs.
var silence = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// startCluster gives the test a cluster of its own, with three nodes in two zones and Kruise.
func startCluster(t *testing.T) *Cluster {
	t.Helper()
	silence()
	c := &Cluster{Server: memory.New(append(memory.Kruise(), memory.Rollout())...)}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	err := os.WriteFile(c.Kubeconfig, []byte(c.Server.Kubeconfig()), 0o600)
	if err == nil {
		err = c.start(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Nodes.Stop)
	return c
}

func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.Client, err = kubernetes.NewForConfig(c.Config()); err != nil {
		return err
	}
	if c.Dynamic, err = dynamic.NewForConfig(c.Config()); err != nil {
		return err
	}
	c.Nodes, err = node.Start(ctx, node.Config{Access: c.Config(), Timing: quick(), Version: "v1.37.0"}, node.Spread(3, "a", "b"))
	if err != nil {
		return err
	}
	if err := c.Nodes.ServeKruise(ctx); err != nil {
		return err
	}
	if err := c.control(ctx); err != nil {
		return err
	}
	return standin.Start(ctx, standin.Cluster{
		Config: c.Config(), Nodes: c.Nodes,
		Register: func(_ context.Context, w standin.Webhooks) error {
			c.Admit(w.Admit)
			return nil
		},
	})
}

// control runs Kubernetes' controllers and the scheduler.
func (c *Cluster) control(ctx context.Context) error {
	f := informers.NewSharedInformerFactory(c.Client, 0)
	apps, pods := f.Apps().V1(), f.Core().V1().Pods()
	deployments, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), pods, c.Client)
	if err != nil {
		return err
	}
	core := f.Core().V1()
	daemonSets, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), pods, core.Nodes(), c.Client, flowcontrol.NewBackOff(10*time.Millisecond, time.Second))
	if err != nil {
		return err
	}
	statefulSets := statefulset.NewStatefulSetController(ctx, pods, apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), c.Client)
	replicaSets := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), pods, c.Client, 500)
	bind := func(o any) {
		if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName == "" && p.DeletionTimestamp == nil {
			c.bind(ctx, pods.Informer().GetStore(), p)
		}
	}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: bind, UpdateFunc: func(_, o any) { bind(o) }}); err != nil {
		return err
	}
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	go deployments.Run(ctx, 2)
	go replicaSets.Run(ctx, 2)
	go statefulSets.Run(ctx, 2)
	go daemonSets.Run(ctx, 2)
	return nil
}

// bind is the scheduler: the node that a pod of a DaemonSet asks for, or the one with the fewest pods.
func (c *Cluster) bind(ctx context.Context, pods cache.Store, p *corev1.Pod) {
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) == 0 {
		return
	}
	busy := map[string]int{}
	for _, o := range pods.List() {
		busy[o.(*corev1.Pod).Spec.NodeName]++
	}
	slices.SortStableFunc(nodes.Items, func(a, b corev1.Node) int { return cmp.Compare(busy[a.Name], busy[b.Name]) })
	to := cmp.Or(standin.BoundTo(p), nodes.Items[0].Name)
	patch := fmt.Sprintf(`{"metadata": {"uid": %q}, "spec": {"nodeName": %q}}`, p.UID, to)
	if _, err := c.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return
	}
	scheduled := `{"status": {"conditions": [{"type": "PodScheduled", "status": "True"}]}}`
	_, _ = c.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, []byte(scheduled), metav1.PatchOptions{}, "status")
}
