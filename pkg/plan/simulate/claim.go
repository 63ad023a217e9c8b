package simulate

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// needClaims makes the claims of a pod that are not there yet.
func (w *World) needClaims(o *object, a controller.CreatePod, id string) {
	for _, c := range a.Claims {
		if strings.HasSuffix(c.Name, "-") {
			c.Name += id
			c.Labels = maps.Clone(c.Labels)
			for _, key := range a.IDLabels {
				c.Labels[key] = id
			}
		}
		c.Namespace = o.ref.Namespace
		key := podName{c.Namespace, c.Name}
		if w.claims[key] == nil {
			w.claims[key] = &c
			w.claimsChanged(o)
		}
	}
}

// claimsOf returns the claims that may belong to the object's pods: those of the
// namespace whose name holds the object's.
func (w *World) claimsOf(o *object) []*cluster.Claim {
	var out []*cluster.Claim
	for _, key := range slices.SortedFunc(maps.Keys(w.claims), compareNames) {
		if key.namespace == o.ref.Namespace && strings.Contains(key.name, "-"+o.ref.Name+"-") {
			out = append(out, w.claims[key])
		}
	}
	return out
}

func compareNames(a, b podName) int {
	return strings.Compare(a.namespace+"/"+a.name, b.namespace+"/"+b.name)
}

func (w *World) changeClaim(o *object, a controller.ChangeClaim) {
	key := podName{o.ref.Namespace, a.Claim.Name}
	have := w.claims[key]
	if have == nil {
		return
	}
	next := *have
	if a.Owner != nil {
		next.Owner = *a.Owner
	}
	w.claims[key] = &next
	if a.Delete {
		w.deleteClaim(key)
	}
	w.claimsChanged(o)
}

// deleteClaim deletes a claim; one that a pod uses stays until the pod is gone.
func (w *World) deleteClaim(key podName) {
	c := *w.claims[key]
	c.Deleting = true
	w.claims[key] = &c
	if !w.used(key) {
		delete(w.claims, key)
	}
}

// used reports whether a pod mounts the claim: it is named after it.
func (w *World) used(key podName) bool {
	for i, r := range key.name {
		if r == '-' && w.names[podName{key.namespace, key.name[i+1:]}] != nil {
			return true
		}
	}
	return false
}

// orphan does with the claims of a pod that is gone what Kubernetes does: those
// that it owned, or that were being deleted, go too.
func (w *World) orphan(p *cluster.Pod) {
	if len(w.claims) == 0 {
		return
	}
	for _, key := range slices.SortedFunc(maps.Keys(w.claims), compareNames) {
		c := w.claims[key]
		mine := strings.HasSuffix(key.name, "-"+p.Name) && key.namespace == p.Namespace
		if (c.Owner.Kind == "Pod" && c.Owner.Name == p.Name && mine) || (c.Deleting && mine) {
			delete(w.claims, key)
		}
	}
}

func (w *World) claimsChanged(o *object) {
	w.touch(o)
	w.wake(o)
}
