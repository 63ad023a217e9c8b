package controller

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

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

// describe reports what a patch did.
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
