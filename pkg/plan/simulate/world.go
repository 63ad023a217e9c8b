package simulate

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// World is the model cluster. It belongs to one goroutine: nothing happens in it
// but through its methods, and the clock moves only in [World.Run],
// [World.Settle] and [World.Await].
type World struct {
	*parts
	*rolloutService
}

// parts are those of a cluster: each may call every other one.
type parts struct {
	opt         *Options
	chance      *source
	clock       *clock
	store       *store
	api         *apiServer
	pods        *podRegistry
	creator     *podCreator
	claims      *claimStore
	scheduler   *scheduler
	kubelet     *kubelet
	controllers *controllerManager
	budgets     *budgets
	spreads     *spreadController
	recorder    *recorder
}

// Admit decides about an object that is written: before is nil for a new one,
// and both are as stored, in the version that they were written in. It is how a
// caller adds the webhooks' checks, which live outside the core.
type Admit func(before, after *tree.Node) error

// New returns an empty cluster.
func New(o Options) *World {
	p := &parts{opt: &o, chance: &source{o.Seed}, clock: &clock{start: o.start()}, store: &store{
		objects: map[cluster.Ref]*object{}, owners: map[string]*object{},
		podsByUID: map[string]*pod{}, podsByName: map[podName]*pod{}, namespaces: map[string]map[string]string{},
	}}
	p.api, p.pods, p.creator = &apiServer{p}, &podRegistry{parts: p}, &podCreator{parts: p}
	p.claims = &claimStore{parts: p, byName: map[podName]*cluster.Claim{}}
	p.scheduler = &scheduler{parts: p, nodes: map[string]*node{}, published: map[string]*cluster.Node{}}
	p.kubelet = &kubelet{parts: p, reports: reports{}, failing: map[string]bool{}}
	p.controllers, p.budgets, p.spreads = &controllerManager{p}, &budgets{parts: p}, &spreadController{parts: p}
	p.recorder = &recorder{parts: p}
	return &World{p, &rolloutService{p}}
}

// Now is the time in the cluster.
func (w *World) Now() time.Time { return w.clock.now() }

// Run lets everything happen that is due until a time.
func (w *World) Run(until time.Time) error { return w.clock.runUntil(until) }

// quiet is for how long nothing may happen until the cluster counts as settled,
// unless something is planned for later.
const quiet = 5 * time.Second

// Settle lets things happen until nothing has happened for a while, or until the
// limit has passed. It reports whether the cluster settled, which is also the
// case when nothing is planned any more.
func (w *World) Settle(limit time.Duration) (bool, error) { return w.clock.settle(quiet, limit) }

// Load puts a state into an empty world. Nothing is refused or filled in. The
// controllers look once, as they do when they start: in a state that they have
// settled they do nothing.
func (w *World) Load(s State) error { return (&loader{w}).load(s) }

// Apply creates objects, or replaces those of the same name, with the defaults
// that a cluster would fill in. Workloads, budgets, nodes and namespaces are
// acted on; other objects are only stored. The first that is refused ends it;
// the error wraps [plan.ErrRefused].
func (w *World) Apply(list ...*tree.Node) error { return w.api.apply(list...) }

// Patch sends one patch; its own target, if it has one, is not looked at. A
// patch of the subresource scale changes spec.replicas. The error wraps
// [plan.ErrNotFound] or [plan.ErrRefused].
func (w *World) Patch(ref cluster.Ref, p plan.Patch) error { return w.api.patch(ref, p) }

// MergePatch patches an object in the version in which it was written.
func (w *World) MergePatch(ref cluster.Ref, patch map[string]any) error {
	return w.api.patch(ref, plan.Patch{Type: patchMerge, Body: patch})
}

// Namespace sets the labels of a namespace. A namespace that was never set has
// its name as a label, as all namespaces do.
func (w *World) Namespace(name string, labels map[string]string) { w.api.setNamespace(name, labels) }

// AddNode adds a node, or replaces its labels; images are on it from the start.
func (w *World) AddNode(name string, labels map[string]string, images ...string) {
	w.scheduler.addNode(name, labels, images...)
}

// PatchPod changes labels, annotations, finalizers, images or conditions of a
// pod. A budget may refuse it.
func (w *World) PatchPod(ref plan.PodRef, c cluster.PodChange) error { return w.pods.patchPod(ref, c) }

// EvictPod evicts a pod: the budgets of both kinds are asked.
func (w *World) EvictPod(ref plan.PodRef) error { return w.pods.evict(ref) }

// Watch begins a new timeline, of one workload and its pods.
func (w *World) Watch(ref cluster.Ref) error { return w.recorder.watch(ref) }

// Timeline returns what has happened since [World.Watch].
func (w *World) Timeline() Timeline { return w.recorder.timeline() }
