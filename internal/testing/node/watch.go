package node

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// watch reads nodes and the pods that are on one.
func (p *Pool) watch(ctx context.Context) error {
	lean := informers.WithTransform(func(o any) (any, error) {
		if m, ok := o.(metav1.Object); ok {
			m.SetManagedFields(nil)
		}
		return o, nil
	})
	placed := informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName!=" })
	pods := informers.NewSharedInformerFactoryWithOptions(p.client, 0, lean, placed)
	all := informers.NewSharedInformerFactoryWithOptions(p.client, 0, lean)
	p.pods = pods.Core().V1().Pods().Informer()
	p.nodes = all.Core().V1().Nodes().Informer()
	enqueue := func(o any) {
		if key, err := cache.DeletionHandlingObjectToName(o); err == nil {
			p.queue.Add(types.NamespacedName(key))
		}
	}
	if _, err := p.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, o any) { enqueue(o) }, DeleteFunc: enqueue,
	}); err != nil {
		return err
	}
	claims := all.Core().V1().PersistentVolumeClaims().Informer()
	if err := p.provision(ctx, claims); err != nil {
		return err
	}
	pods.StartWithContext(ctx)
	all.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), p.pods.HasSynced, p.nodes.HasSynced, claims.HasSynced) {
		return errors.New("nodes: the API server does not answer")
	}
	return nil
}

// pod is the pod as last seen, or nil.
func (p *Pool) pod(key types.NamespacedName) *corev1.Pod {
	o, ok, err := p.pods.GetStore().GetByKey(key.String())
	if err != nil || !ok {
		return nil
	}
	pod, _ := o.(*corev1.Pod)
	return pod
}

// podsOf lists the pods on the named node.
func (p *Pool) podsOf(node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, o := range p.pods.GetStore().List() {
		if pod, ok := o.(*corev1.Pod); ok && pod.Spec.NodeName == node {
			out = append(out, pod)
		}
	}
	return out
}
