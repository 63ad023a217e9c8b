package simulate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// apiServer takes writes of objects from users and controllers: it asks admission, stores the
// object with its defaults, and wakes the controllers that watch it.
type apiServer struct {
	*parts
}

func (s *apiServer) setNamespace(name string, labels map[string]string) {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[kruise.NamespaceNameLabel] = name
	s.store.namespaces = maps.Clone(s.store.namespaces)
	s.store.namespaces[name] = labels
	s.store.version++
	s.creator.admission = nil
}

// ensureNamespace adds a namespace that something is created in.
func (s *apiServer) ensureNamespace(name string) {
	if _, ok := s.store.namespaces[name]; !ok {
		s.setNamespace(name, nil)
	}
}

// apply creates objects, or replaces those of the same name, with the defaults
// that a cluster would fill in. Workloads, budgets, nodes and namespaces live;
// other objects are kept and nothing more. The first that is refused ends it;
// the error wraps [plan.ErrRefused].
func (s *apiServer) apply(list ...*tree.Node) error {
	for _, n := range list {
		if err := s.write(refOf(n), n); err != nil {
			return err
		}
	}
	return nil
}

// refOf reads the reference of a document.
func refOf(n *tree.Node) cluster.Ref {
	return cluster.Ref{
		Group: groupOf(tree.StrAt(n, "apiVersion")), Kind: tree.StrAt(n, "kind"),
		Namespace: tree.StrAt(n, "metadata", "namespace"), Name: tree.StrAt(n, "metadata", "name"),
	}
}

// groupOf is the group of an apiVersion.
func groupOf(apiVersion string) string {
	return apiVersion[:max(strings.LastIndexByte(apiVersion, '/'), 0)]
}

// write stores one object.
func (s *apiServer) write(ref cluster.Ref, doc *tree.Node) error {
	if release := s.opt.Gates.Release; !release.IsZero() {
		doc = release.Read(doc).Object
	}
	if cluster.IsWorkload(ref.Group, ref.Kind) {
		return s.writeWorkload(ref, doc)
	}
	o := s.store.objects[ref]
	if err := s.admit(o, ref, doc); err != nil {
		return err
	}
	if o == nil {
		o = newObject(ref)
		s.store.objects[ref] = o
	}
	o.doc = doc
	o.version++
	// Objects take effect that have no controller here.
	switch {
	case ref.Kind == "Namespace" && ref.Group == "":
		s.setNamespace(ref.Name, tree.Strings(tree.Get(doc, "metadata", "labels")))
	case ref.Kind == "Node" && ref.Group == "":
		var n corev1.Node
		if _, err := tree.Decode(doc, &n); err != nil {
			return err
		}
		s.scheduler.addNode(ref.Name, n.Labels)
		s.scheduler.taint(ref.Name, n.Spec.Taints)
	case ref.Kind == kruise.KindWorkloadSpread && ref.Group == kruise.Group:
		return s.spreads.write(ref, doc)
	case ref.Kind == kruise.KindPodUnavailableBudget && ref.Group == kruise.PolicyGroup:
		return s.budgets.writeUnavailable(doc)
	case ref.Kind == "PodDisruptionBudget" && ref.Group == policyv1.GroupName:
		return s.budgets.writeDisruption(doc)
	}
	return nil
}

// admit asks [Options.Admit].
func (s *apiServer) admit(o *object, ref cluster.Ref, doc *tree.Node) error {
	if s.opt.Admit == nil {
		return nil
	}
	var before *tree.Node
	if o != nil {
		before = o.doc
	}
	if err := s.opt.Admit(before, doc); err != nil {
		return fmt.Errorf("%s: %w: %w", ref, plan.ErrRefused, err)
	}
	return nil
}

// writeWorkload stores an object that has a controller, which then looks at it.
// What is kept, and patched later, has the defaults, as in a cluster.
func (s *apiServer) writeWorkload(ref cluster.Ref, doc *tree.Node) error {
	read, err := cluster.ReadWorkload(doc)
	if err != nil {
		return err
	}
	if doc, err = document(read); err != nil {
		return err
	}
	o := s.store.objects[ref]
	if err := s.admit(o, ref, doc); err != nil {
		return err
	}
	if o == nil {
		o = newObject(ref)
		read.UID, read.Generation = cmp.Or(read.UID, s.store.newUID()), 1
		s.store.objects[ref], s.store.owners[read.UID] = o, o
		s.ensureNamespace(ref.Namespace)
	} else {
		read.UID, read.Generation = o.workload.UID, o.workload.Generation
		if !reflect.DeepEqual(part(read.Object, "Spec"), part(o.workload.Object, "Spec")) {
			read.Generation++
		}
		v := part(o.workload.Object, "Status")
		reflect.ValueOf(read.Object).Elem().FieldByName("Status").Set(reflect.ValueOf(v))
	}
	return s.save(o, doc, read)
}

// document is a workload as a document in the version in which it was written.
func document(read *cluster.Workload) (*tree.Node, error) {
	v, err := tree.Plain(read.Object)
	if err != nil {
		return nil, err
	}
	delete(v, "status")
	v["kind"] = read.Kind
	if read.Group != kruise.Group {
		v["apiVersion"] = read.Group + "/" + read.Version
		return tree.FromValue(v), nil
	}
	v["apiVersion"] = read.Group + "/" + hubVersion
	out, _, err := kruise.FromHub(tree.FromValue(v), read.Version)
	return out, err
}

// hubVersion is the newest version of every Kruise workload.
const hubVersion = "v1beta1"

// part returns a field of a typed object.
func part(object any, field string) any {
	return reflect.ValueOf(object).Elem().FieldByName(field).Interface()
}

// save keeps an object as it now is. The caller has filled in uid and
// generation.
func (s *apiServer) save(o *object, doc *tree.Node, read *cluster.Workload) error {
	if set, ok := read.Object.(*kruise.SidecarSet); ok {
		// Put the hashes into a SidecarSet that its webhook would (docs/kruise/sidecarset.md#hashes).
		full, withoutImage, err := inject.Hashes(tree.FromValue(read.Template))
		if err != nil {
			return err
		}
		annotations := make(map[string]string, len(read.Annotations)+2)
		maps.Copy(annotations, read.Annotations)
		annotations[kruise.SidecarSetHashAnnotation] = full
		annotations[kruise.SidecarSetHashWithoutImageAnnotation] = withoutImage
		read.Annotations, set.Annotations = annotations, annotations
	}
	meta := read.Object.(metav1.Object)
	meta.SetUID(types.UID(read.UID))
	meta.SetGeneration(read.Generation)
	s.store.version++
	meta.SetResourceVersion(strconv.FormatUint(s.store.version, 10))
	o.doc, o.workload = doc, read
	delete(o.templates, "")
	if o.ref.Kind == kruise.KindSidecarSet {
		s.creator.admission = nil
		s.store.listSet(o)
	}
	s.clock.active = s.clock.at
	s.store.touch(o)
	s.recorder.retarget()
	s.controllers.wake(o)
	s.spreads.targetChanged(o)
	if o.parent != nil {
		s.controllers.wake(o.parent)
	}
	s.budgets.wake()
	return nil
}

// setStatus writes the status that a controller has worked out; status points to
// a value of the type of the object's field.
func (s *apiServer) setStatus(o *object, status any) {
	next := *o.workload
	object := reflect.New(reflect.TypeOf(o.workload.Object).Elem())
	object.Elem().Set(reflect.ValueOf(o.workload.Object).Elem())
	object.Elem().FieldByName("Status").Set(reflect.ValueOf(status).Elem())
	next.Object = object.Interface()
	o.workload = &next
	s.recorder.writes++
	s.clock.active = s.clock.at
	s.store.touch(o)
	s.recorder.retarget()
	if o.ref.Kind == kruise.KindSidecarSet {
		// Its controller looks after its own status too, which matters because
		// every pass that is refused doubles the wait.
		s.creator.admission = nil
		s.controllers.wake(o)
	}
	if o.parent != nil {
		s.controllers.wake(o.parent)
	}
}

// The types of patches, as kubectl patch names them.
const (
	patchMerge     = "merge"
	patchJSON      = "json"
	patchStrategic = "strategic"
)

// patch sends one patch; its own target, if it has one, is not looked at. A
// patch of the subresource scale changes spec.replicas. The error wraps
// [plan.ErrNotFound] or [plan.ErrRefused].
func (s *apiServer) patch(ref cluster.Ref, p plan.Patch) error {
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	doc, err := patched(o, p)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", ref, plan.ErrRefused, err)
	}
	s.recorder.writes++
	return s.write(ref, doc)
}

func patched(o *object, p plan.Patch) (*tree.Node, error) {
	doc, err := json.Marshal(tree.Value(o.doc))
	if err != nil {
		return nil, err
	}
	if doc, err = applied(o, p, doc); err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(doc, &out); err != nil {
		return nil, err
	}
	return tree.FromValue(out), nil
}

func applied(o *object, p plan.Patch, doc []byte) ([]byte, error) {
	switch p.Type {
	case patchMerge, patchJSON, "":
		return plan.ApplyPatch(doc, &p)
	case patchStrategic:
		if o.workload == nil || o.ref.Group == kruise.Group {
			return nil, fmt.Errorf("a %s takes no strategic merge patch", o.ref.Kind)
		}
		body, err := json.Marshal(p.Body)
		if err != nil {
			return nil, err
		}
		return strategicpatch.StrategicMergePatch(doc, body, o.workload.Object)
	}
	return nil, fmt.Errorf("no patch is of type %s", p.Type)
}

// patchHub sends a merge patch that is written for the newest version.
func (s *apiServer) patchHub(o *object, patch map[string]any) error {
	hub, _, err := kruise.ToHub(o.doc)
	if err != nil {
		return err
	}
	doc, err := patched(&object{ref: o.ref, doc: hub}, plan.Patch{Type: patchMerge, Body: patch})
	if err != nil {
		return err
	}
	if o.ref.Group == kruise.Group {
		if doc, _, err = kruise.FromHub(doc, o.workload.Version); err != nil {
			return err
		}
	}
	return s.write(o.ref, doc)
}

// adopt stores a ReplicaSet that its Deployment has made.
func (s *apiServer) adopt(parent *object, made *cluster.Workload) error {
	doc, err := document(made)
	if err != nil {
		return err
	}
	if s.store.objects[made.Ref] != nil {
		return fmt.Errorf("%s already exists: %w", made.Ref, plan.ErrConflict)
	}
	o := newObject(made.Ref)
	o.parent = parent
	next := *made
	next.UID, next.Generation = s.store.newUID(), 1
	s.store.objects[o.ref], s.store.owners[next.UID] = o, o
	parent.children = append(parent.children, o)
	return s.save(o, doc, &next)
}

// delete removes an object; its pods and ReplicaSets go with it. The error wraps
// [plan.ErrNotFound].
func (s *apiServer) delete(ref cluster.Ref) error {
	o, err := s.store.lookup(ref)
	if err != nil {
		return err
	}
	delete(s.store.objects, ref)
	s.store.version++
	s.clock.active = s.clock.at
	if o.workload == nil {
		s.budgets.drop(ref)
		s.spreads.drop(ref)
		return nil
	}
	delete(s.store.owners, o.workload.UID)
	for _, child := range slices.Clone(o.children) {
		_ = s.delete(child.ref)
	}
	for _, e := range slices.Clone(o.pods.pods) {
		if !e.Deleting {
			next := *e.Pod
			next.Deleting = true
			s.pods.put(e, &next, "its owner is gone")
		}
	}
	if o.parent != nil {
		o.parent.children = slices.DeleteFunc(o.parent.children, func(c *object) bool { return c == o })
		s.store.touch(o.parent)
		s.controllers.wake(o.parent)
	}
	if ref.Kind == kruise.KindSidecarSet {
		s.creator.admission = nil
		s.store.sets = slices.DeleteFunc(s.store.sets, func(o *object) bool { return o.ref == ref })
	}
	return nil
}
