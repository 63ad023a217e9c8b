package rules

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestForecast_OfManyPodsIsQuick: the smallest budget makes the most passes.
func TestForecast_OfManyPodsIsQuick(t *testing.T) {
	set := crowd(2000)
	set.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{
		MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
	}
	began := time.Now()
	got := set.Forecast(2000, func(*cluster.Pod) UpdateMode { return ModeInPlace }).Take(2000)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Log(took)
	}
	surplus := 0
	for _, r := range got {
		if r.Surplus {
			surplus++
		}
	}
	if surplus != 1 {
		t.Errorf("%d of %d pods give way to a surge pod, want 1", surplus, len(got))
	}
}
