package controller

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Mould makes the pods of one template. What admission does is worked out once
// for all pods that it treats alike, so ten thousand cost little more than one.
// It holds for one Admission and is not safe for concurrent use.
type Mould struct {
	admission           *Admission
	template            *tree.Node
	labels, annotations map[string]string
	casts               map[string]*cast
}

// cast is a pod as admission makes it, for one choice of sidecars.
type cast struct {
	pod      *cluster.Pod
	contents []*inject.Content
	// added are annotations that injection sets, but for those with a time in
	// them: record, which are those of the second at.
	added  map[string]string
	record map[string]string
	at     time.Time
}

// Mould returns the mould of a template, as decoded JSON.
func (a *Admission) Mould(template map[string]any) *Mould {
	n := tree.FromValue(template)
	return &Mould{
		admission: a, template: n, casts: map[string]*cast{},
		labels: tree.Strings(tree.Get(n, "metadata", "labels")), annotations: tree.Strings(tree.Get(n, "metadata", "annotations")),
	}
}

// Pod makes the pod that an action asks for. n says where it belongs; its labels
// and annotations are filled in here. id is the random part of its name. UID,
// owner and whatever comes later are left to the caller. The error is a reason
// to refuse the pod.
func (m *Mould) Pod(c CreatePod, n Newcomer, id string, now time.Time) (*cluster.Pod, error) {
	n.Labels, n.Annotations = joined(m.labels, c.Labels), joined(m.annotations, c.Annotations)
	for _, key := range c.IDLabels {
		n.Labels[key] = id
	}
	like, err := m.castFor(n)
	if err != nil {
		return nil, err
	}
	if at := now.Truncate(time.Second); like.record == nil || !like.at.Equal(at) {
		if like.record, err = m.admission.record(n.Annotations, like.contents, at); err != nil {
			return nil, err
		}
		like.at = at
	}
	maps.Copy(n.Annotations, like.added)
	maps.Copy(n.Annotations, like.record)
	if budget := m.admission.budgetOf(n); budget != "" {
		n.Annotations[kruise.RelatedBudgetAnnotation], n.Annotations[kruise.RelatedBudgetOlderAnnotation] = budget, budget
	}
	out := *like.pod
	out.Namespace, out.Name = n.Namespace, n.Name
	out.Labels, out.Annotations = n.Labels, n.Annotations
	out.Created, out.Phase, out.Node = now.Truncate(time.Second), corev1.PodPending, c.Node
	m.gates(&out, c.Gates, now)
	return &out, nil
}

// gates adds those of the workload in front of Kruise's own, which its
// controller opens as soon as it sees the pod.
func (m *Mould) gates(p *cluster.Pod, add []string, now time.Time) {
	own := slices.DeleteFunc(slices.Clone(p.ReadinessGates), func(g string) bool { return g == kruise.KruisePodReady })
	for _, g := range add {
		if !slices.Contains(own, g) {
			own = append(own, g)
		}
	}
	if slices.Contains(p.ReadinessGates, kruise.KruisePodReady) {
		own = append(own, kruise.KruisePodReady)
		open := cluster.SetTo(kruise.KruisePodReady, corev1.ConditionTrue, "", "")
		open.Since = now.Truncate(time.Second)
		p.Conditions = append(p.Conditions, open)
	}
	p.ReadinessGates = own
}

func (m *Mould) castFor(n Newcomer) (*cast, error) {
	contents, err := m.admission.choose(n)
	if err != nil {
		return nil, err
	}
	key := keyOf(contents)
	if found := m.casts[key]; found != nil {
		return found, nil
	}
	out, err := m.cast(n, contents)
	if err == nil {
		m.casts[key] = out
	}
	return out, err
}

// keyOf names a choice of contents.
func keyOf(contents []*inject.Content) string {
	var b strings.Builder
	for _, c := range contents {
		b.WriteString(c.Set + "/" + c.Revision + ",")
	}
	return b.String()
}

func (m *Mould) cast(n Newcomer, contents []*inject.Content) (*cast, error) {
	metadata := tree.Map("labels", tree.FromValue(values(n.Labels)), "annotations", tree.FromValue(values(n.Annotations)))
	if finalizers := tree.Get(m.template, "metadata", "finalizers"); finalizers != nil {
		tree.Set(metadata, "finalizers", finalizers)
	}
	pod := tree.Map("metadata", metadata, "spec", tree.Get(m.template, "spec"))
	built, err := m.admission.build(pod, n, contents)
	if err != nil {
		return nil, err
	}
	var typed corev1.Pod
	if _, err := tree.Decode(built, &typed); err != nil {
		return nil, err
	}
	out := &cast{pod: cluster.ReadPod(&typed), contents: contents, added: map[string]string{}}
	for key, v := range typed.Annotations {
		if before, ok := n.Annotations[key]; !ok || before != v {
			out.added[key] = v
		}
	}
	return out, nil
}

// joined is a new map with both, the second winning; it is never nil.
func joined(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b)+4)
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
