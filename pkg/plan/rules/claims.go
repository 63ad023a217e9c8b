package rules

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// claimTemplatesPath is where all kinds have their claim templates.
const claimTemplatesPath = "spec.volumeClaimTemplates"

// claimTemplates are those of a workload, given as its typed object.
func claimTemplates(obj any) []corev1.PersistentVolumeClaim {
	if o, ok := obj.(*kruise.CloneSet); ok {
		return o.Spec.VolumeClaimTemplates
	}
	if o, ok := obj.(*kruise.StatefulSet); ok {
		return o.Spec.VolumeClaimTemplates
	}
	if o, ok := obj.(*appsv1.StatefulSet); ok {
		return o.Spec.VolumeClaimTemplates
	}
	return nil
}

// ClaimNames are the names of the claim templates of a workload, given as its typed object.
func ClaimNames(obj any) []string {
	var out []string
	for _, c := range claimTemplates(obj) {
		out = append(out, c.Name)
	}
	return out
}

// Claims are the claim templates of a workload with what becomes of the claims.
type Claims struct {
	Names []string
	// WithPods: the controller deletes them with the pods that it deletes, for an
	// update too (docs/kruise/workloads.md#named-pods-and-claims).
	WithPods bool
	// WhenScaled and WhenDeleted: they go when pods are scaled away, and with the
	// workload.
	WhenScaled, WhenDeleted bool
}

// ClaimsOf are the claims of a workload, given as its typed object.
func ClaimsOf(obj any) Claims {
	c := Claims{Names: ClaimNames(obj)}
	const remove = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	if _, ok := obj.(*kruise.CloneSet); ok {
		c.WithPods, c.WhenScaled, c.WhenDeleted = true, true, true
	}
	if o, ok := obj.(*kruise.StatefulSet); ok && o.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		p := o.Spec.PersistentVolumeClaimRetentionPolicy
		c.WhenScaled, c.WhenDeleted = p.WhenScaled == remove, p.WhenDeleted == remove
	}
	if o, ok := obj.(*appsv1.StatefulSet); ok && o.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		p := o.Spec.PersistentVolumeClaimRetentionPolicy
		c.WhenScaled, c.WhenDeleted = p.WhenScaled == remove, p.WhenDeleted == remove
	}
	return c
}

// Any reports whether there are any.
func (c Claims) Any() bool { return len(c.Names) > 0 }

func (c Claims) String() string { return strings.Join(c.Names, ", ") }

// LostByUpdate says what a number of pods lose that an update replaces, "" for nothing.
func (c Claims) LostByUpdate(pods int) string {
	if !c.Any() || !c.WithPods || pods == 0 {
		return ""
	}
	return fmt.Sprintf("%s that other pods replace %s (%s): Kruise deletes them with the pod, and the data in them", counted.Of(pods, "pod"), counted.Word(pods, "loses its claims", "lose their claims"), c)
}

// LostByScaling says what is lost with a number of pods that are scaled away, "" for nothing.
func (c Claims) LostByScaling(pods int) string {
	if !c.Any() || !c.WhenScaled || pods == 0 {
		return ""
	}
	return fmt.Sprintf("the claims (%s) of %s are deleted, and the data in them", c, counted.Of(pods, "pod"))
}

// CheckClaims returns why a change of claim templates cannot be rolled out, nil where it can. An
// Advanced StatefulSet with pods that lack the volume of a claim template tries to add it to them
// while they run, which the API server refuses each time: nothing of the set is updated any more
// (docs/kruise/workloads.md#advanced-statefulset). The claim templates of a StatefulSet of Kubernetes
// are immutable.
func CheckClaims(old, updated *cluster.Workload) *tree.Error {
	if _, ok := updated.Object.(*kruise.StatefulSet); ok {
		before, _ := cluster.Of(old.Object).Replicas()
		after, _ := cluster.Of(updated.Object).Replicas()
		had, added := ClaimNames(old.Object), []string(nil)
		for _, name := range ClaimNames(updated.Object) {
			if !slices.Contains(had, name) {
				added = append(added, name)
			}
		}
		if before == 0 || after == 0 || len(added) == 0 {
			return nil
		}
		return &tree.Error{
			Path: claimTemplatesPath,
			Msg: fmt.Sprintf("%s %s new, and the pods that run have no such volume: the controller tries to add it to them, the API server refuses that each time, and no pod of the set is updated any more",
				counted.Word(len(added), "the claim template", "the claim templates")+" "+strings.Join(added, ", "), counted.Word(len(added), "is", "are")),
			Hint: "scale the set to 0 before the change and back after it, or create a new set beside this one and move over to it; a set that is blocked already continues once the claim template is removed again, or each pod has been deleted by hand, the lowest ordinal first",
		}
	}
	changed := changedClaims(old.Object, updated.Object)
	if _, ok := updated.Object.(*appsv1.StatefulSet); !ok || len(changed) == 0 {
		return nil
	}
	return &tree.Error{
		Path: claimTemplatesPath,
		Msg:  fmt.Sprintf("the API server refuses a change of the claim templates (%s): they are immutable in a StatefulSet of Kubernetes", strings.Join(changed, ", ")),
		Hint: "resize the claims themselves, or delete the StatefulSet with --cascade=orphan, create it again, and delete its pods one by one",
	}
}

// changedClaims are the names of claim templates that are new, gone, or request another size.
func changedClaims(old, updated any) []string {
	before, after := claimTemplates(old), claimTemplates(updated)
	var out []string
	for _, c := range after {
		if i := indexOfClaim(before, c.Name); i < 0 || !sameSize(before[i], c) {
			out = append(out, c.Name)
		}
	}
	for _, c := range before {
		if indexOfClaim(after, c.Name) < 0 {
			out = append(out, c.Name)
		}
	}
	return out
}

func indexOfClaim(list []corev1.PersistentVolumeClaim, name string) int {
	return slices.IndexFunc(list, func(c corev1.PersistentVolumeClaim) bool { return c.Name == name })
}

func sameSize(a, b corev1.PersistentVolumeClaim) bool {
	x, y := a.Spec.Resources.Requests[corev1.ResourceStorage], b.Spec.Resources.Requests[corev1.ResourceStorage]
	return x.Cmp(y) == 0
}

// ClaimWarning returns what a change of claim templates leaves as it is, "" where it leaves nothing.
func ClaimWarning(old, updated *cluster.Workload, e Eligibility) string {
	changed := changedClaims(old.Object, updated.Object)
	if len(changed) == 0 && claims(old.Object) == claims(updated.Object) || CheckClaims(old, updated) != nil {
		return ""
	}
	names := strings.Join(changed, ", ")
	if names == "" {
		names = strings.Join(ClaimNames(updated.Object), ", ")
	}
	if o, ok := updated.Object.(*kruise.StatefulSet); ok {
		keep := fmt.Sprintf("the claim templates change (%s): existing claims stay as they are, and only claims that are created from now on follow", names)
		if o.Spec.VolumeClaimUpdateStrategy.Type == kruise.OnPodRollingUpdateVolumeClaimUpdateStrategyType {
			return fmt.Sprintf("the claim templates change (%s): with the gate StatefulSetAutoResizePVCGate, off by default, each pod's claims are expanded when the pod is updated; without it existing claims stay as they are", names)
		}
		return keep
	}
	return cloneSetClaimWarning(e, names)
}

// cloneSetClaimWarning: docs/kruise/workloads.md#cloneset.
func cloneSetClaimWarning(e Eligibility, names string) string {
	keep := fmt.Sprintf("the claim templates change (%s): ", names)
	switch {
	case e.Mode == ModeRecreate || e.Mode == ModeNotAllowed:
		return ""
	case e.Mode == ModeUnchanged:
		return keep + "the claims of existing pods stay as they are, and only pods that are created from now on get new ones"
	case e.Policy == PolicyInPlaceOnly:
		return keep + "pods that are updated in place keep the claims that they have"
	}
	return keep + "pods that are updated in place keep the claims that they have; only with the gate RecreatePodWhenChangeVCTInCloneSetGate, off by default, are they recreated with new ones"
}
