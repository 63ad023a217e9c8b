package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// availability is how many pods were available, from the server's own order of
// events.
type availability struct {
	replicas int

	mu    sync.Mutex
	now   map[types.UID]bool
	low   int
	story []string
}

// watchAvailability watches the pods of a bed past every proxy.
func watchAvailability(t *testing.T, b *bed) *availability {
	t.Helper()
	client := b.Client().CoreV1().Pods(b.namespace)
	opt := metav1.ListOptions{LabelSelector: "app=web"}
	list, err := client.List(t.Context(), opt)
	must(t, err)
	a := &availability{replicas: len(list.Items), now: map[types.UID]bool{}}
	for i := range list.Items {
		a.see(watch.Added, &list.Items[i])
	}
	a.low = a.replicas
	opt.ResourceVersion = list.ResourceVersion
	w, err := client.Watch(t.Context(), opt)
	must(t, err)
	t.Cleanup(w.Stop)
	go func() {
		for e := range w.ResultChan() {
			if p, ok := e.Object.(*corev1.Pod); ok {
				a.see(e.Type, p)
			}
		}
	}()
	return a
}

// see takes one event in.
func (a *availability) see(what watch.EventType, p *corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now[p.UID] = what != watch.Deleted && p.DeletionTimestamp == nil && ready(p, p.Spec.Containers[0].Image)
	n := 0
	for _, ready := range a.now {
		if ready {
			n++
		}
	}
	a.low = min(a.low, n)
	a.story = append(a.story, fmt.Sprintf("%s %s %s %s available=%t, %d in all", time.Now().Format("05.000"), what, p.Name, p.Spec.Containers[0].Image, a.now[p.UID], n))
}

func (a *availability) least() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.low
}

// eachOnce checks that every patch of the plan took effect once, and every pod was
// changed or evicted once.
func (h *history) eachOnce(t *testing.T) {
	t.Helper()
	sent := map[string]int{}
	h.log.Each(func(r *proxy.Request) {
		if what := h.step(r); what != "" && r.Writes() && r.Effective() {
			sent[what]++
		}
	})
	for what, n := range sent {
		if n != 1 {
			t.Errorf("%d times: %s", n, what)
		}
	}
	for _, s := range h.plan.Steps {
		for i := range s.Patches {
			if body := patchText(s.Patches[i].Body); sent[body] == 0 {
				t.Errorf("step %s was never sent: %s", s.Name, body)
			}
		}
	}
	if h.plan.Driver == plan.DriverClient && len(sent) < len(h.pods(t)) {
		t.Errorf("too few pods were touched: %v", sent)
	}
}

// step names what a request does for the plan: the patch of the workload without its
// precondition, the pod whose image changes or that is evicted.
func (h *history) step(r *proxy.Request) string {
	switch {
	case r.Resource == h.object.Resource.Resource:
		return patchText(r.Body)
	case r.Resource == "pods" && r.Subresource == "eviction":
		return "evict " + r.Name
	case r.Resource == "pods" && r.Subresource == "" && bytes.Contains(r.Body, []byte(web2)):
		return "change " + uidIn(r.Body) + " " + r.Name
	}
	return ""
}

// patchText is a patch without its preconditions, in one form.
func patchText(body any) string {
	text, ok := body.([]byte)
	if !ok {
		text, _ = json.Marshal(body)
	}
	var v any
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			delete(meta, "uid")
			if len(meta) == 0 {
				delete(v, "metadata")
			}
		}
	case []any:
		text, _ = json.Marshal(slices.DeleteFunc(v, func(op any) bool {
			o, _ := op.(map[string]any)
			return o["op"] == "test" && o["path"] == "/metadata/uid"
		}))
		return string(text)
	}
	text, _ = json.Marshal(v)
	return string(text)
}

// uidIn is the uid that a patch is pinned to.
func uidIn(body []byte) string {
	var v struct{ Metadata struct{ UID string } }
	if json.Unmarshal(body, &v) == nil {
		return v.Metadata.UID
	}
	return ""
}
