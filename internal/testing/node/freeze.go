package node

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Freeze leaves the pods of a namespace as they are: nothing of them starts, crashes or
// ends from now on, until Thaw. A test that has ended needs none of that.
func (p *Pool) Freeze(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen[namespace] = true
}

// Thaw lets the pods of a namespace live again. A namespace that is being deleted needs nodes that end its pods.
func (p *Pool) Thaw(namespace string) {
	p.mu.Lock()
	delete(p.frozen, namespace)
	p.mu.Unlock()
	for _, key := range p.pods.GetStore().ListKeys() {
		if in, name, _ := cache.SplitMetaNamespaceKey(key); in == namespace {
			p.queue.Add(types.NamespacedName{Namespace: in, Name: name})
		}
	}
}

func (p *Pool) isFrozen(namespace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen[namespace]
}
