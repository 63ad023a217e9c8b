package ui

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// readDelay is when a workload that is looked at closely is worked out again in any case:
// its budgets, its times and who drives it change by themselves.
const readDelay = time.Second

// closeUp is one workload that a screen shows: all that a driver of its rollout sees,
// and what the cluster reports about it.
type closeUp struct {
	live *liveSource
	ref  cluster.Ref
	stop context.CancelFunc

	mu   sync.Mutex
	last *world.Detail
	// err is why nothing is seen, since when.
	err   error
	since time.Time
}

// missedLimit is for how long nothing may be seen before that is shown: watches end and begin
// again.
const missedLimit = 3 * time.Second

// wants begins to look closely at a workload, and ends to look at another; the zero
// value is none.
func (l *liveSource) wants(ref cluster.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref == (cluster.Ref{}) || l.close != nil && l.close.ref == ref {
		return // a screen that shows none is often left for the one before
	}
	if l.close != nil {
		l.close.stop()
	}
	ctx, stop := context.WithCancel(l.ctx)
	l.close = &closeUp{live: l, ref: ref, stop: stop}
	go l.close.follow(ctx)
}

// seen is the workload as it was seen last, and why that was not now.
func (c *closeUp) seen(now time.Time) (d *world.Detail, unseen string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil && now.Sub(c.since) >= missedLimit {
		unseen = c.err.Error()
	}
	return c.last, unseen
}

// fail notes that nothing is seen.
func (c *closeUp) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.since = time.Now()
	}
	c.err = err
}

// follow looks until it is stopped; what fails is tried again, and one that is not
// there any more is looked for.
func (c *closeUp) follow(ctx context.Context) {
	for ctx.Err() == nil {
		watched, err := c.live.live.WatchWorkload(ctx, c.ref)
		if err == nil {
			err = c.watch(ctx, watched)
			watched.Close()
		}
		if errors.Is(err, plan.ErrNotFound) {
			c.show(nil)
		} else {
			c.fail(err)
		}
		if !waitFor(ctx, time.Second) {
			return
		}
	}
}

// watch shows what is seen, round by round.
func (c *closeUp) watch(ctx context.Context, watched *live.WatchedWorkload) error {
	for {
		began := time.Now()
		d, err := c.work(ctx, watched)
		if err != nil {
			return err
		}
		c.show(d)
		if !waitFor(ctx, world.Rest(time.Since(began))) {
			return ctx.Err()
		}
		if err := watched.Await(ctx, d.Snapshot.Version, began.Add(readDelay)); err != nil {
			return err
		}
	}
}

func (c *closeUp) work(ctx context.Context, watched *live.WatchedWorkload) (*world.Detail, error) {
	holder := watched.Holder
	if s := c.live.workload(c.ref); s != nil {
		holder = func(context.Context) string { return s.Executor }
	}
	q, err := watched.Question(ctx, holder)
	if err != nil {
		return nil, err
	}
	d := world.Describe(q, events(watched.Events(objectsOf(q.Snapshot))))
	d.Subsets = subsets(d.Snapshot.Pods)
	d.Rollouts = watched.Rollouts()
	if d.Snapshot.Nodes == nil {
		d.Snapshot.Nodes = c.live.nodes()
	}
	return d, nil
}

func (c *closeUp) show(d *world.Detail) {
	c.mu.Lock()
	c.last, c.err = d, nil
	c.mu.Unlock()
	c.live.ring()
}

// nodes say in which zone pods are.
func (l *liveSource) nodes() map[string]*cluster.Node {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reader.Nodes()
}

// objectsOf are the names of a workload and of all that belongs to it.
func objectsOf(s plan.Snapshot) map[string]bool {
	names := map[string]bool{s.Workload.Name: true, s.Object().Name: true}
	for _, p := range s.Pods {
		names[p.Name] = true
	}
	for _, r := range s.Revisions {
		names[r.Name] = true
	}
	return names
}

// subsets are those that pods say they are in, by the pods' UIDs.
func subsets(pods []*cluster.Pod) map[string]string {
	out := map[string]string{}
	for _, p := range pods {
		if name := spread.SubsetOf(p.Labels, p.Annotations); name != "" {
			out[p.UID] = name
		}
	}
	return out
}

// mostEvents is how many events of a workload are kept, the newest.
const mostEvents = 200

// events are the cluster's as the screens show them, the newest first.
func events(list []*corev1.Event) []world.Event {
	out := make([]world.Event, len(list))
	for i, e := range list {
		out[i] = eventOf(e)
	}
	slices.SortStableFunc(out, func(a, b world.Event) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.About, b.About), strings.Compare(a.Text, b.Text))
	})
	return out[:min(len(out), mostEvents)]
}

// eventOf reads an event of either of the APIs that write them.
func eventOf(e *corev1.Event) world.Event {
	out := world.Event{
		At: e.LastTimestamp.Time, First: e.FirstTimestamp.Time, Count: int(e.Count),
		About:   strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name,
		Warning: e.Type == corev1.EventTypeWarning, Reason: e.Reason, Text: strings.TrimSpace(e.Message),
	}
	if e.InvolvedObject.Kind == "Pod" {
		out.Pod = e.InvolvedObject.Name
	}
	if e.Series != nil {
		out.Count, out.At = int(e.Series.Count), e.Series.LastObservedTime.Time
	}
	if out.At.IsZero() {
		out.At = e.EventTime.Time
	}
	if out.At.IsZero() {
		out.At = e.CreationTimestamp.Time
	}
	if out.First.IsZero() {
		out.First = out.At
	}
	out.Count = max(out.Count, 1)
	return out
}

var _ world.EvidenceSource = (*liveSource)(nil)

// Evidence is [world.EvidenceSource]: it asks about the workload as a screen shows it, or looks
// first at one that none shows.
func (l *liveSource) Evidence(ctx context.Context, ref cluster.Ref) (diagnose.Comparison, error) {
	q, err := l.question(ctx, ref)
	if err != nil {
		return diagnose.Comparison{}, err
	}
	approved := planning.ApprovedHere(l.factory.Streams.Getenv, l.core, l.config)
	return clusterread.EvidenceReader{Core: l.core, Approved: approved}.Read(ctx, q), nil
}

func (l *liveSource) question(ctx context.Context, ref cluster.Ref) (diagnose.Question, error) {
	l.mu.Lock()
	seen := l.close
	l.mu.Unlock()
	if seen != nil && seen.ref == ref {
		seen.mu.Lock()
		d := seen.last
		seen.mu.Unlock()
		if d != nil {
			return d.Question, nil
		}
	}
	ctx, stop := context.WithTimeout(ctx, clusterread.EvidenceDeadline)
	defer stop()
	watched, err := l.live.WatchWorkload(ctx, ref)
	if err != nil {
		return diagnose.Question{}, err
	}
	defer watched.Close()
	return watched.Question(ctx, watched.Holder)
}
