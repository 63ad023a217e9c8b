package standin

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// mostRemembered bounds what memory holds; beyond it, memory starts empty again.
const mostRemembered = 5000

// memory holds objects in the form that checks take, for as long as they do not change:
// every request to the webhooks looks at all of a namespace.
type memory struct {
	mu    sync.Mutex
	known map[types.UID]remembered
}

type remembered struct {
	version string
	object  *resource.Resource
}

// of returns an object of the cluster as checks take it, for reading only. read converts
// it where it is new or has changed.
func (m *memory) of(o metav1.Object, read func() (map[string]any, error)) (*resource.Resource, error) {
	m.mu.Lock()
	known, ok := m.known[o.GetUID()]
	m.mu.Unlock()
	if ok && known.version == o.GetResourceVersion() {
		return known.object, nil
	}
	object, err := read()
	if err != nil {
		return nil, err
	}
	r := inCluster(object)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= mostRemembered {
		m.known = map[types.UID]remembered{}
	}
	m.known[o.GetUID()] = remembered{o.GetResourceVersion(), r}
	return r, nil
}
