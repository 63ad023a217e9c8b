package node

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/daemon"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// daemonSide is Kruise's daemon on all modelled nodes: one queue for each of the
// two kinds that it serves.
type daemonSide struct {
	pool   *Pool
	client dynamic.Interface
}

// ServeKruise adds the daemon side of ContainerRecreateRequest and NodeImage. Both
// kinds must be served by the cluster.
func (p *Pool) ServeKruise(ctx context.Context) error {
	client, err := dynamic.NewForConfig(p.config.Access)
	if err != nil {
		return err
	}
	d := &daemonSide{pool: p, client: client}
	err = d.serve(ctx, "containerrecreaterequests", kruise.ContainerRecreateActiveLabel+"=true", d.recreate)
	if err != nil {
		return err
	}
	return d.serve(ctx, "nodeimages", "", d.pull)
}

// turnOf looks at one object and says after what time to look again.
type turnOf func(ctx context.Context, o *unstructured.Unstructured) (time.Duration, error)

// serve gives every object of a kind its turns until the pool stops.
func (d *daemonSide) serve(ctx context.Context, resource, labels string, turn turnOf) error {
	gvr := schema.GroupVersionResource{Group: kruise.Group, Version: kruise.V1beta1, Resource: resource}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(d.client, 0, metav1.NamespaceAll,
		func(o *metav1.ListOptions) { o.LabelSelector = labels })
	informer := factory.ForResource(gvr).Informer()
	queue := workqueue.NewTypedDelayingQueue[string]()
	enqueue := func(o any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
			queue.Add(key)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, o any) { enqueue(o) },
	}); err != nil {
		return err
	}
	context.AfterFunc(d.pool.life, queue.ShutDown)
	factory.Start(d.pool.life.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("nodes: " + resource + " are not served")
	}
	d.pool.running.Go(func() { d.work(informer, queue, turn) })
	return nil
}

// work is one worker: passes over a request must not overlap.
func (d *daemonSide) work(informer cache.SharedIndexInformer, queue workqueue.TypedDelayingInterface[string], turn turnOf) {
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		if o, ok, _ := informer.GetStore().GetByKey(key); ok {
			u, _ := o.(*unstructured.Unstructured)
			again, err := turn(d.pool.life, u)
			if err != nil {
				again = retry
			}
			if again > 0 {
				queue.AddAfter(key, again)
			}
		}
		queue.Done(key)
	}
}

// recreate is a pass over a request whose pod is on one of our nodes.
func (d *daemonSide) recreate(ctx context.Context, o *unstructured.Unstructured) (time.Duration, error) {
	h := d.pool.host(o.GetLabels()[kruise.ContainerRecreateNodeNameLabel])
	if h == nil || d.pool.isLost(h) {
		return 0, nil
	}
	crr := &kruise.ContainerRecreateRequest{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, crr); err != nil {
		return 0, err
	}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: crr.Spec.PodName}
	pod := d.pool.pod(key)
	if pod == nil {
		return 0, nil // ending such a request is the controller's part
	}
	status, stop, again := daemon.Recreate(time.Now(), crr, pod)
	if !equality.Semantic.DeepEqual(status, crr.Status) {
		if err := d.write(ctx, o, "containerrecreaterequests", status); err != nil {
			return 0, err
		}
	}
	if stop != nil {
		d.pool.with(key, func(l *life.Pod) bool { return l.Restart(stop.Container, stop.Grace) })
	}
	return again, nil
}

// pull is a pass over the images of one of our nodes.
func (d *daemonSide) pull(ctx context.Context, o *unstructured.Unstructured) (time.Duration, error) {
	h := d.pool.host(o.GetName())
	if h == nil || d.pool.isLost(h) {
		return 0, nil
	}
	n := &kruise.NodeImage{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, n); err != nil {
		return 0, err
	}
	status, again := daemon.Pull(time.Now(), n, h.Images, d.pool.config.Timing.Pull)
	if equality.Semantic.DeepEqual(status, n.Status) {
		return again, nil
	}
	return again, d.write(ctx, o, "nodeimages", status)
}

// write replaces the status of the object as it was read: an object that changed
// meanwhile gets another turn.
func (d *daemonSide) write(ctx context.Context, o *unstructured.Unstructured, resource string, status any) error {
	text, err := json.Marshal(status)
	if err != nil {
		return err
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	o = o.DeepCopy()
	o.Object["status"] = value
	gvr := schema.GroupVersionResource{Group: kruise.Group, Version: kruise.V1beta1, Resource: resource}
	_, err = d.client.Resource(gvr).Namespace(o.GetNamespace()).UpdateStatus(ctx, o, metav1.UpdateOptions{})
	return err
}
