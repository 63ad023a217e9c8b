package invariant

import "time"

// pods are the workload's, by name, as they are at some time.
type pods map[string]*pod

// pod is one of them.
type pod struct {
	uid, image string
	// up indicates that it serves, down since when it does not.
	up   bool
	down time.Time
	// rose is since when it is up again after it fell by itself.
	rose time.Time
	// acted indicates that a client has taken it down on purpose.
	acted bool
}

// see takes a write in.
func (p pods) see(w *Write) {
	if w.Resource != "pods" || !w.Done() {
		return
	}
	took := act(w, p)
	if w.Subresource == "eviction" {
		if q := p[w.Name]; q != nil {
			q.fall(w, true)
		}
		return
	}
	uid := Text(w.Object, "metadata", "uid")
	if uid == "" {
		return // a binding
	}
	q := p[w.Name]
	if q == nil || q.uid != uid {
		q = q.successor(uid, w)
		p[w.Name] = q
	}
	q.image = imageOf(w.Object)
	switch {
	case w.Verb == "delete" || Text(w.Object, "metadata", "deletionTimestamp") != "" || took:
		q.fall(w, took)
	case serves(w.Object):
		if !q.up && !q.acted && !q.down.IsZero() {
			q.rose = w.At
		}
		q.up, q.acted, q.down = true, false, time.Time{}
	default:
		q.fall(w, false)
	}
	if w.Verb == "delete" && !took {
		p.vanish(w.Name)
	}
}

// vanish takes a pod away that is gone. When one fell by itself stays known: not everybody
// may have heard of it.
func (p pods) vanish(name string) {
	if q := p[name]; !q.acted && !q.down.IsZero() {
		p[name] = &pod{down: q.down}
		return
	}
	delete(p, name)
}

// successor is another pod of the same name. It has not served yet, and is down since
// the one before fell, and for its reason.
func (q *pod) successor(uid string, w *Write) *pod {
	if q == nil {
		return &pod{uid: uid}
	}
	if q.up {
		q.fall(w, false)
	}
	return &pod{uid: uid, down: q.down, acted: q.acted}
}

// fall notes that a pod does not serve.
func (q *pod) fall(w *Write, acted bool) {
	if q.up {
		q.up, q.down = false, w.At
	}
	q.acted = q.acted || acted
}

// serves reports whether a pod is ready with the image that it should have.
func serves(o any) bool {
	if Text(o, "status", "containerStatuses", 0, "image") != imageOf(o) {
		return false
	}
	list, _ := at(o, "status", "conditions").([]any)
	for _, c := range list {
		if Text(c, "type") == "Ready" {
			return Text(c, "status") == "True"
		}
	}
	return false
}

// imageOf is the image of a pod's first container.
func imageOf(o any) string { return Text(o, "spec", "containers", 0, "image") }

// updated counts the pods that have the new image.
func (p pods) updated(image string) int {
	n := 0
	for _, q := range p {
		if q.image == image {
			n++
		}
	}
	return n
}

// serving counts the pods that serve with the new image.
func (p pods) serving(image string) int {
	n := 0
	for _, q := range p {
		if q.up && q.image == image {
			n++
		}
	}
	return n
}
