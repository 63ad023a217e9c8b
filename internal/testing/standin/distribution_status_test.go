package standin

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestDistributionStatus_SortsConflicts(t *testing.T) {
	r := distributionReport{}
	r.add("ConflictOccurred", "b", "theirs")
	r.add("ConflictOccurred", "a", "theirs")
	r.add("NamespaceNotExists", "c", "none")
	r.add("DeleteResourceFailed", "d", "refused")
	s := r.status(&kruise.ResourceDistribution{}, 5, noon)
	if s.Desired != 6 || s.Failed != 3 || s.Succeeded != 3 {
		t.Errorf("%d of %d, %d failed", s.Succeeded, s.Desired, s.Failed)
	}
	var kinds []string
	for _, c := range s.Conditions {
		kinds = append(kinds, c.Type)
		if c.Type == "ConflictOccurred" && (c.Status != corev1.ConditionTrue || !slices.Equal(c.FailedNamespaces, []string{"a", "b"})) {
			t.Errorf("%+v", c)
		}
		if c.Type == "CreateResourceFailed" && (c.Status != corev1.ConditionFalse || c.Reason != "Succeeded") {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Equal(kinds, troubles) {
		t.Errorf("%v", kinds)
	}
	later := r.status(&kruise.ResourceDistribution{Status: s}, 5, noon.AddDate(1, 0, 0))
	if !later.Conditions[0].LastTransitionTime.Equal(&s.Conditions[0].LastTransitionTime) {
		t.Error("a condition that stays has another time")
	}
}
