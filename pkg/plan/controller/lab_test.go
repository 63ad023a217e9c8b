package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// lab is the least cluster that a controller can work in: it carries actions out
// and lets pods become ready when it is told to. Everything that happened is in
// its log, in the words of the recordings.
type lab struct {
	t         *testing.T
	now       time.Time
	w         *cluster.Workload
	revisions []cluster.Revision
	pods      []*cluster.Pod
	claims    []*cluster.Claim
	nodes     map[string]*cluster.Node
	// namespaces are for SidecarSets.
	namespaces map[string]map[string]string
	children   []*lab
	parent     *lab
	gates      cluster.Gates
	made       int
	log        []string
	// broken are names of pods, or the beginning of images, that never get ready.
	broken map[string]bool
	// refused are names of pods whose changes are refused.
	refused map[string]bool
}

var labStart = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// newLab reads a workload as YAML; its pods are up.
func newLab(t *testing.T, text string) *lab {
	t.Helper()
	l := &lab{t: t, now: labStart, gates: cluster.DefaultGates(), broken: map[string]bool{}, refused: map[string]bool{}}
	l.write(text)
	return l
}

// write replaces the workload's spec, as kubectl apply would.
func (l *lab) write(text string) {
	l.t.Helper()
	w := stored(l.t, text)
	if l.w != nil {
		w.UID, w.Generation = l.w.UID, l.w.Generation+1
		w.Annotations = maps.Clone(l.w.Annotations)
		w.Object = withStatus(w.Object, statusOf(l.w.Object))
	}
	l.w = w
}

// stored reads a workload as a cluster would have it.
func stored(tb testing.TB, text string) *cluster.Workload {
	tb.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		tb.Fatal(err)
	}
	w, err := cluster.ReadWorkload(tree.Root(&n))
	if err != nil {
		tb.Fatal(err)
	}
	w.UID, w.Generation = "w", 1
	if w.Namespace == "" {
		w.Namespace = "default"
	}
	return w
}

// pass lets the controller look once, and reports whether it wrote anything.
func (l *lab) pass() Pass {
	l.t.Helper()
	v := &View{
		Now: l.now, Workload: l.w, Revisions: slices.Clone(l.revisions), Pods: slices.Clone(l.pods), Claims: l.claims,
		Gates: l.gates, Nodes: l.nodes, Namespaces: l.namespaces,
	}
	for _, child := range l.children {
		v.Children = append(v.Children, child.w)
		v.Pods = append(v.Pods, child.pods...)
	}
	if l.parent != nil {
		for _, sister := range l.parent.children {
			v.Related = append(v.Related, sister.pods...)
		}
	}
	p, err := Reconcile(v)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, a := range p.Actions {
		if !l.do(a) {
			return p
		}
	}
	if p.Status != nil {
		w := *l.w
		w.Object = withStatus(w.Object, p.Status)
		l.w = &w
	}
	return p
}

// writes reports whether a pass changes anything; events do not count.
func (p Pass) writes() bool {
	return p.Status != nil || slices.ContainsFunc(p.Actions, func(a Action) bool {
		_, told := a.(Event)
		return !told
	})
}

// settle lets the controller look until it has nothing to write any more.
func (l *lab) settle() Pass {
	l.t.Helper()
	for range 200 {
		p := l.pass()
		wrote := p.writes()
		for _, child := range slices.Clone(l.children) {
			q := child.pass()
			wrote = wrote || q.writes()
		}
		if !wrote {
			return p
		}
	}
	l.t.Fatalf("the controller does not come to rest: %s", strings.Join(l.log[max(0, len(l.log)-20):], ", "))
	return Pass{}
}

// second lets a second pass: pods that terminate go, others start, and the
// controller follows.
func (l *lab) second() Pass {
	l.t.Helper()
	l.now = l.now.Add(time.Second)
	l.kubelet()
	for _, child := range l.children {
		child.now = l.now
		child.kubelet()
	}
	return l.settle()
}

// seconds lets several pass.
func (l *lab) seconds(n int) {
	l.t.Helper()
	for range n {
		l.second()
	}
}

func (l *lab) kubelet() {
	var left []*cluster.Pod
	for _, p := range l.pods {
		if p.Deleting && len(p.Finalizers) == 0 {
			l.log = append(l.log, "gone "+p.Name)
			l.drop(p)
			continue
		}
		left = append(left, l.run(p))
	}
	l.pods = left
}

// drop takes claims along that belong to the pod.
func (l *lab) drop(p *cluster.Pod) {
	l.claims = slices.DeleteFunc(slices.Clone(l.claims), func(c *cluster.Claim) bool { return c.Owner.UID == p.UID && c.Owner.Kind == "Pod" })
}

// run starts the containers of a pod and reports readiness, gates included.
func (l *lab) run(p *cluster.Pod) *cluster.Pod {
	q := *p
	q.Phase = corev1.PodRunning
	if q.Node == "" {
		q.Node = "n1"
	}
	q = *q.With(cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo(string(corev1.PodScheduled), corev1.ConditionTrue, "", "")}}, l.now)
	q.Containers = slices.Clone(q.Containers)
	ready := !l.broken[q.Name]
	for i := range q.Containers {
		c := &q.Containers[i]
		if l.broken[c.Image] {
			c.Ready, ready = false, false
			continue
		}
		if c.Reported && c.StatusImage != c.Image {
			c.Restarts++
		}
		c.Reported, c.Ready, c.StatusImage, c.ImageID = true, true, c.Image, "sha256:"+c.Image
	}
	return l.judge(&q, ready)
}

// judge sets the condition Ready from the containers and the gates.
func (l *lab) judge(p *cluster.Pod, ready bool) *cluster.Pod {
	for _, gate := range p.ReadinessGates {
		if c, _ := p.Condition(gate); c.Status != corev1.ConditionTrue {
			ready = false
		}
	}
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return p.With(cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo(string(corev1.PodReady), status, "", "")}}, l.now)
}

// pod returns the pod of a name.
func (l *lab) pod(name string) *cluster.Pod {
	l.t.Helper()
	for _, p := range l.pods {
		if p.Name == name {
			return p
		}
	}
	l.t.Fatalf("no pod %s", name)
	return nil
}

// edit changes a pod from outside.
func (l *lab) edit(name string, c cluster.PodChange) {
	l.t.Helper()
	l.replace(l.pod(name).UID, func(p *cluster.Pod) *cluster.Pod { return p.With(c, l.now) })
}

// images shows each pod's image, by name.
func (l *lab) images() string {
	var out []string
	for _, p := range slices.SortedFunc(slices.Values(l.pods), func(a, b *cluster.Pod) int { return strings.Compare(a.Name, b.Name) }) {
		out = append(out, p.Name+"="+imageOf(p))
	}
	return strings.Join(out, " ")
}

// did returns what was logged since the last time, and forgets it.
func (l *lab) did() string {
	out := strings.Join(l.log, ", ")
	l.log = nil
	return out
}

// withStatus returns a copy of a typed object with another status.
func withStatus(obj, status any) any {
	switch o := obj.(type) {
	case *kruise.CloneSet:
		c := *o
		c.Status = *status.(*kruise.CloneSetStatus)
		return &c
	case *kruise.StatefulSet:
		c := *o
		c.Status = *status.(*kruise.StatefulSetStatus)
		return &c
	case *appsv1.StatefulSet:
		c := *o
		c.Status = *status.(*appsv1.StatefulSetStatus)
		return &c
	case *appsv1.Deployment:
		c := *o
		c.Status = *status.(*appsv1.DeploymentStatus)
		return &c
	case *appsv1.ReplicaSet:
		c := *o
		c.Status = *status.(*appsv1.ReplicaSetStatus)
		return &c
	case *appsv1.DaemonSet:
		c := *o
		c.Status = *status.(*appsv1.DaemonSetStatus)
		return &c
	case *kruise.DaemonSet:
		c := *o
		c.Status = *status.(*kruise.DaemonSetStatus)
		return &c
	case *kruise.SidecarSet:
		c := *o
		c.Status = *status.(*kruise.SidecarSetStatus)
		return &c
	}
	panic(fmt.Sprintf("%T", obj))
}

func statusOf(obj any) any {
	switch o := obj.(type) {
	case *kruise.CloneSet:
		return &o.Status
	case *kruise.StatefulSet:
		return &o.Status
	case *appsv1.StatefulSet:
		return &o.Status
	case *appsv1.Deployment:
		return &o.Status
	case *appsv1.ReplicaSet:
		return &o.Status
	case *appsv1.DaemonSet:
		return &o.Status
	case *kruise.DaemonSet:
		return &o.Status
	case *kruise.SidecarSet:
		return &o.Status
	}
	panic(fmt.Sprintf("%T", obj))
}
