package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Apply creates objects, or replaces those of the same name, with the defaults
// that a cluster would fill in. Workloads, budgets, nodes and namespaces live;
// other objects are kept and nothing more. The first that is refused ends it;
// the error wraps [plan.ErrRefused].
func (w *World) Apply(list ...*tree.Node) error {
	for _, n := range list {
		if err := w.write(refOf(n), n); err != nil {
			return err
		}
	}
	return nil
}

// write stores one object.
func (w *World) write(ref cluster.Ref, doc *tree.Node) error {
	if release := w.opt.Gates.Release; !release.IsZero() {
		doc = release.Read(doc).Object
	}
	if cluster.IsWorkload(ref.Group, ref.Kind) {
		return w.writeWorkload(ref, doc)
	}
	o := w.objects[ref]
	if err := w.admit(o, ref, doc); err != nil {
		return err
	}
	if o == nil {
		o = newObject(ref)
		w.objects[ref] = o
	}
	o.doc = doc
	o.version++
	return w.writeOther(ref, doc)
}

// admit asks whoever decides about objects.
func (w *World) admit(o *object, ref cluster.Ref, doc *tree.Node) error {
	if w.opt.Admit == nil {
		return nil
	}
	var before *tree.Node
	if o != nil {
		before = o.doc
	}
	if err := w.opt.Admit(before, doc); err != nil {
		return fmt.Errorf("%s: %w: %w", ref, plan.ErrRefused, err)
	}
	return nil
}

// writeOther has objects take effect that have no controller here.
func (w *World) writeOther(ref cluster.Ref, doc *tree.Node) error {
	switch {
	case ref.Kind == "Namespace" && ref.Group == "":
		w.Namespace(ref.Name, tree.Strings(tree.Get(doc, "metadata", "labels")))
	case ref.Kind == "Node" && ref.Group == "":
		var n corev1.Node
		if _, err := tree.Decode(doc, &n); err != nil {
			return err
		}
		w.AddNode(ref.Name, n.Labels)
		w.taint(ref.Name, n.Spec.Taints)
	case ref.Kind == kruise.KindWorkloadSpread && ref.Group == kruise.Group:
		return w.writeSpread(ref, doc)
	case ref.Kind == kruise.KindPodUnavailableBudget && ref.Group == kruise.PolicyGroup:
		return w.writeGuard(doc)
	case ref.Kind == "PodDisruptionBudget" && ref.Group == policyv1.GroupName:
		return w.writeDisruption(doc)
	}
	return nil
}

func (w *World) writeGuard(doc *tree.Node) error {
	b := &kruise.PodUnavailableBudget{}
	if _, err := kruise.Decode(doc, b); err != nil {
		return err
	}
	kruise.Default(b)
	w.admission = nil
	for _, g := range w.guards {
		if g.budget.Name == b.Name && g.budget.Namespace == b.Namespace {
			b.Generation, b.Status = g.budget.Generation+1, g.budget.Status
			g.budget, g.rendered = b, false
			w.weighAll()
			w.wakeBudgets()
			return nil
		}
	}
	b.Generation = max(b.Generation, 1)
	w.guards = append(w.guards, &guard{budget: b})
	w.weighAll()
	w.wakeBudgets()
	return nil
}

func (w *World) writeDisruption(doc *tree.Node) error {
	b := &policyv1.PodDisruptionBudget{}
	if _, err := tree.Decode(doc, b); err != nil {
		return err
	}
	for _, d := range w.disruptions {
		if d.budget.Name == b.Name && d.budget.Namespace == b.Namespace {
			b.Generation, b.Status = d.budget.Generation+1, d.budget.Status
			d.budget = b
			w.wakeBudgets()
			return nil
		}
	}
	b.Generation = max(b.Generation, 1)
	w.disruptions = append(w.disruptions, &disruption{budget: b})
	w.wakeBudgets()
	return w.writeRendered(b)
}

// writeWorkload stores an object that has a controller, which then looks at it.
// What is kept, and patched later, has the defaults, as in a cluster.
func (w *World) writeWorkload(ref cluster.Ref, doc *tree.Node) error {
	read, err := cluster.ReadWorkload(doc)
	if err != nil {
		return err
	}
	if doc, err = document(read); err != nil {
		return err
	}
	o := w.objects[ref]
	if err := w.admit(o, ref, doc); err != nil {
		return err
	}
	if o == nil {
		o = newObject(ref)
		read.UID, read.Generation = cmp.Or(read.UID, w.id()), 1
		w.objects[ref], w.owners[read.UID] = o, o
		w.knowNamespace(ref.Namespace)
	} else {
		read.UID, read.Generation = o.workload.UID, o.workload.Generation
		if !reflect.DeepEqual(part(read.Object, "Spec"), part(o.workload.Object, "Spec")) {
			read.Generation++
		}
		replace(read.Object, "Status", part(o.workload.Object, "Status"))
	}
	return w.store(o, doc, read)
}

// store keeps an object as it now is. The caller has filled in uid and
// generation.
func (w *World) store(o *object, doc *tree.Node, read *cluster.Workload) error {
	if set, ok := read.Object.(*kruise.SidecarSet); ok {
		if err := sign(read, set); err != nil {
			return err
		}
	}
	meta := read.Object.(metav1.Object)
	meta.SetUID(types.UID(read.UID))
	meta.SetGeneration(read.Generation)
	w.version++
	meta.SetResourceVersion(strconv.FormatUint(w.version, 10))
	o.doc, o.workload = doc, read
	delete(o.templates, "")
	if o.ref.Kind == kruise.KindSidecarSet {
		w.admission = nil
		w.listSets()
	}
	w.active = w.at
	w.touch(o)
	w.rec.retarget(w)
	w.wake(o)
	w.targetChanged(o)
	if o.parent != nil {
		w.wake(o.parent)
	}
	w.wakeBudgets()
	return nil
}

// sign puts the hashes into a SidecarSet that its webhook would (docs/kruise/sidecarset.md#hashes).
func sign(read *cluster.Workload, set *kruise.SidecarSet) error {
	full, withoutImage, err := inject.Hashes(tree.FromValue(read.Template))
	if err != nil {
		return err
	}
	annotations := make(map[string]string, len(read.Annotations)+2)
	maps.Copy(annotations, read.Annotations)
	annotations[kruise.SidecarSetHashAnnotation] = full
	annotations[kruise.SidecarSetHashWithoutImageAnnotation] = withoutImage
	read.Annotations, set.Annotations = annotations, annotations
	return nil
}

func (w *World) listSets() {
	w.sets = nil
	for _, o := range w.sorted() {
		if o.ref.Kind == kruise.KindSidecarSet && o.workload != nil {
			w.sets = append(w.sets, o)
		}
	}
}

// setStatus writes the status that a controller has worked out; status points to
// a value of the type of the object's field.
func (w *World) setStatus(o *object, status any) {
	next := *o.workload
	object := reflect.New(reflect.TypeOf(o.workload.Object).Elem())
	object.Elem().Set(reflect.ValueOf(o.workload.Object).Elem())
	object.Elem().FieldByName("Status").Set(reflect.ValueOf(status).Elem())
	next.Object = object.Interface()
	o.workload = &next
	w.rec.writes++
	w.active = w.at
	w.touch(o)
	w.rec.retarget(w)
	if o.ref.Kind == kruise.KindSidecarSet {
		// Its controller looks after its own status too, which matters because
		// every pass that is refused doubles the wait.
		w.admission = nil
		w.wake(o)
	}
	if o.parent != nil {
		w.wake(o.parent)
	}
}

// part returns a field of a typed object.
func part(object any, field string) any {
	return reflect.ValueOf(object).Elem().FieldByName(field).Interface()
}

func replace(object any, field string, v any) {
	reflect.ValueOf(object).Elem().FieldByName(field).Set(reflect.ValueOf(v))
}
