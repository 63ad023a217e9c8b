package simulate

import (
	"maps"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// World is the model cluster. It belongs to one goroutine: nothing in it happens
// but through its methods, and the clock moves only in [World.Run],
// [World.Settle] and [World.Await].
type World struct {
	clock
	opt    Options
	chance source
	ids    int

	objects   map[cluster.Ref]*object
	owners    map[string]*object
	pods      map[string]*pod
	names     map[podName]*pod
	all       podList
	nodes     map[string]*node
	nodeNames []string
	ranked    ranking
	pending   []*pod
	// seen are the nodes as others see them, and lent is whether others hold the map:
	// then it must not change.
	seen       map[string]*cluster.Node
	lent       bool
	namespaces map[string]map[string]string
	claims     map[podName]*cluster.Claim
	// sets are the SidecarSets, in the order of their names.
	sets        []*object
	guards      []*guard
	spreads     []*spreading
	disruptions []*disruption
	// admission is nil when it has to be worked out anew.
	admission *controller.Admission
	reports   reports

	// version counts changes of what all snapshots show.
	version uint64
	// pulls counts images that arrived on nodes, moves pods that came or went.
	pulls, moves uint64
	// active is when something last happened that a person would see.
	active time.Duration
	rec    recorder
	// onCreate is told of each new pod, which is how tests count them.
	onCreate func(*pod)
	// failing are the pods that [Options.Fail] has chosen, updated how many have
	// been updated.
	failing map[string]bool
	// hookAnswer is after how long lifecycle hooks are answered; 0 and less is never.
	hookAnswer time.Duration
	updated    int
	// errs are bugs of a controller's model, told by the next Run.
	errs []error
}

type podName struct{ namespace, name string }

// Admit decides about an object that is written: before is nil for a new one,
// and both are as stored, in the version that they were written in. It is how a
// caller adds the webhooks' checks, which live outside the core.
type Admit func(before, after *tree.Node) error

// New returns an empty cluster.
func New(o Options) *World {
	return &World{
		clock: clock{start: o.start()}, opt: o, chance: source{o.Seed},
		objects: map[cluster.Ref]*object{}, owners: map[string]*object{},
		pods: map[string]*pod{}, names: map[podName]*pod{},
		nodes: map[string]*node{}, seen: map[string]*cluster.Node{},
		namespaces: map[string]map[string]string{}, claims: map[podName]*cluster.Claim{},
		reports: reports{}, failing: map[string]bool{},
	}
}

// Now is the time in the cluster.
func (w *World) Now() time.Time { return w.now() }

// id returns a uid that nothing else has, what was loaded from another world
// included.
func (w *World) id() string {
	for {
		w.ids++
		id := "uid-" + strconv.Itoa(w.ids)
		if w.pods[id] == nil && w.owners[id] == nil {
			return id
		}
	}
}

// Namespace sets the labels of a namespace. Those that nobody has set have their
// name as a label, as all namespaces do.
func (w *World) Namespace(name string, labels map[string]string) {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[kruise.NamespaceNameLabel] = name
	w.namespaces = maps.Clone(w.namespaces)
	w.namespaces[name] = labels
	w.version++
	w.admission = nil
}

func (w *World) knowNamespace(name string) {
	if _, ok := w.namespaces[name]; !ok {
		w.Namespace(name, nil)
	}
}
