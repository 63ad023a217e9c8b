package rules

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func TestPolicyOf(t *testing.T) {
	clone := func(r *kruise.RollingUpdateCloneSetStrategy) *kruise.CloneSet {
		var c kruise.CloneSet
		c.Spec.UpdateStrategy.RollingUpdate = r
		return &c
	}
	var set kruise.StatefulSet
	set.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateStatefulSetStrategy{PodUpdatePolicy: kruise.InPlaceOnlyPodUpdateStrategyType}
	var daemons, surging kruise.DaemonSet
	daemons.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateDaemonSet{RollingUpdateType: kruise.InPlaceIfPossibleRollingUpdateType}
	surging.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateDaemonSet{RollingUpdateType: kruise.StandardRollingUpdateType}
	for i, c := range []struct {
		obj  any
		want UpdatePolicy
		all  int
	}{
		{clone(nil), PolicyRecreate, 3},
		{clone(&kruise.RollingUpdateCloneSetStrategy{}), PolicyRecreate, 3},
		{clone(&kruise.RollingUpdateCloneSetStrategy{PodUpdatePolicy: "InPlaceIfPossible"}), PolicyInPlaceIfPossible, 3},
		{&set, PolicyInPlaceOnly, 3},
		{&kruise.StatefulSet{}, PolicyRecreate, 3},
		{&daemons, PolicyInPlaceIfPossible, 2},
		{&surging, PolicyRecreate, 2},
		{&kruise.DaemonSet{}, PolicyRecreate, 2},
		{&kruise.SidecarSet{}, PolicyInPlaceOnly, 1},
		{&appsv1.Deployment{}, PolicyRecreate, 1},
		{nil, PolicyRecreate, 1},
	} {
		if got := PolicyOf(c.obj); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
		all := PoliciesOf(c.obj)
		if len(all) != c.all || !slices.Contains(all, c.want) {
			t.Errorf("%d: policies %v", i, all)
		}
	}
}

func workload(t *testing.T, obj any, template string) *cluster.Workload {
	t.Helper()
	return &cluster.Workload{Object: obj, Template: decoded(t, template)}
}

func TestChange(t *testing.T) {
	old, updated := `{"spec": {"containers": [{"name": "main", "image": "web:1"}]}}`, `{"spec": {"containers": [{"name": "main", "image": "web:2"}]}}`
	for _, policy := range []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible} {
		want := TemplateChange{Old: cluster.Revision{Template: decoded(t, old)}, New: cluster.Revision{Template: decoded(t, updated)}, Policy: policy}.Eligible()
		got := Change(workload(t, &kruise.CloneSet{}, old), workload(t, &kruise.CloneSet{}, updated), policy, cluster.Gates{})
		if got.Mode != want.Mode || got.Why != want.Why {
			t.Errorf("%s: %+v, want %+v", policy, got, want)
		}
	}
	sidecars := Change(workload(t, &kruise.SidecarSet{}, `{"containers": [{"name": "m", "image": "m:1"}]}`),
		workload(t, &kruise.SidecarSet{}, `{"containers": [{"name": "m", "image": "m:2"}]}`), PolicyInPlaceOnly, cluster.Gates{})
	if sidecars.Mode != ModeInPlace || !slices.Equal(sidecars.Restarts, []string{"m"}) {
		t.Errorf("a SidecarSet: %+v", sidecars)
	}
}

func TestChangeOfClaimTemplates(t *testing.T) {
	var more kruise.CloneSet
	more.Spec.VolumeClaimTemplates = make([]corev1.PersistentVolumeClaim, 1)
	old, updated := `{"metadata": {"labels": {"a": "1"}}}`, `{"metadata": {"labels": {"a": "2"}}}`
	for gate, want := range map[bool]UpdateMode{false: ModeMetadataOnly, true: ModeRecreate} {
		got := Change(workload(t, &kruise.CloneSet{}, old), workload(t, &more, updated), PolicyInPlaceIfPossible, cluster.Gates{RecreatePodWhenChangeVCT: gate})
		if got.Mode != want {
			t.Errorf("gate %v: %+v", gate, got)
		}
	}
}
