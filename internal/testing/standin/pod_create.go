package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// createPod makes a pod from its revision, and the claims that it needs before it.
func (h *hand) createPod(ctx context.Context, a controller.CreatePod) error {
	p, err := h.pod(ctx, a)
	if err != nil {
		return err
	}
	if err := h.needClaims(ctx, a, p); err != nil {
		return err
	}
	p, err = h.client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
	if err == nil {
		h.wrote(h.store.pods, p)
	}
	return err
}

// pod is the pod that an action describes; what admission adds is not in it yet.
func (h *hand) pod(ctx context.Context, a controller.CreatePod) (*corev1.Pod, error) {
	template, err := h.template(ctx, a.Revision)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(template)
	if err != nil {
		return nil, err
	}
	var t corev1.PodTemplateSpec
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, err
	}
	id := rand.String(5)
	p := &corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	if p.Name, p.Namespace = a.Name, h.object.GetNamespace(); p.Name == "" {
		p.Name = a.Prefix + id
	}
	p.OwnerReferences = []metav1.OwnerReference{controlledBy(h.object)}
	p.Labels, p.Annotations = joined(p.Labels, a.Labels), joined(p.Annotations, a.Annotations)
	for _, key := range a.IDLabels {
		p.Labels[key] = id
	}
	for _, gate := range a.Gates {
		open(p, corev1.PodConditionType(gate))
	}
	h.identify(p)
	if a.Node != "" {
		bind(&p.Spec, a.Node)
	}
	return p, nil
}

// template is what pods of a revision are made from: one that this pass stores is
// the workload's present one.
func (h *hand) template(ctx context.Context, revision string) (map[string]any, error) {
	for _, r := range h.view.Revisions {
		if r.Name == revision {
			return r.Template, nil
		}
	}
	r, err := h.client.AppsV1().ControllerRevisions(h.home()).Get(ctx, revision, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("revision of a new pod: %w", err)
	}
	read, err := cluster.ReadRevision(r)
	return read.Template, err
}

func joined(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// open adds a readiness gate that the pod does not have.
func open(p *corev1.Pod, gate corev1.PodConditionType) {
	if !slices.ContainsFunc(p.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == gate }) {
		p.Spec.ReadinessGates = append(p.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: gate})
	}
}

// identify gives the pod of a StatefulSet its name in the network.
func (h *hand) identify(p *corev1.Pod) {
	if set, ok := h.view.Workload.Object.(*kruise.StatefulSet); ok {
		p.Spec.Hostname, p.Spec.Subdomain = p.Name, set.Spec.ServiceName
	}
}

// bind has the scheduler put a daemon pod on its node, whatever its own required
// terms say: they were asked before.
func bind(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}
	spec.Tolerations = append(spec.Tolerations, controller.DaemonTolerations()...)
}

// needClaims makes the claims of a pod that are not there yet, and mounts them.
func (h *hand) needClaims(ctx context.Context, a controller.CreatePod, p *corev1.Pod) error {
	templates := claimTemplates(h.view.Workload.Object)
	for i, c := range a.Claims {
		if strings.HasSuffix(c.Name, "-") {
			id := strings.TrimPrefix(p.Name, a.Prefix)
			c.Name += id
			c.Labels = maps.Clone(c.Labels)
			for _, key := range a.IDLabels {
				c.Labels[key] = id
			}
		}
		made := templates[i].DeepCopy()
		made.Name, made.Namespace, made.Labels = c.Name, p.Namespace, c.Labels
		made.OwnerReferences = h.claimOwner(c.Owner)
		mount(p, templates[i].Name, c.Name)
		made, err := h.client.CoreV1().PersistentVolumeClaims(p.Namespace).Create(ctx, made, metav1.CreateOptions{})
		switch {
		case apierrors.IsAlreadyExists(err):
		case err != nil:
			return err
		default:
			h.wrote(h.store.claims, made)
		}
	}
	return nil
}

func claimTemplates(object any) []corev1.PersistentVolumeClaim {
	switch o := object.(type) {
	case *kruise.CloneSet:
		return o.Spec.VolumeClaimTemplates
	case *kruise.StatefulSet:
		return o.Spec.VolumeClaimTemplates
	}
	return nil
}

// mount gives the pod the claim as the volume of a name, in the place of one that
// the template has under that name.
func mount(p *corev1.Pod, volume, claim string) {
	v := corev1.Volume{Name: volume}
	v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
	i := slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume })
	if i < 0 {
		p.Spec.Volumes = append(p.Spec.Volumes, v)
		return
	}
	p.Spec.Volumes[i] = v
}
