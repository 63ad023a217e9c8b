package demo

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

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

// Manifest is the object, or the pod, as the model has it.
func (c *Cluster) Manifest(_ context.Context, ref cluster.Ref) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.details[ref]; d != nil {
		text, err := yaml.Marshal(d.Snapshot.Workload.Object)
		return string(text), err
	}
	if p := c.find(ref); p != nil {
		text, err := yaml.Marshal(p)
		return string(text), err
	}
	return "", missing(ref)
}

// Describe is how a workload stands, in words.
func (c *Cluster) Describe(_ context.Context, ref cluster.Ref) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.details[ref]
	if d == nil {
		return "", missing(ref)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Name:    %s\nDriver:  %s\nHealth:  %s\nAnswer:  %s\n", nameOf(ref), d.Driver, d.Health, d.Diagnosis.Answer)
	for _, cause := range d.Diagnosis.Causes {
		fmt.Fprintf(&b, "  %s: %s\n", cause.Gate, cause)
	}
	fmt.Fprintln(&b, "Events:")
	for _, e := range d.Events {
		fmt.Fprintf(&b, "  %s  %s  %s  %s\n", e.At.Format(time.TimeOnly), e.Reason, e.About, e.Text)
	}
	return b.String(), nil
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

// Logs are a few lines that are made up, one more for each second.
func (c *Cluster) Logs(ctx context.Context, q world.LogQuery) (world.Log, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.find(cluster.Ref{Kind: "Pod", Namespace: q.Namespace, Name: q.Pod})
	if p == nil {
		return nil, missing(cluster.Ref{Kind: "Pod", Name: q.Pod})
	}
	container, _ := p.Container(q.Container)
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
