package kruise_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestWritten(t *testing.T) {
	const rolling = "spec.updateStrategy.rollingUpdate."
	for _, c := range []struct{ version, path, want string }{
		{"v1beta1", rolling + "partition", rolling + "partition"},
		{"v1alpha1", rolling + "partition", "spec.updateStrategy.partition"},
		{"v1alpha1", rolling + "scatterStrategy[1].key", "spec.updateStrategy.scatterStrategy[1].key"},
		{"v1alpha1", rolling + "podUpdatePolicy", "spec.updateStrategy.type"},
		{"v1alpha1", "spec.scaleStrategy.enablePVCReuse", "spec.scaleStrategy.disablePVCReuse"},
		{"v1alpha1", "spec.scaleStrategy.excludePreparingDelete", "metadata.labels[" + kruise.CloneSetScalingExcludePreparingDeleteLabel + "]"},
		{"v1alpha1", "metadata.labels[a.b/c]", "metadata.labels[a.b/c]"},
		{"v9", rolling + "partition", rolling + "partition"},
	} {
		if got := kruise.Written(written(t, "CloneSet", c.version, "{}"), c.path); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.version, c.path, got, c.want)
		}
	}
	if got := kruise.Written(parse(t, "{apiVersion: v1, kind: Pod}"), rolling+"partition"); got != rolling+"partition" {
		t.Errorf("a Pod: %s", got)
	}
}

func TestServes(t *testing.T) {
	for _, c := range []struct {
		group, kind, version string
		want                 bool
	}{
		{kruise.Group, "CloneSet", kruise.V1beta1, true},
		{kruise.Group, "CloneSet", kruise.V1alpha1, true},
		{kruise.Group, "EphemeralJob", kruise.V1beta1, false},
		{kruise.PolicyGroup, "PodUnavailableBudget", kruise.V1beta1, true},
		{kruise.Group, "PodUnavailableBudget", kruise.V1beta1, false},
		{"apps", "Deployment", "v1", false},
	} {
		if got := kruise.Serves(c.group, c.kind, c.version); got != c.want {
			t.Errorf("%s %s %s: %v", c.group, c.kind, c.version, got)
		}
	}
}
