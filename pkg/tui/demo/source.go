package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var (
	_ world.Source = (*Cluster)(nil)
	_ world.Mover  = (*Cluster)(nil)
)

// Await is [world.Source]; time goes by only in [Cluster.Advance].
func (c *Cluster) Await(ctx context.Context, since int64, want world.Want) (*world.World, error) {
	defer context.AfterFunc(ctx, c.moved.Broadcast)()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.version <= since {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.moved.Wait()
	}
	return c.present(want), nil
}

func (c *Cluster) present(want world.Want) *world.World {
	w := &world.World{
		Version: c.version, Now: c.world.Now(), At: c.world.Now(), Loaded: true,
		Where: world.Where{Context: "demo", Namespace: c.space, Simulated: true}, Namespaces: c.spaces(),
	}
	if c.seen(want.Workload) {
		w.Detail = c.details[want.Workload]
	}
	for i, ref := range c.refs {
		if !c.seen(ref) {
			continue
		}
		row := c.details[ref].Row()
		row.Created = c.start.Add(-time.Duration(i+1) * 31 * time.Hour)
		w.Workloads = append(w.Workloads, row)
	}
	if want.Sidecars {
		w.Sidecars = c.sidecars()
	}
	if want.FanOuts {
		w.FanOuts = c.fanOuts()
	}
	return w
}

// Move is [world.Mover].
func (c *Cluster) Move(_ context.Context, namespace string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if list := c.spaces(); namespace != "" && !slices.Contains(list, namespace) {
		return fmt.Errorf("namespace %s is not in the demo, which has %s", namespace, strings.Join(list, ", "))
	}
	c.space = namespace
	c.version++
	c.moved.Broadcast()
	return nil
}

// spaces are the namespaces of the shop.
func (c *Cluster) spaces() []string {
	var list []string
	for _, ref := range c.refs {
		if ref.Namespace != "" {
			list = append(list, ref.Namespace)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// seen reports whether an object is in the namespace that is looked at; what belongs to none
// is seen where all are.
func (c *Cluster) seen(ref cluster.Ref) bool { return c.space == "" || ref.Namespace == c.space }

func (c *Cluster) find(ref cluster.Ref) *cluster.Pod {
	for _, d := range c.details {
		for _, p := range d.Snapshot.Pods {
			if ref.Kind == "Pod" && p.Name == ref.Name && p.Namespace == ref.Namespace {
				return p
			}
		}
	}
	return nil
}

func missing(ref cluster.Ref) error { return fmt.Errorf("%s: there is no such object", nameOf(ref)) }
