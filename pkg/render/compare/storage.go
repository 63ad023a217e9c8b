package compare

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// claims are the claim templates of a workload with what becomes of the claims.
type claims struct {
	names []string
	// withPods: the controller deletes them with the pods that it deletes, for an
	// update too (docs/kruise/workloads.md#named-pods-and-claims).
	withPods bool
	// whenScaled and whenDeleted: they go when pods are scaled away, and with the
	// workload.
	whenScaled, whenDeleted bool
}

func claimsOf(obj any) claims { return cluster.By(obj, cluster.Kinds[claims](claimsOfKind{})) }

// claimsOfKind has, for each kind of workload, what becomes of its claims.
type claimsOfKind struct{}

func (claimsOfKind) CloneSet(o *kruise.CloneSet) claims {
	return claims{names: claimNames(o.Spec.VolumeClaimTemplates), withPods: true, whenScaled: true, whenDeleted: true}
}

func (claimsOfKind) StatefulSet(o *kruise.StatefulSet) claims {
	if p := o.Spec.PersistentVolumeClaimRetentionPolicy; p != nil {
		return retained(o.Spec.VolumeClaimTemplates, p.WhenScaled, p.WhenDeleted)
	}
	return claims{names: claimNames(o.Spec.VolumeClaimTemplates)}
}

func (claimsOfKind) NativeStatefulSet(o *appsv1.StatefulSet) claims {
	p := o.Spec.PersistentVolumeClaimRetentionPolicy // has its defaults
	return retained(o.Spec.VolumeClaimTemplates, p.WhenScaled, p.WhenDeleted)
}

func (claimsOfKind) DaemonSet(*kruise.DaemonSet) claims       { return claims{} }
func (claimsOfKind) SidecarSet(*kruise.SidecarSet) claims     { return claims{} }
func (claimsOfKind) Deployment(*appsv1.Deployment) claims     { return claims{} }
func (claimsOfKind) ReplicaSet(*appsv1.ReplicaSet) claims     { return claims{} }
func (claimsOfKind) NativeDaemonSet(*appsv1.DaemonSet) claims { return claims{} }

func retained(list []corev1.PersistentVolumeClaim, scaled, deleted appsv1.PersistentVolumeClaimRetentionPolicyType) claims {
	const remove = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	return claims{names: claimNames(list), whenScaled: scaled == remove, whenDeleted: deleted == remove}
}

func claimNames(list []corev1.PersistentVolumeClaim) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Name)
	}
	return out
}

func (c claims) any() bool { return len(c.names) > 0 }

func (c claims) String() string { return strings.Join(c.names, ", ") }

// storage says what becomes of the data of pods that are recreated or go away.
func storage(ch *Change, old, now *cluster.Workload, r *Rollout) {
	had, has := claimsOf(old.Object), claimsOf(now.Object)
	if r.Mode == rules.ModeRecreate && r.level() == Recreate && had.any() && had.withPods {
		ch.add(Loss, "", fmt.Sprintf("every pod that is recreated loses its claims (%s): Kruise deletes them with the pod, and the data in them", had))
	}
	scaled(ch, had, r)
	const policy, text = "spec.persistentVolumeClaimRetentionPolicy.", "claims (%s) are deleted from now on where they were kept"
	if has.any() && has.whenScaled && !had.whenScaled {
		ch.add(Warning, policy+"whenScaled", fmt.Sprintf(text, has))
	}
	if has.any() && has.whenDeleted && !had.whenDeleted {
		ch.add(Warning, policy+"whenDeleted", fmt.Sprintf(text, has))
	}
}

// scaled says what a smaller number of pods takes away.
func scaled(ch *Change, had claims, r *Rollout) {
	if r.From < 0 || r.To < 0 || r.To >= r.From {
		return
	}
	gone := r.From - r.To
	switch {
	case !had.any():
	case had.whenScaled:
		ch.add(Loss, "spec.replicas", fmt.Sprintf("the claims (%s) of %s are deleted, and the data in them", had, pods(gone)))
	default:
		ch.add(Note, "spec.replicas", fmt.Sprintf("the claims (%s) of %s stay", had, pods(gone)))
	}
}

// pods writes a number of pods.
func pods(n int) string {
	switch n {
	case -1:
		return "all pods"
	case 1:
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
