package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// podCreator makes the pods that controllers ask for, as admission lets them through.
type podCreator struct {
	*parts

	// admission is nil when it has to be worked out again.
	admission *controller.Admission
	// onCreate is called with each new pod, which is how tests count them.
	onCreate func(*pod)
}

// prototype makes the pods of one revision, for as long as admission stays what
// it is.
type prototype struct {
	*controller.PodFactory
	template  map[string]any
	admission *controller.Admission
	// placement is nil until it is first needed.
	placement *placement
	// subsets are the pods of a WorkloadSpread's subsets, by its reference and the
	// subset's place.
	subsets map[subsetKey]*prototype
}

// create makes a pod, and the claims that it needs.
func (f *podCreator) create(o *object, a controller.CreatePod) error {
	made, err := f.prototype(o, a.Revision)
	if err != nil {
		return err
	}
	if made, err = f.spreads.assign(o, made, &a); err != nil {
		return err
	}
	id, name, err := f.newName(o.ref.Namespace, a)
	if err != nil {
		return err
	}
	owner := o.ref
	if o.parent != nil {
		owner = o.parent.ref
	}
	p, err := made.Pod(a, controller.PodRequest{Namespace: o.ref.Namespace, Name: name, Owner: owner}, id, f.clock.now())
	if err != nil {
		return fmt.Errorf("pod %s: %w: %w", name, plan.ErrRefused, err)
	}
	f.claims.ensure(o, a, id)
	// The new pod looks for a node.
	node := p.Node
	p.UID, p.Node = f.store.newUID(), ""
	p.Owner = cluster.Owner{Kind: o.ref.Kind, Name: o.ref.Name, UID: o.workload.UID}
	e := f.pods.insert(p)
	e.prototype = made
	f.recorder.created(e)
	if f.onCreate != nil {
		f.onCreate(e)
	}
	f.pods.changed(e, nil, e.Pod)
	f.scheduler.schedule(e, node)
	return nil
}

// newName is the name that a pod gets, and what distinguishes it from others of its prefix.
func (f *podCreator) newName(namespace string, a controller.CreatePod) (id, name string, err error) {
	name = a.Name
	for a.Name == "" && (name == "" || f.store.podsByName[podName{namespace, name}] != nil) {
		id = f.chance.suffix()
		name = a.Prefix + id
	}
	if f.store.podsByName[podName{namespace, name}] != nil {
		return "", "", fmt.Errorf("pod %s already exists: %w", name, plan.ErrConflict)
	}
	return cmp.Or(id, strings.TrimPrefix(name, a.Prefix)), name, nil
}

// prototype returns what makes the pods of a revision, or of the present
// template.
func (f *podCreator) prototype(o *object, revision string) (*prototype, error) {
	admission, err := f.currentAdmission()
	if err != nil {
		return nil, err
	}
	if b := o.templates[revision]; b != nil && b.admission == admission {
		return b, nil
	}
	template, err := o.template(revision)
	if err != nil {
		return nil, err
	}
	b := &prototype{PodFactory: admission.PodFactory(template), template: template, admission: admission}
	o.templates[revision] = b
	return b, nil
}

// template is what pods of a revision are made from.
func (o *object) template(revision string) (map[string]any, error) {
	if revision == "" {
		return o.workload.Template, nil
	}
	for _, r := range o.revisions {
		if r.Name == revision {
			return r.Template, nil
		}
	}
	return nil, fmt.Errorf("revision %s: %w", revision, plan.ErrNotFound)
}

// currentAdmission is what Kruise's webhook does to new pods at present.
func (f *podCreator) currentAdmission() (*controller.Admission, error) {
	if f.admission != nil {
		return f.admission, nil
	}
	s := controller.AdmissionInput{Namespaces: f.store.namespaces, EveryPodReady: f.opt.ReadinessGate}
	for _, set := range f.store.sets {
		s.SidecarSets = append(s.SidecarSets, controller.SidecarSource{Workload: set.workload, Revisions: set.revisions})
	}
	for _, g := range f.budgets.unavailable.list {
		if !g.rendered {
			s.Budgets = append(s.Budgets, g.budget)
		}
	}
	var err error
	f.admission, err = controller.NewAdmission(s)
	return f.admission, err
}

// claimStore keeps the PersistentVolumeClaims of pods.
type claimStore struct {
	*parts

	byName map[podName]*cluster.Claim
	// leaving counts the claims that are being deleted or belong to a pod: they may go with one.
	leaving int
	// changes are all that were made, in their order.
	changes []claimChange
}

// claimChange is a claim that was put in its place, or dropped.
type claimChange struct {
	claim   *cluster.Claim
	dropped bool
}

// put stores a claim, in the place of the one of its name.
func (s *claimStore) put(c *cluster.Claim) {
	key := podName{c.Namespace, c.Name}
	if before := s.byName[key]; before != nil {
		s.count(before, -1)
	}
	s.count(c, 1)
	s.byName[key] = c
	s.changes = append(s.changes, claimChange{claim: c})
}

func (s *claimStore) drop(key podName) {
	if c := s.byName[key]; c != nil {
		s.count(c, -1)
		s.changes = append(s.changes, claimChange{c, true})
		delete(s.byName, key)
	}
}

// sorted are the claims that a condition holds for, by namespace and name.
func (s *claimStore) sorted(condition func(*cluster.Claim) bool) []*cluster.Claim {
	var out []*cluster.Claim
	for _, c := range s.byName {
		if condition(c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *cluster.Claim) int {
		return compareNames(podName{a.Namespace, a.Name}, podName{b.Namespace, b.Name})
	})
	return out
}

func (s *claimStore) count(c *cluster.Claim, by int) {
	if c.Deleting || c.Owner.Kind == "Pod" {
		s.leaving += by
	}
}

// ensure makes the claims of a pod that are not there yet.
func (s *claimStore) ensure(o *object, a controller.CreatePod, id string) {
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
		if s.byName[key] == nil {
			s.put(&c)
			s.changed(o)
		}
	}
}

// of returns the claims that may belong to the object's pods: those of the namespace whose name holds
// the object's, in a list that must not be kept.
func (s *claimStore) of(o *object) []*cluster.Claim {
	infix := "-" + o.ref.Name + "-"
	mine := func(c *cluster.Claim) bool { return c.Namespace == o.ref.Namespace && strings.Contains(c.Name, infix) }
	missed := s.changes[o.claimsRead:]
	o.claimsRead = len(s.changes)
	if len(missed) > len(s.byName) {
		o.claims = s.sorted(mine)
		return o.claims
	}
	for _, change := range missed {
		if mine(change.claim) {
			// Repeat a change of all claims among those of the object.
			place, found := slices.BinarySearchFunc(o.claims, podName{change.claim.Namespace, change.claim.Name}, func(c *cluster.Claim, key podName) int {
				return compareNames(podName{c.Namespace, c.Name}, key)
			})
			end := place
			if found {
				end++
			}
			if change.dropped {
				o.claims = slices.Delete(o.claims, place, end)
			} else {
				o.claims = slices.Replace(o.claims, place, end, change.claim)
			}
		}
	}
	return o.claims
}

func compareNames(a, b podName) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

func (s *claimStore) change(o *object, a controller.ChangeClaim) {
	key := podName{o.ref.Namespace, a.Claim.Name}
	have := s.byName[key]
	if have == nil {
		return
	}
	next := *have
	if a.Owner != nil {
		next.Owner = *a.Owner
	}
	s.put(&next)
	if a.Delete {
		// Delete a claim; one that a pod uses stays until the pod is gone.
		c := *s.byName[key]
		c.Deleting = true
		s.put(&c)
		if !s.used(key) {
			s.drop(key)
		}
	}
	s.changed(o)
}

func (s *claimStore) changed(o *object) {
	s.store.touch(o)
	s.controllers.wake(o)
}

// used reports whether a pod mounts the claim: it is named after it.
func (s *claimStore) used(key podName) bool {
	for i, r := range key.name {
		if r == '-' && s.store.podsByName[podName{key.namespace, key.name[i+1:]}] != nil {
			return true
		}
	}
	return false
}

// releaseClaimsOf does with the claims of a pod that is gone what Kubernetes does: those
// that it owned, or that were being deleted, go too.
func (s *claimStore) releaseClaimsOf(p *cluster.Pod) {
	if s.leaving == 0 {
		return
	}
	for _, c := range s.sorted(func(c *cluster.Claim) bool {
		owned := c.Owner.Kind == "Pod" && c.Owner.Name == p.Name
		return c.Namespace == p.Namespace && (owned || c.Deleting) && strings.HasSuffix(c.Name, "-"+p.Name)
	}) {
		s.drop(podName{c.Namespace, c.Name})
	}
}
