package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestLimitsOfCloneSet(t *testing.T) {
	for _, c := range []struct {
		name     string
		replicas int32
		rolling  *kruise.RollingUpdateCloneSetStrategy
		scale    string
		want     CloneSetLimits
	}{
		{
			name: "defaults", replicas: 10, rolling: &kruise.RollingUpdateCloneSetStrategy{},
			want: CloneSetLimits{10, 0, 2, 0, Unlimited},
		},
		{
			name: "20% of 7 without surge is rounded up", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%")},
			want:    CloneSetLimits{7, 0, 2, 0, Unlimited},
		},
		{
			name: "20% of 7 with surge is rounded down", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%"), MaxSurge: value("1")},
			want:    CloneSetLimits{7, 0, 1, 1, Unlimited},
		},
		{
			name: "paused has no surge and rounds up again", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%"), MaxSurge: value("1"), Paused: true},
			want:    CloneSetLimits{7, 0, 2, 0, Unlimited},
		},
		{
			name: "surge as a percentage is rounded up", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("1"), MaxSurge: value("20%")},
			want:    CloneSetLimits{7, 0, 1, 2, Unlimited},
		},
		{
			name: "20% of 3 with surge is nothing (016)", replicas: 3,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%"), MaxSurge: value("1")},
			want:    CloneSetLimits{3, 0, 0, 1, Unlimited},
		},
		{
			name: "a fractional percentage is nothing", replicas: 10,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("33.3%")},
			want:    CloneSetLimits{10, 0, 0, 0, Unlimited},
		},
		{name: "without rollingUpdate 20% of 4 is none (005)", replicas: 4, want: CloneSetLimits{4, 0, 0, 0, Unlimited}},
		{name: "without rollingUpdate 20% of 5 is one (092)", replicas: 5, want: CloneSetLimits{5, 0, 1, 0, Unlimited}},
		{
			name: "the scale limit is rounded up", replicas: 10, scale: "25%",
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("1")},
			want:    CloneSetLimits{10, 0, 1, 0, 3},
		},
		{
			name: "partition", replicas: 10,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("1"), Partition: value("60%")},
			want:    CloneSetLimits{10, 6, 1, 0, Unlimited},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := &kruise.CloneSetSpec{Replicas: &c.replicas}
			spec.UpdateStrategy.RollingUpdate = c.rolling
			if c.scale != "" {
				spec.ScaleStrategy.MaxUnavailable = value(c.scale)
			}
			got := LimitsOfCloneSet(spec)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.ExpectedUpdated() != c.want.Replicas-c.want.Partition {
				t.Errorf("ExpectedUpdated() = %d", got.ExpectedUpdated())
			}
		})
	}
	if got := LimitsOfCloneSet(&kruise.CloneSetSpec{}).Replicas; got != 1 {
		t.Errorf("replicas without a value = %d, want 1", got)
	}
}
