package simulate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// blueprint makes the pods of one revision, for as long as admission stays what
// it is.
type blueprint struct {
	*controller.Mould
	template  map[string]any
	admission *controller.Admission
	// placement is nil as long as nobody asked for it.
	placement *placement
	// subsets are the pods of a WorkloadSpread's subsets, by its reference and the
	// subset's place.
	subsets map[placeIn]*blueprint
}

// create makes a pod, and the claims that it needs.
func (w *World) create(o *object, a controller.CreatePod) error {
	made, err := w.blueprint(o, a.Revision)
	if err != nil {
		return err
	}
	if made, err = w.spreadOut(o, made, &a); err != nil {
		return err
	}
	id, name, err := w.newName(o.ref.Namespace, a)
	if err != nil {
		return err
	}
	owner := o.ref
	if o.parent != nil {
		owner = o.parent.ref
	}
	p, err := made.Pod(a, controller.Newcomer{Namespace: o.ref.Namespace, Name: name, Owner: owner}, id, w.now())
	if err != nil {
		return fmt.Errorf("pod %s: %w: %w", name, plan.ErrRefused, err)
	}
	w.needClaims(o, a, id)
	w.arrive(o, p, made)
	return nil
}

// newName is the name that a pod gets, and what tells it from others of its prefix.
func (w *World) newName(namespace string, a controller.CreatePod) (id, name string, err error) {
	if name = a.Name; name == "" {
		id = w.unused(namespace, a.Prefix)
		name = a.Prefix + id
	}
	if w.names[podName{namespace, name}] != nil {
		return "", "", fmt.Errorf("pod %s already exists: %w", name, plan.ErrConflict)
	}
	return cmp.Or(id, strings.TrimPrefix(name, a.Prefix)), name, nil
}

// arrive has a pod come into the world, and look for a node.
func (w *World) arrive(o *object, p *cluster.Pod, made *blueprint) {
	node := p.Node
	p.UID, p.Node = w.id(), ""
	p.Owner = cluster.Owner{Kind: o.ref.Kind, Name: o.ref.Name, UID: o.workload.UID}
	e := w.insert(p)
	e.made = made
	w.rec.created(w, e)
	if w.onCreate != nil {
		w.onCreate(e)
	}
	w.changed(e, nil, e.Pod)
	w.schedule(e, node)
}

// blueprint returns what makes the pods of a revision, or of the present
// template.
func (w *World) blueprint(o *object, revision string) (*blueprint, error) {
	admission, err := w.admitting()
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
	b := &blueprint{Mould: admission.Mould(template), template: template, admission: admission}
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

// unused returns a random end for a name that no pod has.
func (w *World) unused(namespace, prefix string) string {
	for {
		id := w.chance.suffix()
		if w.names[podName{namespace, prefix + id}] == nil {
			return id
		}
	}
}

// admitting is what Kruise's webhook does to new pods at present.
func (w *World) admitting() (*controller.Admission, error) {
	if w.admission != nil {
		return w.admission, nil
	}
	s := controller.Surroundings{Namespaces: w.namespaces, EveryPodReady: w.opt.ReadinessGate}
	for _, set := range w.sets {
		s.SidecarSets = append(s.SidecarSets, controller.SidecarSource{Workload: set.workload, Revisions: set.revisions})
	}
	for _, g := range w.guards {
		if !g.rendered {
			s.Budgets = append(s.Budgets, g.budget)
		}
	}
	var err error
	w.admission, err = controller.NewAdmission(s)
	return w.admission, err
}
