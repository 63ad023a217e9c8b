package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Logs are a few lines that are made up, one more for each second.
func (c *Cluster) Logs(ctx context.Context, q world.LogQuery) (world.Log, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.find(cluster.Ref{Kind: "Pod", Namespace: q.Namespace, Name: q.Pod})
	if p == nil {
		return nil, missing(cluster.Ref{Kind: "Pod", Name: q.Pod})
	}
	container, ok := p.Container(q.Container)
	switch {
	case !ok:
		return nil, fmt.Errorf("pod/%s has no container %s", q.Pod, q.Container)
	case q.Previous && container.Restarts == 0:
		return nil, fmt.Errorf("container %s of pod/%s has not been restarted: there is no log from before", q.Container, q.Pod)
	}
	return &log{c: c, ctx: ctx, query: q, container: container, from: c.world.Now().Add(-20 * time.Second)}, nil
}

// log is made up from the time.
type log struct {
	c         *Cluster
	ctx       context.Context
	query     world.LogQuery
	container cluster.Container
	from      time.Time
}

// Next is [world.Log].
func (l *log) Next() ([]string, error) {
	defer context.AfterFunc(l.ctx, l.c.moved.Broadcast)()
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	for !l.c.world.Now().After(l.from.Add(time.Second)) {
		if l.ctx.Err() != nil || !l.query.Follow {
			return nil, io.EOF
		}
		l.c.moved.Wait()
	}
	var lines []string
	for ; l.c.world.Now().After(l.from.Add(time.Second)); l.from = l.from.Add(time.Second) {
		lines = append(lines, l.line(l.from))
	}
	return lines, nil
}

func (l *log) line(at time.Time) string {
	stamp := at.Format(time.RFC3339)
	if l.query.Previous || strings.HasSuffix(l.container.Image, broken) {
		return stamp + ` ERROR cannot read the key "payments.currency" of the configuration`
	}
	return fmt.Sprintf("%s INFO  GET /items/%d 200", stamp, at.Unix()%97)
}
