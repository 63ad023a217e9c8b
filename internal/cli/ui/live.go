package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// liveSource is a cluster as the screens see it. It is a [world.Source], [world.Mover] and
// [world.Actions].
type liveSource struct {
	// factory's streams go nowhere: the terminal belongs to the screens.
	factory *factory.Factory
	config  *rest.Config
	core    kubernetes.Interface
	live    *live.Rollouts
	look    look
	// flags are those that reach the same cluster, for programs of their own.
	flags []string
	// ctx ends all watches.
	ctx context.Context //nolint:containedctx // watches live as long as the screens
	*changeSignal

	mu     sync.Mutex
	where  world.Where
	reader *namespaceReader
	// close is the workload that is shown in detail, nil for none.
	close *closeUp
}

// look selects which workloads are looked at, besides where.
type look struct {
	selector, stateNamespace string
}

var (
	_ world.Source  = (*liveSource)(nil)
	_ world.Mover   = (*liveSource)(nil)
	_ world.Actions = (*liveSource)(nil)
)

// connect begins to look at a cluster; live carries out what is done. Both end
// with the context.
func connect(ctx context.Context, f *factory.Factory, where world.Where, o look, live *live.Rollouts) (*liveSource, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	l := &liveSource{
		factory: withoutMessages(f), config: rest.CopyConfig(cfg), look: o, where: where, ctx: ctx, flags: connection(f.Flags), changeSignal: &changeSignal{version: 1, wake: make(chan struct{})}, live: live,
	}
	l.config.WarningHandler = rest.NoWarnings{}
	if l.core, err = kubernetes.NewForConfig(l.config); err != nil {
		return nil, err
	}
	live.Tell(l.ring)
	l.reader, err = l.open(where.Namespace)
	return l, err
}

// Await is [world.Source].
func (l *liveSource) Await(ctx context.Context, since int64, want world.Want) (*world.World, error) {
	l.wants(want.Workload)
	if err := l.wait(ctx, since, time.Second); err != nil {
		return nil, err
	}
	return l.present(want)
}

// present is the current world.
func (l *liveSource) present(want world.Want) (*world.World, error) {
	version := l.now() // first: what changes meanwhile is newer
	l.mu.Lock()
	reader, seen, where := l.reader, l.close, l.where
	l.mu.Unlock()
	if err := reader.Fault(); err != nil {
		return nil, unreadable(err)
	}
	link := reader.Link()
	w := &world.World{
		Version: version, Now: time.Now(), At: time.Now(), Where: where, Link: world.Link{Lost: link.Lost},
		Running: l.live.Driving(),
	}
	if link.Lost != "" {
		w.At = link.Since
	}
	w.Workloads, w.Namespaces, w.Loaded = reader.rows()
	if !w.Loaded {
		w.Loading = reader.Loading()
	}
	if want.Sidecars {
		w.Sidecars = reader.sidecars(w.Now)
	}
	if want.Distributions {
		w.Distributions = reader.distributions(w.Now)
	}
	if seen != nil && seen.ref == want.Workload {
		w.Detail, w.Unseen = seen.seen(w.Now)
	}
	return w, nil
}

var errRefused = errors.New("the server refuses the credentials: Unauthorized")

// unreadable is why there is nothing to show, with what to do about it; credentials that are refused are told once.
func unreadable(err error) error {
	if apierrors.IsUnauthorized(err) {
		return &resource.Error{Err: errRefused, Hint: "log in again, or check the user in the kubeconfig: 'kubectl auth whoami'"}
	}
	return &resource.Error{Err: err, Hint: "-n names a namespace that you may read; 'kubectl kruise rbac' prints roles"}
}

// Move is [world.Mover]: the old place is shown until the new one is there, or for good
// where the new one may not be read.
func (l *liveSource) Move(ctx context.Context, namespace string) error {
	next, err := l.open(namespace)
	if err != nil {
		return err
	}
	if err := next.ready(ctx); err != nil {
		next.stop()
		return fmt.Errorf("namespace %s: %w", namespace, err)
	}
	l.mu.Lock()
	old, err := l.reader, ctx.Err()
	if err != nil { // the user has moved on meanwhile
		old = next
	} else {
		l.reader, l.where.Namespace = next, namespace
	}
	l.mu.Unlock()
	old.stop()
	l.ring()
	return err
}

// Close ends what is carried out here, and waits until others can go on with it.
func (l *liveSource) Close() []string {
	l.live.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reader.stop()
	return l.reader.Skipped()
}

// workload is the state of a workload; nil for one that does not exist.
func (l *liveSource) workload(ref cluster.Ref) *kube.WorkloadView {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reader.workload(ref)
}

// served is the object in the cluster that a reference means: the native one where
// there is no Kruise.
func (l *liveSource) served(ref cluster.Ref) cluster.Ref {
	if s := l.workload(ref); s != nil && s.Carrier != nil {
		return s.Carrier.Ref
	}
	return ref
}

// changeSignal counts changes and wakes what waits for one.
type changeSignal struct {
	mu      sync.Mutex
	version int64
	wake    chan struct{}
}

func (b *changeSignal) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.version++
	close(b.wake)
	b.wake = make(chan struct{})
}

func (b *changeSignal) now() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// wait returns when the version is newer, or after a time, which counts as a change:
// the clock has gone on.
func (b *changeSignal) wait(ctx context.Context, since int64, most time.Duration) error {
	b.mu.Lock()
	version, wake := b.version, b.wake
	b.mu.Unlock()
	if version > since {
		return ctx.Err()
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-timer.C:
		b.ring()
	}
	return nil
}

// findWorkload is the workload that a command line names, by the kind that it has there.
func findWorkload(ctx context.Context, f *factory.Factory, arg string) (cluster.Ref, error) {
	name, err := resourcearg.Parse(arg)
	if err != nil {
		return cluster.Ref{}, err
	}
	client, namespace, err := f.InNamespace()
	if err != nil {
		return cluster.Ref{}, err
	}
	r, err := clusterread.FindWorkload(ctx, client, name, namespace)
	if err != nil {
		return cluster.Ref{}, err
	}
	ref := cluster.Ref{Group: r.Group(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()}
	if !name.Means(ref.Group, ref.Kind, ref.Name) {
		ref.Group, ref.Kind, ref.Name = name.Kinds[0].Group, name.Kinds[0].Kind, name.Name
	}
	return ref, nil
}

// Over shows the screens over a rollout that `rollout run --ui` carries out.
func Over(ctx context.Context, f *factory.Factory, d *live.Rollouts, ref cluster.Ref) error {
	where, err := whereFrom(f, f.Streams.Getenv(productionVariable), false)
	if err != nil {
		return err
	}
	where.Namespace = ref.Namespace
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l, err := connect(ctx, f, where, look{stateNamespace: d.StateNamespace()}, d)
	if err != nil {
		return err
	}
	_, err = l.show(ctx, f, tui.Options{First: screen.Open{Screen: screen.Rollout, Ref: ref}, Notify: tui.Bell})
	return err
}
