package standin

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mostRemembered bounds what memory holds; beyond it, memory starts empty again.
const mostRemembered = 5000

// memory holds what was read of objects for as long as they do not change: controllers and webhooks ask for the same ones
// again and again.
type memory[T any] struct {
	mu    sync.Mutex
	known map[types.UID]remembered[T]
}

type remembered[T any] struct {
	version string
	read    T
}

// of is what was read of an object, for reading only. read is asked where it is new or has changed.
func (m *memory[T]) of(o metav1.Object, read func() (T, error)) (T, error) {
	m.mu.Lock()
	known, ok := m.known[o.GetUID()]
	m.mu.Unlock()
	if ok && known.version == o.GetResourceVersion() {
		return known.read, nil
	}
	out, err := read()
	if err != nil {
		return out, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= mostRemembered {
		m.known = map[types.UID]remembered[T]{}
	}
	m.known[o.GetUID()] = remembered[T]{o.GetResourceVersion(), out}
	return out, nil
}
