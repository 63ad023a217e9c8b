package node

// Freeze leaves the pods of a namespace as they are: nothing of them starts, crashes or
// ends from now on. A test that has ended needs none of that.
func (p *Pool) Freeze(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen[namespace] = true
}

// Thaw lets the pods of a namespace live again, from their next change on. A namespace
// that is being deleted needs nodes that end its pods.
func (p *Pool) Thaw(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.frozen, namespace)
}

func (p *Pool) isFrozen(namespace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen[namespace]
}
