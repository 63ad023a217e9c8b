package simulate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
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

// loader puts what was observed or recorded into a new world.
type loader struct{ *World }

// load puts a state into an empty world. Nothing is refused or filled in. The
// controllers look once, as they do when they start: in a state that they have
// settled they do nothing.
func (l *loader) load(s State) error {
	for _, n := range s.Nodes {
		l.scheduler.addNode(n.Name, n.Labels)
	}
	for _, doc := range s.Objects {
		if err := l.loadObject(doc, s.Revisions); err != nil {
			return err
		}
	}
	l.linkReplicaSets()
	for _, c := range s.Claims {
		l.claims.put(c)
	}
	for _, p := range s.Pods {
		l.loadPod(p)
	}
	l.start()
	return nil
}

func (l *loader) loadObject(doc *tree.Node, revisions map[cluster.Ref][]cluster.Revision) error {
	ref := refOf(doc)
	if !cluster.IsWorkload(ref.Group, ref.Kind) {
		return l.api.write(ref, doc)
	}
	read, err := cluster.ReadWorkload(doc)
	if err != nil {
		return err
	}
	bare := tree.Shallow(doc)
	tree.Delete(bare, "status")
	return l.storeWithHistory(read, bare, revisions[ref])
}

// storeWithHistory stores a workload that has a history.
func (l *loader) storeWithHistory(read *cluster.Workload, doc *tree.Node, revisions []cluster.Revision) error {
	if l.store.objects[read.Ref] != nil {
		return fmt.Errorf("%s is there twice", read.Ref)
	}
	o := newObject(read.Ref)
	if read.UID == "" {
		read.UID = l.store.newUID()
	}
	read.Generation = max(read.Generation, 1)
	o.revisions = revisions
	if set, ok := read.Object.(*kruise.CloneSet); ok {
		o.revisions = controller.OwnClaimsHash(set, revisions)
	}
	l.store.objects[o.ref], l.store.owners[read.UID] = o, o
	l.api.ensureNamespace(o.ref.Namespace)
	if _, ok := read.Object.(*kruise.SidecarSet); ok && read.Annotations[kruise.SidecarSetHashAnnotation] != "" {
		meta := read.Object.(metav1.Object)
		meta.SetUID(types.UID(read.UID))
		meta.SetGeneration(read.Generation)
		o.doc, o.workload = doc, read
		l.store.listSet(o)
		return nil
	}
	return l.api.save(o, doc, read)
}

// linkReplicaSets finds the Deployment of each ReplicaSet.
func (l *loader) linkReplicaSets() {
	for _, o := range l.store.sortedObjects() {
		if o.workload == nil || o.ref.Kind != kruise.KindReplicaSet {
			continue
		}
		ref := metav1.GetControllerOf(o.workload.Object.(metav1.Object))
		if ref == nil || ref.Kind != kruise.KindDeployment {
			continue
		}
		if parent := l.store.ownerOf(o.ref.Namespace, cluster.Owner{Kind: ref.Kind, Name: ref.Name, UID: string(ref.UID)}); parent != nil {
			o.parent = parent
			parent.children = append(parent.children, o)
		}
	}
}

func (l *loader) loadPod(p *cluster.Pod) {
	if p.Node != "" && l.scheduler.nodes[p.Node] == nil {
		l.scheduler.addNode(p.Node, nil)
	}
	own := *p
	p = &own
	if p.UID == "" {
		p.UID = l.store.newUID()
	}
	e := l.pods.insert(p)
	if e.owner != nil && e.Owner.UID != e.owner.workload.UID {
		owned := *p
		owned.Owner.UID = e.owner.workload.UID
		e.Pod = &owned
		l.store.all.set(e.inAll, e.Pod)
		e.owner.pods.set(e.inO, e.Pod)
	}
	for i := range p.Containers {
		e.runtime[i] = observed(p, i)
		if n := l.scheduler.nodes[p.Node]; n != nil && e.runtime[i].running {
			n.images[e.runtime[i].image] = true
		}
	}
}

// observed is what the node must know of a container, going by the pod's status.
func observed(p *cluster.Pod, i int) container {
	c := p.Containers[i]
	out := container{image: c.Image, started: c.ImageID != "" || c.Ready}
	switch {
	case !c.Reported:
		return container{}
	case c.Waiting == waitingBackOff || c.Waiting == "ErrImagePull":
		out.failed = true
	case c.Waiting != "":
		return container{started: out.started}
	default:
		out.running, out.healthy = true, c.Ready
		// Whether a container surely runs another image than that of its spec: the pod is in the middle of an in-place update.
		gate, ok := p.Condition(kruise.InPlaceUpdateReady)
		updating := ok && gate.Status == corev1.ConditionFalse || !c.Ready
		if updating && c.StatusImage != "" && !strings.HasSuffix(c.StatusImage, c.Image) {
			out.image = c.StatusImage
		}
	}
	return out
}

// start forgets what came up while loading, and has every controller look once, as
// controllers do when they start.
func (l *loader) start() {
	l.clock.queue = nil
	for _, o := range l.store.objects {
		o.due = 0
	}
	l.budgets.allDue = 0
	for _, g := range l.budgets.unavailable.list {
		g.due = 0
	}
	for _, d := range l.budgets.disruptions.list {
		d.due = 0
	}
	for _, e := range slices.Clone(l.store.all.pods) {
		l.kubelet.resumePod(e)
	}
	for _, o := range l.store.sortedObjects() {
		l.controllers.wake(o)
	}
	l.budgets.wake()
}

// FromSnapshot returns a world with the workload of a snapshot and all that is
// known around it. Where no node is known, there is one per ten pods.
func FromSnapshot(s plan.Snapshot, o Options) (*World, error) {
	return fromSnapshots([]plan.Snapshot{s}, o)
}

// fromSnapshots returns a world with the workloads of several snapshots, and what is known
// around them.
func fromSnapshots(list []plan.Snapshot, o Options) (*World, error) {
	l, pods := &loader{New(o)}, 0
	for _, s := range list {
		for name, labels := range s.Namespaces {
			l.api.setNamespace(name, labels)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
			l.scheduler.addNode(name, s.Nodes[name].Labels)
		}
		if err := l.storeObserved(s); err != nil {
			return nil, err
		}
		pods += len(s.Pods)
	}
	for _, s := range list {
		for _, p := range s.Pods {
			if l.store.podsByUID[p.UID] == nil { // a SidecarSet has those of others
				l.loadPod(p)
			}
		}
	}
	// Ensure nodes.
	if len(l.scheduler.nodes) == 0 {
		for i := range max(1, (pods+9)/10) {
			l.scheduler.addNode(fmt.Sprintf("node-%d", i+1), nil)
		}
	}
	l.loadBudgets(list)
	l.start()
	return l.World, nil
}

// storeObserved stores the workload of a snapshot, or the native object that
// carries it.
func (l *loader) storeObserved(s plan.Snapshot) error {
	stored := s.Workload
	if s.Carrier != nil {
		stored = s.Carrier
	}
	doc, err := document(stored)
	if err != nil {
		return err
	}
	own := *stored
	copied := reflect.New(reflect.TypeOf(stored.Object).Elem())
	copied.Elem().Set(reflect.ValueOf(stored.Object).Elem())
	own.Object = copied.Interface()
	if err := l.storeWithHistory(&own, doc, slices.Clone(s.Revisions)); err != nil {
		return err
	}
	l.store.objects[stored.Ref].base = s.Base
	if err := l.storeReplicaSets(s, stored.Ref); err != nil || s.Carrier == nil {
		return err
	}
	carrier, shadow := l.store.objects[s.Carrier.Ref], newObject(s.Workload.Ref)
	shadow.workload, shadow.carrier, carrier.shadow = s.Workload, carrier, shadow
	shadow.base = s.Base
	l.store.objects[shadow.ref] = shadow
	return nil
}

// storeReplicaSets makes the ReplicaSets of a Deployment out of its revisions: a
// snapshot shows nothing else of them, and its pods belong to them.
func (l *loader) storeReplicaSets(s plan.Snapshot, ref cluster.Ref) error {
	parent := l.store.objects[ref]
	d, ok := parent.workload.Object.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	for _, r := range s.Revisions {
		var own []*cluster.Pod
		for _, p := range s.Pods {
			if p.Owner.Kind == kruise.KindReplicaSet && p.Owner.Name == r.Name && rules.Active(p) {
				own = append(own, p)
			}
		}
		if err := l.loadObject(childOf(parent.workload, d, r, own, l.clock.now()), nil); err != nil {
			return err
		}
	}
	l.linkReplicaSets()
	return nil
}

// childOf is one ReplicaSet, as large as it has pods.
func childOf(parent *cluster.Workload, d *appsv1.Deployment, r cluster.Revision, pods []*cluster.Pod, now time.Time) *tree.Node {
	limits := rules.LimitsOfDeployment(&d.Spec)
	meta, _ := r.Template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	labels = cluster.WithKey(labels, appsv1.DefaultDeploymentUniqueLabelKey, cluster.Hash(r.Name))
	return tree.FromValue(map[string]any{
		"apiVersion": "apps/v1", "kind": kruise.KindReplicaSet,
		"metadata": map[string]any{
			"name": r.Name, "namespace": parent.Namespace, "generation": 1, "labels": labels,
			"annotations": map[string]any{
				cluster.DeploymentRevisionAnnotation: strconv.FormatInt(r.Number, 10),
				cluster.DesiredReplicasAnnotation:    strconv.Itoa(limits.Replicas),
				cluster.MaxReplicasAnnotation:        strconv.Itoa(limits.Replicas + limits.MaxSurge),
			},
			"ownerReferences": []any{map[string]any{
				"apiVersion": "apps/v1", "kind": kruise.KindDeployment, "name": parent.Name, "uid": parent.UID, "controller": true,
			}},
		},
		"spec": map[string]any{
			"replicas": len(pods), "minReadySeconds": d.Spec.MinReadySeconds,
			"selector": map[string]any{"matchLabels": labels},
			"template": cluster.WithKey(r.Template, "metadata", cluster.WithKey(meta, "labels", labels)),
		},
		"status": childStatus(pods, time.Duration(d.Spec.MinReadySeconds)*time.Second, now),
	})
}

// childStatus is the status of a ReplicaSet with these pods.
func childStatus(pods []*cluster.Pod, minReady time.Duration, now time.Time) map[string]any {
	ready, available := 0, 0
	for _, p := range pods {
		if rules.Ready(p) {
			ready++
		}
		if rules.Available(p, minReady, now) {
			available++
		}
	}
	return map[string]any{
		"replicas": len(pods), "fullyLabeledReplicas": len(pods), "readyReplicas": ready, "availableReplicas": available, "observedGeneration": 1,
	}
}

// loadBudgets is loadBudgets for several snapshots, which may have a budget in common:
// what it covers beyond the first of them is less what the others know of.
func (l *loader) loadBudgets(list []plan.Snapshot) {
	index := map[string]int{}
	at := func(kind, namespace, name string, n int) (int, bool) {
		key := kind + "/" + namespace + "/" + name
		i, ok := index[key]
		if !ok {
			index[key] = n
		}
		return i, ok
	}
	for _, s := range list {
		namespace := s.Workload.Namespace
		one := plan.Snapshot{Workload: s.Workload}
		for _, b := range s.Budgets {
			i, ok := at("pub", namespace, b.Name, len(l.budgets.unavailable.list)+len(one.Budgets))
			if !ok || i >= len(l.budgets.unavailable.list) { // of another namespace, where the pods of a SidecarSet are, too
				one.Budgets = append(one.Budgets, b)
				continue
			}
			have := &l.budgets.unavailable.list[i].beyond
			have.Expected, have.Available = max(0, have.Expected-b.Expected), max(0, have.Available-max(len(b.Pods), b.Expected))
		}
		for _, b := range s.Disruptions {
			i, ok := at("pdb", namespace, b.Name, len(l.budgets.disruptions.list)+len(one.Disruptions))
			if !ok || i >= len(l.budgets.disruptions.list) {
				one.Disruptions = append(one.Disruptions, b)
				continue
			}
			have := &l.budgets.disruptions.list[i].beyond
			have.Expected, have.Available = max(0, have.Expected-b.Expected), max(0, have.Available-max(len(b.Pods), b.Expected))
		}
		l.budgets.add(one)
	}
	l.budgets.tallyLater()
	for _, g := range l.budgets.unavailable.list {
		l.budgets.reconcileUnavailable(g)
	}
	for _, d := range l.budgets.disruptions.list {
		l.budgets.reconcileDisruption(d)
	}
}

// RecordedAt is the time of a state that was recorded: an hour after the last thing that
// happened to any pod, so that nothing waits for what was recorded.
func RecordedAt(pods []*cluster.Pod) time.Time {
	var at time.Time
	for _, p := range pods {
		for _, c := range p.Conditions {
			if c.Since.After(at) {
				at = c.Since
			}
		}
		if p.Created.After(at) {
			at = p.Created
		}
	}
	return at.Add(time.Hour)
}
