package simulate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// State is a cluster at one moment, as it was observed or recorded.
type State struct {
	// Objects are workloads and budgets with their status, and whatever else
	// [World.Apply] takes.
	Objects []*tree.Node
	// Revisions are those of each workload.
	Revisions map[cluster.Ref][]cluster.Revision
	Pods      []*cluster.Pod
	Claims    []*cluster.Claim
	Nodes     []*cluster.Node
}

// Load puts a state into an empty world. Nothing is refused or filled in. The
// controllers look once, as they do when they start: in a state that they have
// settled they do nothing.
func (w *World) Load(s State) error {
	for _, n := range s.Nodes {
		w.AddNode(n.Name, n.Labels)
	}
	for _, doc := range s.Objects {
		if err := w.loadObject(doc, s.Revisions); err != nil {
			return err
		}
	}
	w.parents()
	for _, c := range s.Claims {
		w.claims[podName{c.Namespace, c.Name}] = c
	}
	for _, p := range s.Pods {
		w.loadPod(p)
	}
	w.calm()
	return nil
}

// calm forgets what came up while loading, and has everybody look once, as
// controllers do when they start.
func (w *World) calm() {
	w.queue = nil
	for _, o := range w.objects {
		o.due = 0
	}
	for _, g := range w.guards {
		g.due = 0
	}
	for _, d := range w.disruptions {
		d.due = 0
	}
	for _, e := range slices.Clone(w.all.pods) {
		w.resume(e)
	}
	for _, o := range w.sorted() {
		w.wake(o)
	}
	w.wakeBudgets()
}

func (w *World) loadObject(doc *tree.Node, revisions map[cluster.Ref][]cluster.Revision) error {
	ref := refOf(doc)
	if !cluster.IsWorkload(ref.Group, ref.Kind) {
		return w.write(ref, doc)
	}
	read, err := cluster.ReadWorkload(doc)
	if err != nil {
		return err
	}
	bare := tree.Shallow(doc)
	tree.Delete(bare, "status")
	return w.keep(read, bare, revisions[ref])
}

// keep stores a workload that has a history.
func (w *World) keep(read *cluster.Workload, doc *tree.Node, revisions []cluster.Revision) error {
	if w.objects[read.Ref] != nil {
		return fmt.Errorf("%s is there twice", read.Ref)
	}
	o := newObject(read.Ref)
	if read.UID == "" {
		read.UID = w.id()
	}
	read.Generation = max(read.Generation, 1)
	o.revisions = revisions
	if set, ok := read.Object.(*kruise.CloneSet); ok {
		o.revisions = controller.OwnClaimsHash(set, revisions)
	}
	w.objects[o.ref], w.owners[read.UID] = o, o
	w.knowNamespace(o.ref.Namespace)
	if _, ok := read.Object.(*kruise.SidecarSet); ok && read.Annotations[kruise.SidecarSetHashAnnotation] != "" {
		w.stamp(read)
		o.doc, o.workload = doc, read
		w.listSets()
		return nil
	}
	return w.store(o, doc, read)
}

// stamp gives the object the uid and generation of its workload.
func (w *World) stamp(read *cluster.Workload) {
	meta := read.Object.(metav1.Object)
	meta.SetUID(types.UID(read.UID))
	meta.SetGeneration(read.Generation)
}

// parents finds the Deployment of each ReplicaSet.
func (w *World) parents() {
	for _, o := range w.sorted() {
		if o.workload == nil || o.ref.Kind != kruise.KindReplicaSet {
			continue
		}
		ref := metav1.GetControllerOf(o.workload.Object.(metav1.Object))
		if ref == nil || ref.Kind != kruise.KindDeployment {
			continue
		}
		if parent := w.ownerOf(o.ref.Namespace, cluster.Owner{Kind: ref.Kind, Name: ref.Name, UID: string(ref.UID)}); parent != nil {
			o.parent = parent
			parent.children = append(parent.children, o)
		}
	}
}

func (w *World) loadPod(p *cluster.Pod) {
	if p.Node != "" && w.nodes[p.Node] == nil {
		w.AddNode(p.Node, nil)
	}
	own := *p
	p = &own
	if p.UID == "" {
		p.UID = w.id()
	}
	e := w.insert(p)
	if e.owner != nil && e.Owner.UID != e.owner.workload.UID {
		owned := *p
		owned.Owner.UID = e.owner.workload.UID
		e.Pod = &owned
		w.all.now[e.inAll], e.owner.pods.now[e.inO] = e.Pod, e.Pod
	}
	for i := range p.Containers {
		e.agent[i] = observed(p, i)
		if n := w.nodes[p.Node]; n != nil && e.agent[i].running {
			n.images[e.agent[i].image] = true
		}
	}
}

// observed is what the node must know of a container, going by the pod's status.
func observed(p *cluster.Pod, i int) container {
	c := p.Containers[i]
	out := container{image: c.Image, begun: c.ImageID != "" || c.Ready}
	switch {
	case !c.Reported:
		return container{}
	case c.Waiting == waitingBackOff || c.Waiting == "ErrImagePull":
		out.failed = true
	case c.Waiting != "":
		return container{begun: out.begun}
	default:
		out.running, out.healthy = true, c.Ready
		if runsOlder(p, c) {
			out.image = c.StatusImage
		}
	}
	return out
}

// runsOlder reports whether a container surely runs another image than its spec
// says: the pod is in the middle of an in-place update.
func runsOlder(p *cluster.Pod, c cluster.Container) bool {
	gate, ok := p.Condition(kruise.InPlaceUpdateReady)
	updating := ok && gate.Status == corev1.ConditionFalse || !c.Ready
	return updating && c.StatusImage != "" && !strings.HasSuffix(c.StatusImage, c.Image)
}

// resume has the node go on with what it was doing.
func (w *World) resume(e *pod) {
	switch {
	case e.Deleting:
		w.stop(e)
	case e.Node == "":
		w.pending = append(w.pending, e)
	default:
		for i := range e.agent {
			a := &e.agent[i]
			if a.running && !a.healthy {
				turn := a.turn
				w.after(w.opt.Agent.Ready.draw(&w.chance), func() { w.healthy(e, i, turn) })
			}
		}
		w.sync(e)
	}
}

// FromSnapshot returns a world with the workload of a snapshot and all that is
// known around it. Where no node is known, there is one per ten pods.
func FromSnapshot(s plan.Snapshot, o Options) (*World, error) {
	w := New(o)
	for name, labels := range s.Namespaces {
		w.Namespace(name, labels)
	}
	for _, name := range sortedNodes(s.Nodes) {
		w.AddNode(name, s.Nodes[name].Labels)
	}
	if err := w.keepObserved(s); err != nil {
		return nil, err
	}
	for _, p := range s.Pods {
		w.loadPod(p)
	}
	w.enoughNodes(len(s.Pods))
	w.loadBudgets(s)
	w.calm()
	return w, nil
}

// keepObserved stores the workload of a snapshot, or the native object that
// carries it.
func (w *World) keepObserved(s plan.Snapshot) error {
	stored := s.Workload
	if s.Carrier != nil {
		stored = s.Carrier
	}
	if err := w.keepCopy(stored, s.Revisions); err != nil {
		return err
	}
	w.objects[stored.Ref].base = s.Base
	if err := w.keepChildren(s, stored.Ref); err != nil || s.Carrier == nil {
		return err
	}
	carrier, shadow := w.objects[s.Carrier.Ref], newObject(s.Workload.Ref)
	shadow.workload, shadow.carrier, carrier.shadow = s.Workload, carrier, shadow
	shadow.base = s.Base
	w.objects[shadow.ref] = shadow
	return nil
}

func (w *World) keepCopy(object *cluster.Workload, revisions []cluster.Revision) error {
	doc, err := document(object)
	if err != nil {
		return err
	}
	own := *object
	copied := reflect.New(reflect.TypeOf(object.Object).Elem())
	copied.Elem().Set(reflect.ValueOf(object.Object).Elem())
	own.Object = copied.Interface()
	return w.keep(&own, doc, slices.Clone(revisions))
}

func (w *World) enoughNodes(pods int) {
	if len(w.nodes) > 0 {
		return
	}
	for i := range max(1, (pods+9)/10) {
		w.AddNode(fmt.Sprintf("node-%d", i+1), nil)
	}
}

func (w *World) loadBudgets(s plan.Snapshot) {
	w.addBudgets(s)
	w.countBudgets()
}

func (w *World) addBudgets(s plan.Snapshot) {
	namespace := s.Workload.Namespace
	for _, b := range s.Budgets {
		budget := &kruise.PodUnavailableBudget{}
		budget.Name, budget.Namespace, budget.Spec = b.Name, namespace, *b.Spec
		w.guards = append(w.guards, &guard{budget: budget, beyond: b.Beyond, rendered: b.Rendered})
	}
	for _, b := range s.Disruptions {
		w.disruptions = append(w.disruptions, disruptionOf(b, namespace))
	}
}

func (w *World) countBudgets() {
	w.weighAll()
	for _, g := range w.guards {
		w.countGuard(g)
	}
	for _, d := range w.disruptions {
		w.countDisruption(d)
	}
}
