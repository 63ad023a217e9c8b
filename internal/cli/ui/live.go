package ui

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Live is a cluster as the screens see it. It is a [world.Source], [world.Mover] and
// [world.Actions].
type Live struct {
	// factory's streams are those of nobody: the terminal is the screens'.
	factory *factory.Factory
	config  *rest.Config
	core    kubernetes.Interface
	desk    *rollout.Desk
	look    look
	// flags are those that reach the same cluster, for programs of their own.
	flags []string
	// ctx ends all watches.
	ctx context.Context //nolint:containedctx // watches live as long as the screens
	*bell

	mu    sync.Mutex
	where world.Where
	fleet *fleet
	// close is what somebody looks at closely, nil for nothing.
	close *closeUp
}

// look says which workloads are looked at, besides where.
type look struct {
	selector, stateNamespace string
}

var (
	_ world.Source  = (*Live)(nil)
	_ world.Mover   = (*Live)(nil)
	_ world.Actions = (*Live)(nil)
)

// connect begins to look at a cluster, and carries out at a desk what is done; both end
// with the context.
func connect(ctx context.Context, f *factory.Factory, where world.Where, o look, desk *rollout.Desk) (*Live, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	l := &Live{
		factory: silent(f), config: rest.CopyConfig(cfg), look: o, where: where, ctx: ctx, flags: connection(f.Flags), bell: newBell(), desk: desk,
	}
	l.config.WarningHandler = rest.NoWarnings{}
	if l.core, err = kubernetes.NewForConfig(l.config); err != nil {
		return nil, err
	}
	desk.Tell(l.ring)
	l.fleet, err = l.open(where.Namespace)
	return l, err
}

// Await is [world.Source].
func (l *Live) Await(ctx context.Context, since int64, want world.Want) (*world.World, error) {
	l.wants(want.Workload)
	if err := l.wait(ctx, since, time.Second); err != nil {
		return nil, err
	}
	return l.present(want)
}

// present is the world as it stands.
func (l *Live) present(want world.Want) (*world.World, error) {
	version := l.now() // first: what changes meanwhile is newer
	l.mu.Lock()
	fleet, seen, where := l.fleet, l.close, l.where
	l.mu.Unlock()
	if err := fleet.Fault(); err != nil {
		return nil, &resource.Error{Err: err, Hint: "-n names a namespace that you may read; 'kubectl kruise rbac' prints roles"}
	}
	link := fleet.Link()
	w := &world.World{
		Version: version, Now: time.Now(), At: time.Now(), Where: where, Link: world.Link{Lost: link.Lost},
		Driving: l.desk.Driving(),
	}
	if link.Lost != "" {
		w.At = link.Since
	}
	w.Workloads, w.Namespaces, w.Loaded = fleet.rows()
	if !w.Loaded {
		w.Loading = fleet.Loading()
	}
	if want.Sidecars {
		w.Sidecars = fleet.sidecars(w.Now)
	}
	if want.FanOuts {
		w.FanOuts = fleet.fanOuts(w.Now)
	}
	if seen != nil && seen.ref == want.Workload {
		w.Detail, w.Unseen = seen.seen(w.Now)
	}
	return w, nil
}

// Move is [world.Mover]: the old place is shown until the new one is there, or for good
// where the new one may not be read.
func (l *Live) Move(ctx context.Context, namespace string) error {
	next, err := l.open(namespace)
	if err != nil {
		return err
	}
	if err := next.ready(ctx); err != nil {
		next.stop()
		return fmt.Errorf("namespace %s: %w", namespace, err)
	}
	l.mu.Lock()
	old, err := l.fleet, ctx.Err()
	if err != nil { // somebody has gone elsewhere meanwhile
		old = next
	} else {
		l.fleet, l.where.Namespace = next, namespace
	}
	l.mu.Unlock()
	old.stop()
	l.ring()
	return err
}

// Close ends what is carried out here, and waits until others can go on with it.
func (l *Live) Close() []string {
	l.desk.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fleet.stop()
	return l.fleet.Skipped()
}

// sight is how a workload stands; nil for one that is not there.
func (l *Live) sight(ref cluster.Ref) *kube.Sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fleet.sight(ref)
}

// served is the object in the cluster that a reference means: the native one where
// there is no Kruise.
func (l *Live) served(ref cluster.Ref) cluster.Ref {
	if s := l.sight(ref); s != nil && s.Carrier != nil {
		return s.Carrier.Ref
	}
	return ref
}
