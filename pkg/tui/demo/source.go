package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
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
	if want.Distributions {
		w.Distributions = c.distributed()
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

func missing(ref cluster.Ref) error { return fmt.Errorf("%s: there is no such object", ref.String()) }

// Manifest is an object, or a pod, as a cluster would have it.
func (c *Cluster) Manifest(_ context.Context, ref cluster.Ref) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.details[ref]; d != nil {
		return written(d.Snapshot.Workload.Object, ref, d.Snapshot.Workload.Version)
	}
	if p := c.find(ref); p != nil {
		return written(object(p), ref, "v1")
	}
	return "", missing(ref)
}

// written is an object as YAML; values are masked as every source does it.
func written(object any, ref cluster.Ref, version string) (string, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		return "", err
	}
	out["kind"], out["apiVersion"] = ref.Kind, version
	if ref.Group != "" {
		out["apiVersion"] = ref.Group + "/" + version
	}
	text, err = yaml.Marshal(redact.Object(out))
	return string(text), err
}

// object is a pod of the model as one of a cluster; what the model does not have is
// not there.
func object(p *cluster.Pod) *corev1.Pod {
	out := &corev1.Pod{}
	out.Name, out.Namespace, out.UID, out.Labels, out.Annotations = p.Name, p.Namespace, types.UID(p.UID), p.Labels, p.Annotations
	out.CreationTimestamp, out.Finalizers = metav1.NewTime(p.Created), p.Finalizers
	if p.Owner.Name != "" {
		yes := true
		out.OwnerReferences = []metav1.OwnerReference{{Kind: p.Owner.Kind, Name: p.Owner.Name, UID: types.UID(p.Owner.UID), Controller: &yes}}
	}
	out.Spec.NodeName, out.Status.Phase = p.Node, p.Phase
	for _, g := range p.ReadinessGates {
		out.Spec.ReadinessGates = append(out.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(g)})
	}
	for _, c := range p.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(c.Type), Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: metav1.NewTime(c.Since),
		})
	}
	out.Spec.InitContainers, out.Status.InitContainerStatuses = containers(p.InitContainers)
	out.Spec.Containers, out.Status.ContainerStatuses = containers(p.Containers)
	return out
}

func containers(list []cluster.Container) (spec []corev1.Container, status []corev1.ContainerStatus) {
	for _, c := range list {
		spec = append(spec, corev1.Container{Name: c.Name, Image: c.Image})
		if !c.Reported {
			continue
		}
		s := corev1.ContainerStatus{Name: c.Name, Image: c.StatusImage, ImageID: c.ImageID, Ready: c.Ready, RestartCount: int32(c.Restarts)}
		if c.Waiting != "" {
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: c.Waiting, Message: c.Message}
		} else {
			s.State.Running = &corev1.ContainerStateRunning{}
		}
		status = append(status, s)
	}
	return spec, status
}

// Describe describes a workload or a pod as text.
func (c *Cluster) Describe(_ context.Context, ref cluster.Ref) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	if d := c.details[ref]; d != nil {
		describe(&b, d)
		return b.String(), nil
	}
	p := c.find(ref)
	if p == nil {
		return "", missing(ref)
	}
	describePod(&b, p)
	var events []world.Event
	for _, owner := range c.refs {
		for _, e := range c.journal.events[owner] {
			if e.Pod == p.Name && owner.Namespace == p.Namespace {
				events = append(events, e)
			}
		}
	}
	tellEvents(&b, events)
	return b.String(), nil
}

func describe(b *strings.Builder, d *world.Detail) {
	w := d.Snapshot.Workload
	fmt.Fprintf(b, "Name:       %s\nNamespace:  %s\nKind:       %s\nDriver:     %s\n", d.Ref.Name, cmp.Or(d.Ref.Namespace, "<none>"), d.Ref.Kind, d.Driver)
	fmt.Fprintf(b, "Replicas:   %d desired, %d updated, %d total, %d ready\n", d.Pods.Desired, d.Pods.Updated, d.Pods.Total, d.Pods.Ready)
	fmt.Fprintf(b, "Revisions:  %d\nGeneration: %d\nHealth:     %s\nStatus:     %s\n", len(d.Snapshot.Revisions), w.Generation, d.Health, d.Diagnosis.Answer)
	if len(d.Diagnosis.Causes) > 0 {
		fmt.Fprintln(b, "Blocked by:")
	}
	for _, cause := range d.Diagnosis.Causes {
		fmt.Fprintf(b, "  %s: %s\n", cause.Gate, cause)
	}
	tellEvents(b, d.Events)
}

func describePod(b *strings.Builder, p *cluster.Pod) {
	fmt.Fprintf(b, "Name:           %s\nNamespace:      %s\nNode:           %s\nStart Time:     %s\n", p.Name, p.Namespace, cmp.Or(p.Node, "<none>"), p.Created.Format(time.RFC3339))
	fmt.Fprintf(b, "Status:         %s\nControlled By:  %s/%s\nContainers:\n", p.Phase, p.Owner.Kind, p.Owner.Name)
	for _, c := range p.Containers {
		fmt.Fprintf(b, "  %s:\n    Image:          %s\n    Image ID:       %s\n", c.Name, c.Image, c.ImageID)
		fmt.Fprintf(b, "    State:          %s\n    Ready:          %t\n    Restart Count:  %d\n", cmp.Or(c.Waiting, "Running"), c.Ready, c.Restarts)
	}
	fmt.Fprintln(b, "Conditions:")
	for _, c := range p.Conditions {
		fmt.Fprintf(b, "  %-22s %s\n", c.Type, c.Status)
	}
}

func tellEvents(b *strings.Builder, events []world.Event) {
	if len(events) == 0 {
		fmt.Fprintln(b, "Events:  <none>")
		return
	}
	fmt.Fprintln(b, "Events:")
	for _, e := range events {
		fmt.Fprintf(b, "  %s  %s  %s  %s\n", e.At.Format(time.TimeOnly), e.Reason, e.About, e.Text)
	}
}

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

var _ world.EvidenceSource = (*Cluster)(nil)

// sampled is how many pods of each revision have their logs read, and covered for how long.
const (
	sampled = 3
	covered = 2 * time.Minute
)

// Evidence is [world.EvidenceSource]: the logs are those that are made up.
func (c *Cluster) Evidence(_ context.Context, ref cluster.Ref) (diagnose.Comparison, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.details[ref]
	if d == nil {
		return diagnose.Comparison{}, missing(ref)
	}
	out, updated, old := diagnose.Compare(d.Question)
	out.New.Logs, out.Old.Logs = c.sample(updated), c.sample(old)
	return out, nil
}

func (c *Cluster) sample(pods []*cluster.Pod) *diagnose.Logs {
	var logs diagnose.Logs
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
