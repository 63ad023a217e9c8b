package controller

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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
func stored(t testing.TB, text string) *cluster.Workload {
	t.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	w, err := cluster.ReadWorkload(tree.Root(&n))
	if err != nil {
		t.Fatal(err)
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
		Gates: l.gates, Pick: func(int) int { return 0 }, Nodes: l.nodes, Namespaces: l.namespaces,
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

// settle lets the controller look until it has nothing to write any more.
func (l *lab) settle() Pass {
	l.t.Helper()
	for range 200 {
		p := l.pass()
		wrote := len(p.Actions) > 0 || p.Status != nil
		for _, child := range slices.Clone(l.children) {
			q := child.pass()
			wrote = wrote || len(q.Actions) > 0 || q.Status != nil
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

// do carries an action out; false is a refusal.
func (l *lab) do(a Action) bool {
	switch a := a.(type) {
	case StoreRevision:
		l.store(a.Revision)
	case DropRevision:
		l.revisions = slices.DeleteFunc(slices.Clone(l.revisions), func(r cluster.Revision) bool { return r.Name == a.Name })
		l.log = append(l.log, "drop "+a.Name)
	case CreatePod:
		l.create(a)
	case PatchPod:
		return l.patch(a)
	case DeletePod:
		l.delete(a.Pod)
	case PatchWorkload:
		l.annotate(a.Patch)
	case ScaleChild:
		l.scale(a)
	case DropChild:
		l.children = slices.DeleteFunc(slices.Clone(l.children), func(c *lab) bool { return c.w.Name == a.Name })
		l.log = append(l.log, "drop "+a.Name)
	case ChangeClaim:
		l.claim(a)
	case Event:
	default:
		l.t.Fatalf("unknown action %T", a)
	}
	return true
}

func (l *lab) store(r cluster.Revision) {
	for i, have := range l.revisions {
		if have.Name == r.Name {
			l.revisions[i].Number = r.Number
			return
		}
	}
	l.revisions = append(l.revisions, r)
}

func (l *lab) create(a CreatePod) {
	l.made++
	template := l.w.Template
	for _, r := range l.revisions {
		if r.Name == a.Revision {
			template = r.Template
		}
	}
	name := a.Name
	if name == "" {
		name = fmt.Sprintf("%s%05d", a.Prefix, l.made)
	}
	for _, have := range l.pods {
		if have.Name == name {
			l.t.Fatalf("pod %s exists already", name)
		}
	}
	p := podOf(l.t, template)
	p.Namespace, p.Name, p.UID, p.Created, p.Phase = "default", name, fmt.Sprintf("p%d", l.made), l.now, corev1.PodPending
	p.Node = a.Node
	p.Owner = cluster.Owner{Kind: l.w.Kind, Name: l.w.Name, UID: l.w.UID}
	maps.Copy(p.Labels, a.Labels)
	maps.Copy(p.Annotations, a.Annotations)
	id := strings.TrimPrefix(name, a.Prefix)
	for _, key := range a.IDLabels {
		p.Labels[key] = id
	}
	p.ReadinessGates = append(p.ReadinessGates, a.Gates...)
	for _, c := range a.Claims {
		if strings.HasSuffix(c.Name, "-") {
			c.Name += id
			c.Labels = maps.Clone(c.Labels)
			for _, key := range a.IDLabels {
				c.Labels[key] = id
			}
		}
		if !slices.ContainsFunc(l.claims, func(have *cluster.Claim) bool { return have.Name == c.Name }) {
			l.claims = append(slices.Clip(l.claims), &c)
			l.log = append(l.log, "claim "+c.Name)
		}
	}
	l.pods = append(l.pods, p)
	l.log = append(l.log, strings.TrimSpace("create "+name+" "+imageOf(p)))
}

// podOf makes what a template asks for.
func podOf(t *testing.T, template map[string]any) *cluster.Pod {
	t.Helper()
	var typed corev1.PodTemplateSpec
	if _, err := tree.Decode(tree.FromValue(template), &typed); err != nil {
		t.Fatal(err)
	}
	p := cluster.ReadPod(&corev1.Pod{ObjectMeta: typed.ObjectMeta, Spec: typed.Spec})
	p.Labels, p.Annotations = maps.Clone(p.Labels), maps.Clone(p.Annotations)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	return p
}

// imageOf is the first container's, without its repository.
func imageOf(p *cluster.Pod) string {
	if len(p.Containers) == 0 {
		return ""
	}
	return p.Containers[0].Image[strings.LastIndexByte(p.Containers[0].Image, ':')+1:]
}

func (l *lab) patch(a PatchPod) bool {
	if l.refused[a.Pod.Name] {
		l.log = append(l.log, "refuse "+a.Pod.Name)
		return false
	}
	l.replace(a.Pod.UID, func(p *cluster.Pod) *cluster.Pod {
		q := p.With(a.Change, l.now)
		if len(a.Change.Images) > 0 {
			q.Containers = slices.Clone(q.Containers)
			for i, c := range q.Containers {
				q.Containers[i].Ready = c.StatusImage == c.Image
			}
		}
		return l.judge(q, !l.broken[q.Name] && !slices.ContainsFunc(q.Containers, func(c cluster.Container) bool { return !c.Ready }))
	})
	l.log = append(l.log, l.describe(a)...)
	return true
}

// describe says what a patch did.
func (l *lab) describe(a PatchPod) []string {
	var out []string
	for _, c := range a.Change.Conditions {
		out = append(out, fmt.Sprintf("set %s %s=%s", a.Pod.Name, c.Type, c.Status))
	}
	if to, ok := a.Change.Labels[appsv1.ControllerRevisionHashLabelKey]; ok {
		out = append(out, "inPlace "+a.Pod.Name)
		_ = to
	}
	for _, name := range slices.Sorted(maps.Keys(a.Change.Images)) {
		image := a.Change.Images[name]
		out = append(out, fmt.Sprintf("image %s %s", a.Pod.Name, image[strings.LastIndexByte(image, ':')+1:]))
	}
	if to, ok := a.Change.Labels[kruise.LifecycleStateLabel]; ok {
		out = append(out, fmt.Sprintf("state %s %s", a.Pod.Name, *to))
	}
	if len(out) == 0 {
		out = append(out, "patch "+a.Pod.Name)
	}
	return out
}

func (l *lab) replace(uid string, f func(*cluster.Pod) *cluster.Pod) {
	for i, p := range l.pods {
		if p.UID == uid {
			l.pods[i] = f(p)
		}
	}
}

// delete marks a pod; the kubelet lets it go.
func (l *lab) delete(p *cluster.Pod) {
	if p.Deleting {
		l.t.Fatalf("pod %s is deleted twice", p.Name)
	}
	l.log = append(l.log, "delete "+p.Name)
	l.replace(p.UID, func(p *cluster.Pod) *cluster.Pod { q := *p; q.Deleting = true; return &q })
}

func (l *lab) annotate(patch map[string]any) {
	if spec, ok := patch["spec"].(map[string]any); ok {
		l.unname(spec)
		return
	}
	meta, _ := patch["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	w := *l.w
	w.Annotations = maps.Clone(w.Annotations)
	if w.Annotations == nil {
		w.Annotations = map[string]string{}
	}
	for k, v := range annotations {
		w.Annotations[k] = v.(string)
	}
	l.w = &w
}

// unname sets podsToDelete of a CloneSet.
func (l *lab) unname(spec map[string]any) {
	w, o := *l.w, *l.w.Object.(*kruise.CloneSet)
	left, _ := spec["scaleStrategy"].(map[string]any)["podsToDelete"].([]any)
	o.Spec.ScaleStrategy.PodsToDelete = nil
	for _, name := range left {
		o.Spec.ScaleStrategy.PodsToDelete = append(o.Spec.ScaleStrategy.PodsToDelete, name.(string))
	}
	w.Object = &o
	w.Generation++
	l.w = &w
	l.log = append(l.log, fmt.Sprintf("podsToDelete %v", o.Spec.ScaleStrategy.PodsToDelete))
}

// scale resizes a ReplicaSet, or makes it.
func (l *lab) scale(a ScaleChild) {
	if a.New != nil {
		l.made++
		w := *a.New
		w.UID = "rs" + strconv.Itoa(l.made)
		l.children = append(slices.Clip(l.children), &lab{t: l.t, now: l.now, w: &w, parent: l, gates: l.gates, broken: l.broken, refused: l.refused})
		l.log = append(l.log, fmt.Sprintf("new rs%d=%d", len(l.children), a.Replicas))
		return
	}
	for i, child := range l.children {
		if child.w.Name != a.Name {
			continue
		}
		w, rs, n := *child.w, *replicaSetOf(child.w), int32(a.Replicas)
		if *rs.Spec.Replicas != n {
			w.Generation++
			l.log = append(l.log, fmt.Sprintf("scale rs%d=%d", i+1, a.Replicas))
		}
		rs.Spec.Replicas = &n
		w.Object, w.Annotations = &rs, maps.Clone(w.Annotations)
		maps.Copy(w.Annotations, a.Annotations)
		child.w = &w
		return
	}
	l.t.Fatalf("no ReplicaSet %s", a.Name)
}

func (l *lab) claim(a ChangeClaim) {
	l.claims = slices.Clone(l.claims)
	for i, c := range l.claims {
		if c.Name != a.Claim.Name {
			continue
		}
		if a.Delete {
			l.claims = slices.Delete(l.claims, i, i+1)
			l.log = append(l.log, "unclaim "+c.Name)
			return
		}
		owned := *c
		owned.Owner = *a.Owner
		l.claims[i] = &owned
		l.log = append(l.log, strings.TrimRight("own "+c.Name+" "+a.Owner.Kind, " "))
		return
	}
	l.t.Fatalf("no claim %s", a.Claim.Name)
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
