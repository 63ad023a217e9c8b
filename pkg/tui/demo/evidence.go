package demo

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/evidence"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

var _ world.Witness = (*Cluster)(nil)

// sampled is how many pods of each revision have their logs read, and covered for how long.
const (
	sampled = 3
	covered = 2 * time.Minute
)

// Evidence is [world.Witness]: the logs are those that are made up.
func (c *Cluster) Evidence(_ context.Context, ref cluster.Ref) (evidence.Comparison, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.details[ref]
	if d == nil {
		return evidence.Comparison{}, missing(ref)
	}
	out, updated, old := evidence.Of(d.Question)
	out.New.Logs, out.Old.Logs = c.sample(updated), c.sample(old)
	return out, nil
}

func (c *Cluster) sample(pods []*cluster.Pod) *evidence.Logs {
	var logs evidence.Logs
	for _, p := range pods[:min(len(pods), sampled)] {
		for i, container := range p.Containers {
			l := log{c: c, container: container}
			var text strings.Builder
			for at := c.world.Now().Add(-covered); at.Before(c.world.Now()); at = at.Add(time.Second) {
				text.WriteString(l.line(at) + "\n")
			}
			logs.Add(text.String(), covered, i == 0)
		}
	}
	return &logs
}
