// Package demo is a cluster in memory for the terminal interface: a small shop with
// rollouts in flight: one is blocked, one waits for approval, one is a hot upgrade.
// The controllers are those of the simulator, and the rollouts are carried out by
// package apply, as on a real cluster. It has no clock: its owner decides how much
// time passes.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Cluster is the shop. It is a [world.Source], [world.Mover] and [world.Actions].
type Cluster struct {
	mu    sync.Mutex
	moved *sync.Cond

	ctx     context.Context
	world   *simulate.World
	start   time.Time
	refs    []cluster.Ref
	store   store
	journal journal
	details map[cluster.Ref]*world.Detail
	// sets are SidecarSets with all pods that they may match.
	sets          map[cluster.Ref]diagnose.Question
	distributions distributions
	// space is the namespace that is shown, empty for all of them.
	space string
	// docs are the manifests that the shop is made from.
	docs    []string
	version int64
	// due is the time that has passed since the last beat.
	due time.Duration
}

//go:embed shop.yaml
var shop string

// Options are the properties of a shop.
type Options struct {
	// Seed decides what happens: the same seed gives the same shop.
	Seed uint64
	// Now is the time at which the interface opens.
	Now time.Time
	// Pods is the number of pods of one more workload, the catalog; 0 leaves it out.
	Pods int
}

// Start makes the shop and starts its rollouts; they end with the context.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	model := simulate.New(options(o.Seed, o.Now))
	c := &Cluster{
		ctx: ctx, world: model, docs: strings.Split(shop, "\n---\n"),
		store:   store{world: model, runs: map[cluster.Ref]*run{}, records: map[cluster.Ref]plan.Record{}},
		journal: journal{world: model, events: map[cluster.Ref][]world.Event{}},
		details: map[cluster.Ref]*world.Detail{}, sets: map[cluster.Ref]diagnose.Question{},
	}
	c.moved = sync.NewCond(&c.mu)
	context.AfterFunc(ctx, c.moved.Broadcast)
	count := nodes
	if o.Pods > 0 {
		c.docs = append(c.docs, fmt.Sprintf(large, o.Pods))
		count += (o.Pods + perNode - 1) / perNode
	}
	for i := range count {
		c.world.AddNode(fmt.Sprintf("node-%d", i+1), map[string]string{corev1.LabelTopologyZone: "zone-" + string(rune('a'+i%zones))})
	}
	if err := c.fill(); err != nil {
		return nil, err
	}
	if err := c.distributions.start(c.world); err != nil {
		return nil, err
	}
	c.start = c.world.Now()
	if err := c.observe(); err != nil {
		return nil, err
	}
	inFlight := rollouts
	if o.Pods > 0 {
		inFlight = append(slices.Clone(rollouts), largeRollout)
	}
	for _, r := range inFlight {
		if err := c.release(r); err != nil {
			return nil, err
		}
	}
	return c, c.Advance(head)
}

// fill applies the shop's manifests and waits until nothing changes any more.
func (c *Cluster) fill() error {
	for _, doc := range c.docs {
		n, err := yaml.Parse(doc)
		if err != nil {
			return err
		}
		if err := c.world.Apply(n.YNode()); err != nil {
			return err
		}
		w, err := cluster.ReadWorkload(n.YNode())
		if err != nil {
			return err
		}
		c.refs = append(c.refs, w.Ref)
	}
	ok, err := c.world.Settle(time.Hour)
	if err == nil && !ok {
		err = errors.New("the shop does not come to rest")
	}
	return err
}

// release starts the rollout of a new version.
func (c *Cluster) release(r rollout) error {
	s, err := c.world.Snapshot(r.ref)
	if err != nil {
		return err
	}
	n, err := yaml.Parse(strings.ReplaceAll(c.manifest(r.ref), r.from, r.to))
	if err != nil {
		return err
	}
	desired, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		return err
	}
	var policy plan.Policy
	if policy.Steps, err = plan.ParseSteps(r.steps); err != nil {
		return err
	}
	if r.pause != "" {
		if err := policy.PauseAfter(r.pause); err != nil {
			return err
		}
	}
	p, _, err := simulate.Build(desired, s, policy, simulate.DefaultOptions())
	if _, unfinished := errors.AsType[*simulate.UnfinishedError](err); err != nil && !unfinished { // some of them are to fail
		return err
	}
	return c.begin(r.ref, p)
}

// manifest is the document that an object was made from.
func (c *Cluster) manifest(ref cluster.Ref) string {
	for _, doc := range c.docs {
		n, err := yaml.Parse(doc)
		if err == nil && tree.StrAt(n.YNode(), "metadata", "name") == ref.Name && tree.StrAt(n.YNode(), "kind") == ref.Kind {
			return doc
		}
	}
	return ""
}

// beat is how finely rollouts follow what happens.
const beat = 250 * time.Millisecond

// Advance moves the clock in whole beats; the rest is kept for the next call, so that the
// story does not depend on the size of the portions.
func (c *Cluster) Advance(by time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.due += by; c.due < beat {
		return c.ctx.Err()
	}
	for ; c.due >= beat; c.due -= beat {
		if err := c.world.Run(c.world.Now().Add(beat)); err != nil {
			return err
		}
		for _, ref := range c.refs {
			if r := c.store.runs[ref]; r != nil && !r.over {
				r.turn = true
				c.moved.Broadcast()
				c.await(r)
			}
		}
		if err := c.observe(); err != nil {
			return err
		}
	}
	c.version++
	c.moved.Broadcast()
	return c.ctx.Err()
}

// observe diagnoses the workloads that have changed, and notes what happened to their pods.
func (c *Cluster) observe() error {
	for _, ref := range c.refs {
		s, err := c.world.Snapshot(ref)
		if err != nil {
			return err
		}
		before := c.details[ref]
		if before != nil && before.Snapshot.Version == s.Version && before.Holder == c.store.holder(ref) {
			continue
		}
		if before != nil && ref.Kind != kruise.KindSidecarSet {
			c.journal.compare(ref, before.Snapshot.Pods, s.Pods)
		}
		q := c.question(ref, s)
		if ref.Kind == kruise.KindSidecarSet {
			c.sets[ref] = q
		}
		d := world.Describe(q, c.journal.events[ref])
		if rec, ok := c.store.records[ref]; ok {
			rec.Progress = s.Progress
			d.Rollouts = rec.Rollouts()
		}
		c.details[ref] = d
	}
	return nil
}

func (c *Cluster) question(ref cluster.Ref, s plan.Snapshot) diagnose.Question {
	q := diagnose.Question{Name: ref.String(), Plan: plan.CurrentSpecPlan(s), Snapshot: s, Now: c.world.Now(), Holder: c.store.holder(ref)}
	if r := c.store.runs[ref]; r != nil {
		q.Plan, q.Begun = r.plan, true
	}
	return q
}

// executor is the holder of the Leases of the shop's rollouts.
const executor = "ci@demo"
