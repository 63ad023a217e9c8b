package standin

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// troubles are the conditions of a ResourceDistribution, all of them always there
// and in this order.
var troubles = []string{
	"GetResourceFailed", "CreateResourceFailed", "UpdateResourceFailed", "DeleteResourceFailed", "ConflictOccurred", "NamespaceNotExists",
}

// distributionReport is what went wrong, by condition.
type distributionReport map[string]*trouble

type trouble struct {
	namespaces []string
	reason     string
}

func (r distributionReport) add(condition, namespace, reason string) {
	if r[condition] == nil {
		r[condition] = &trouble{}
	}
	r[condition].namespaces = append(r[condition].namespaces, namespace)
	r[condition].reason = reason
}

// missing tells of namespaces that are listed, and neither excluded nor the
// system's, and not there or on their way out.
func (d *distribution) missing(targets map[string]*unstructured.Unstructured) {
	t := d.typed.Spec.Targets
	if t.AllNamespaces {
		return
	}
	for _, listed := range t.IncludedNamespaces.List {
		n, there := find[*corev1.Namespace](d.store.namespaces, types.NamespacedName{Name: listed.Name})
		there = there && n.DeletionTimestamp == nil
		if !there && targets[listed.Name] == nil && !slices.Contains(t.ExcludedNamespaces.List, listed) {
			d.report.add("NamespaceNotExists", listed.Name, "namespace "+listed.Name+" not found")
		}
	}
}

// status counts the copies; what keeps its status keeps its time.
func (r distributionReport) status(o *kruise.ResourceDistribution, desired int, now time.Time) kruise.ResourceDistributionStatus {
	out := kruise.ResourceDistributionStatus{ObservedGeneration: o.Generation}
	failed := map[string]bool{}
	for _, kind := range troubles {
		c := kruise.ResourceDistributionCondition{Type: kind, Status: corev1.ConditionFalse, Reason: "Succeeded"}
		if t := r[kind]; t != nil {
			slices.Sort(t.namespaces)
			c.Status, c.Reason, c.FailedNamespaces = corev1.ConditionTrue, t.reason, t.namespaces
			for _, namespace := range t.namespaces {
				failed[namespace] = kind != "DeleteResourceFailed"
			}
		}
		c.LastTransitionTime = since(o.Status.Conditions, c, now)
		out.Conditions = append(out.Conditions, c)
	}
	for _, counts := range failed {
		if counts {
			out.Failed++
		}
	}
	if t := r["NamespaceNotExists"]; t != nil {
		desired += len(t.namespaces)
	}
	out.Desired = int32(desired)
	out.Succeeded = out.Desired - out.Failed
	return out
}

func since(before []kruise.ResourceDistributionCondition, c kruise.ResourceDistributionCondition, now time.Time) metav1.Time {
	for _, b := range before {
		if b.Type == c.Type && b.Status == c.Status {
			return b.LastTransitionTime
		}
	}
	return metav1.NewTime(now.Truncate(time.Second))
}
