package memory

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
)

// collection is what is stored of one resource. What is in it never changes: a write puts another object in its place.
type collection struct {
	objects map[types.NamespacedName]*unstructured.Unstructured
	// log are the last changes, oldest first; all after the version forgotten are there.
	log       []change
	forgotten int64
}

// change is one write.
type change struct {
	version int64
	kind    watch.EventType
	before  *unstructured.Unstructured // nil for a new object
	after   *unstructured.Unstructured // of a deletion, the last state in its version
}

// remembered is how many changes of a resource a watch can begin with, at least.
const remembered = 5000

func nameOf(u *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
}

func (s *Server) of(r *Resource) *collection {
	c := s.collections[r.key()]
	if c == nil {
		c = &collection{objects: map[types.NamespacedName]*unstructured.Unstructured{}}
		s.collections[r.key()] = c
	}
	return c
}

// put stores an object in a new version, and tells those who watch.
func (s *Server) put(r *Resource, u *unstructured.Unstructured) {
	c, kind := s.of(r), watch.Modified
	before := c.objects[nameOf(u)]
	if before == nil {
		kind = watch.Added
	}
	s.version++
	u.SetResourceVersion(strconv.FormatInt(s.version, 10))
	c.objects[nameOf(u)] = u
	s.alive[u.GetUID()] = true
	s.note(c, change{s.version, kind, before, u})
}

// Store puts an object in as it is, with the UID, the status and the owned fields that it has, in place of one of its
// name.
func (s *Server) Store(of schema.GroupVersionResource, u *unstructured.Unstructured) error {
	r := s.resource(of)
	u.SetGroupVersionKind(r.GroupVersionKind)
	if u.GetUID() == "" {
		u.SetUID(uuid.NewUUID())
	}
	if err := defaulted(r, u); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(r, u)
	return nil
}

// orphaned is whether an object has owners and none of them is there.
func (s *Server) orphaned(u *unstructured.Unstructured) bool {
	refs := u.GetOwnerReferences()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(o metav1.OwnerReference) bool { return s.alive[o.UID] })
}

// remove takes an object away for good, and what belongs to nothing else with it.
func (s *Server) remove(r *Resource, u *unstructured.Unstructured) {
	c := s.of(r)
	before := c.objects[nameOf(u)]
	delete(c.objects, nameOf(u))
	delete(s.alive, u.GetUID())
	s.version++
	last := u.DeepCopy()
	last.SetResourceVersion(strconv.FormatInt(s.version, 10))
	s.note(c, change{s.version, watch.Deleted, before, last})
	s.collect(u.GetUID())
}

func (s *Server) note(c *collection, e change) {
	c.log = append(c.log, e)
	if len(c.log) > 2*remembered {
		c.forget(len(c.log) - remembered)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// forget drops the oldest changes.
func (c *collection) forget(n int) {
	if n > 0 {
		c.forgotten = c.log[n-1].version
		c.log = slices.Clone(c.log[n:])
	}
}

// Forget has watches of all resources begin now at the earliest, as when a real server has compacted its storage.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		c.forget(len(c.log))
	}
}

// everyObject calls back for all that is stored, in the order of resources and names.
func (s *Server) everyObject(do func(r *Resource, u *unstructured.Unstructured)) {
	for _, r := range s.list {
		c := s.of(r)
		for _, key := range slices.SortedFunc(maps.Keys(c.objects), compareNames) {
			if u := c.objects[key]; u != nil {
				do(r, u)
			}
		}
	}
}

func compareNames(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }

// collect is the garbage collector: what an owner was that is gone goes when it has no other, and an owner that is
// deleted in the foreground goes after the last one that it waits for.
func (s *Server) collect(owner types.UID) {
	var waiting []func()
	s.everyObject(func(r *Resource, u *unstructured.Unstructured) {
		refs := u.GetOwnerReferences()
		if !slices.ContainsFunc(refs, func(o metav1.OwnerReference) bool { return o.UID == owner }) {
			return
		}
		left := slices.DeleteFunc(refs, func(o metav1.OwnerReference) bool { return o.UID == owner })
		waiting = append(waiting, func() {
			if now := s.of(r).objects[nameOf(u)]; now != nil && now.GetUID() == u.GetUID() {
				if len(left) == 0 {
					s.end(r, now, &metav1.DeleteOptions{})
					return
				}
				now = now.DeepCopy()
				setOwners(now, left)
				s.put(r, now)
			}
		})
	})
	for _, do := range waiting {
		do()
	}
	s.everyObject(func(r *Resource, u *unstructured.Unstructured) {
		if u.GetDeletionTimestamp() != nil && slices.Contains(u.GetFinalizers(), metav1.FinalizerDeleteDependents) && !s.awaited(u.GetUID()) {
			u = u.DeepCopy()
			u.SetFinalizers(without(u.GetFinalizers(), metav1.FinalizerDeleteDependents))
			s.settle(r, u)
		}
	})
}

func setOwners(u *unstructured.Unstructured, refs []metav1.OwnerReference) {
	if u.SetOwnerReferences(refs); len(refs) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "ownerReferences")
	}
}

// awaited is whether something is left that blocks the deletion of its owner.
func (s *Server) awaited(owner types.UID) bool {
	found := false
	s.everyObject(func(_ *Resource, u *unstructured.Unstructured) {
		found = found || slices.ContainsFunc(u.GetOwnerReferences(), func(o metav1.OwnerReference) bool {
			return o.UID == owner && o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion
		})
	})
	return found
}

func without(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(have string) bool { return have == one })
}

// settle stores an object, or takes it away when it is being deleted and nothing holds it.
func (s *Server) settle(r *Resource, u *unstructured.Unstructured) {
	grace := u.GetDeletionGracePeriodSeconds()
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 && (grace == nil || *grace == 0) {
		s.remove(r, u)
		return
	}
	s.put(r, u)
}

// end deletes an object as a request does, and returns what is left of it, nil when it is gone.
func (s *Server) end(r *Resource, u *unstructured.Unstructured, o *metav1.DeleteOptions) *unstructured.Unstructured {
	next := u.DeepCopy()
	grace := int64(0)
	if r.Kind == "Pod" && r.Group == "" {
		grace = podGrace(u, o)
	}
	if had := u.GetDeletionGracePeriodSeconds(); had != nil {
		grace = min(grace, *had)
	}
	if u.GetDeletionTimestamp() == nil {
		now := metav1.NewTime(time.Now().Add(time.Duration(grace) * time.Second).UTC().Truncate(time.Second))
		next.SetDeletionTimestamp(&now)
		if r.Generations {
			next.SetGeneration(next.GetGeneration() + 1)
		}
	}
	next.SetDeletionGracePeriodSeconds(&grace)
	var children []func()
	if how := o.PropagationPolicy; how != nil && *how != metav1.DeletePropagationBackground {
		s.everyObject(func(of *Resource, child *unstructured.Unstructured) {
			refs := child.GetOwnerReferences()
			left := slices.DeleteFunc(refs, func(o metav1.OwnerReference) bool { return o.UID == u.GetUID() })
			switch {
			case len(left) == len(child.GetOwnerReferences()):
			case *how == metav1.DeletePropagationOrphan:
				children = append(children, func() {
					child = child.DeepCopy()
					setOwners(child, left)
					s.put(of, child)
				})
			case len(left) == 0:
				children = append(children, func() { s.end(of, child, o) })
			}
		})
		if *how == metav1.DeletePropagationForeground && len(children) > 0 && s.awaited(u.GetUID()) {
			next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerDeleteDependents))
		}
	}
	if !same(u, next) {
		s.settle(r, next)
	}
	for _, do := range children {
		do()
	}
	return s.of(r).objects[nameOf(u)]
}

// podGrace is how many seconds a pod has to end; one that is on no node needs none.
func podGrace(u *unstructured.Unstructured, o *metav1.DeleteOptions) int64 {
	if node, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName"); node == "" {
		return 0
	}
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
		return 0
	}
	if o.GracePeriodSeconds != nil {
		return *o.GracePeriodSeconds
	}
	grace, found, _ := unstructured.NestedInt64(u.Object, "spec", "terminationGracePeriodSeconds")
	if !found {
		return 30
	}
	return grace
}

// selection is what a list or a watch is about.
type selection struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

func (p selection) selects(u *unstructured.Unstructured) bool {
	if u == nil || p.namespace != "" && p.namespace != u.GetNamespace() || !p.labels.Matches(labels.Set(u.GetLabels())) {
		return false
	}
	for _, need := range p.fields.Requirements() {
		have, _, _ := unstructured.NestedFieldNoCopy(u.Object, strings.Split(need.Field, ".")...)
		text, _ := have.(string)
		set := fields.Set{need.Field: text}
		if one, err := fields.ParseSelector(need.Field + string(need.Operator) + fields.EscapeValue(need.Value)); err != nil || !one.Matches(set) {
			return false
		}
	}
	return true
}

// page is one answer to a list: as many as the limit from the place of the token on.
func (s *Server) page(r *Resource, p selection, limit int, token string) (items []any, next string, left int64, err error) {
	after, version, err := place(token)
	if err != nil {
		return nil, "", 0, apierrors.NewBadRequest("continue key is not valid: " + err.Error())
	}
	c := s.of(r)
	if token != "" && version < c.forgotten {
		return nil, "", 0, apierrors.NewResourceExpired("The provided continue parameter is too old")
	}
	items = []any{}
	for _, key := range slices.SortedFunc(maps.Keys(c.objects), compareNames) {
		u := c.objects[key]
		switch {
		case token != "" && key.String() <= after || !p.selects(u):
		case limit > 0 && len(items) == limit:
			left++
		default:
			items = append(items, u.Object)
			next = key.String()
		}
	}
	if left == 0 {
		return items, "", 0, nil
	}
	return items, base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(s.version, 10) + " " + next)), left, nil
}

// place is what a token says.
func place(token string) (after string, version int64, err error) {
	if token == "" {
		return "", 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", 0, err
	}
	number, after, _ := strings.Cut(string(text), " ")
	version, err = strconv.ParseInt(number, 10, 64)
	return after, version, err
}
