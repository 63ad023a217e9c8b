package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var _ world.Source = (*Cluster)(nil)

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
		Where: world.Where{Context: "demo", Simulated: true}, Detail: c.details[want.Workload],
	}
	for i, ref := range c.refs {
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
