package standin

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// chance is what a controller leaves its choices to.
type chance struct{}

func (chance) Below(n int) int { return rand.IntN(max(n, 1)) } //nolint:gosec // as the real controllers do

// view is what the caches show the controller of a workload.
func (s *standIns) view(w *cluster.Workload) *controller.View {
	v := &controller.View{
		Now: time.Now(), Workload: w, Nodes: s.nodesNow(), Namespaces: s.namespacesNow(), Gates: gates(),
		Chance: chance{},
	}
	for _, r := range owned[*appsv1.ControllerRevision](s.store.revisions, types.UID(w.UID)) {
		if read, err := cluster.ReadRevision(r); err == nil && r.DeletionTimestamp == nil {
			v.Revisions = append(v.Revisions, read)
		}
	}
	pods := owned[*corev1.Pod](s.store.pods, types.UID(w.UID))
	if set, ok := w.Object.(*kruise.SidecarSet); ok {
		selects := s.selects(w, set)
		pods = slices.DeleteFunc(every[*corev1.Pod](s.store.pods), func(p *corev1.Pod) bool { return !selects(p) })
	}
	for _, p := range pods {
		read := cluster.ReadPod(p)
		if w.Kind == kruise.KindDaemonSet && read.Node == "" {
			read.Node = BoundTo(p)
		}
		v.Pods = append(v.Pods, read)
	}
	slices.SortFunc(v.Pods, func(a, b *cluster.Pod) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	v.Claims = s.claimsOf(w)
	v.Reports = s.restarts.reports(pods)
	return v
}

func (s *standIns) nodesNow() map[string]*cluster.Node {
	out := map[string]*cluster.Node{}
	for _, n := range every[*corev1.Node](s.store.nodes) {
		out[n.Name] = cluster.ReadNode(n)
	}
	return out
}

// sameNode reports whether two forms of a node are alike in all that decides
// where pods go.
func sameNode(a, b metav1.Object) bool {
	from, _ := a.(*corev1.Node)
	to, _ := b.(*corev1.Node)
	return from != nil && to != nil && reflect.DeepEqual(cluster.ReadNode(from), cluster.ReadNode(to))
}

func (s *standIns) namespacesNow() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, n := range every[*corev1.Namespace](s.store.namespaces) {
		out[n.Name] = n.Labels
	}
	return out
}

// claimsOf returns the claims that may belong to the workload's pods: those whose
// name holds the workload's.
func (s *standIns) claimsOf(w *cluster.Workload) []*cluster.Claim {
	var out []*cluster.Claim
	for _, c := range inNamespace[*corev1.PersistentVolumeClaim](s.store.claims, w.Namespace) {
		if strings.Contains(c.Name, "-"+w.Name+"-") {
			out = append(out, claim(c))
		}
	}
	slices.SortFunc(out, func(a, b *cluster.Claim) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func claim(c *corev1.PersistentVolumeClaim) *cluster.Claim {
	out := &cluster.Claim{Namespace: c.Namespace, Name: c.Name, Labels: c.Labels, Deleting: c.DeletionTimestamp != nil}
	if len(c.OwnerReferences) > 0 {
		o := c.OwnerReferences[0]
		out.Owner = cluster.Owner{Kind: o.Kind, Name: o.Name, UID: string(o.UID)}
	}
	return out
}

// BoundTo is the node that a daemon pod is made for.
func BoundTo(p *corev1.Pod) string {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

// podOf reads a pod of a cache; nil stays nil.
func podOf(o metav1.Object) *cluster.Pod {
	if p, ok := o.(*corev1.Pod); ok && p != nil {
		return cluster.ReadPod(p)
	}
	return nil
}
