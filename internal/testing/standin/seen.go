package standin

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// seen is how a controller waits until it sees what it has written itself: for
// each object with a controller, the newest version that it wrote, by cache.
type seen struct {
	mu    sync.Mutex
	wrote map[types.UID]map[cache.SharedIndexInformer]string
}

func newSeen() *seen {
	return &seen{wrote: map[types.UID]map[cache.SharedIndexInformer]string{}}
}

// note keeps a write of the object's controller.
func (s *seen) note(of types.UID, into cache.SharedIndexInformer, written metav1.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrote[of] == nil {
		s.wrote[of] = map[cache.SharedIndexInformer]string{}
	}
	if newer(written.GetResourceVersion(), s.wrote[of][into]) {
		s.wrote[of][into] = written.GetResourceVersion()
	}
}

// all reports whether the caches hold everything that was written for the object.
func (s *seen) all(of types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for into, version := range s.wrote[of] {
		if newer(version, into.GetStore().LastStoreSyncResourceVersion()) {
			return false
		}
	}
	delete(s.wrote, of)
	return true
}

// newer compares resource versions of one resource; an unknown one is the oldest.
func newer(a, b string) bool {
	if b == "" {
		return a != ""
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
