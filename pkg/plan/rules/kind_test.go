package rules

import (
	"slices"
	"strings"
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

func TestChange_OfClaimTemplates(t *testing.T) {
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

// TestWarnings_OfEachKind: the warnings of each kind of workload; text is a part of the expected
// one, "" for none.
func TestWarnings_OfEachKind(t *testing.T) {
	yes := true
	cloneSet := func(policy kruise.CloneSetPodUpdateStrategyType, paused bool) *kruise.CloneSet {
		var c kruise.CloneSet
		c.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{PodUpdatePolicy: policy, Paused: paused}
		return &c
	}
	statefulSet := func(paused bool) *kruise.StatefulSet {
		var s kruise.StatefulSet
		s.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateStatefulSetStrategy{PodUpdatePolicy: kruise.InPlaceIfPossiblePodUpdateStrategyType, Paused: paused}
		return &s
	}
	daemonSet := func(kind kruise.RollingUpdateType, paused *bool) *kruise.DaemonSet {
		var d kruise.DaemonSet
		d.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateDaemonSet{RollingUpdateType: kind, Paused: paused}
		return &d
	}
	onDeleted := func(obj any) any {
		switch o := obj.(type) {
		case *kruise.CloneSet:
			o.Spec.UpdateStrategy.Type = kruise.OnDeleteCloneSetStrategyType
		case *kruise.StatefulSet:
			o.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		case *kruise.DaemonSet:
			o.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		case *appsv1.StatefulSet:
			o.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		case *appsv1.DaemonSet:
			o.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		}
		return obj
	}
	const gated = `{"spec": {"readinessGates": [{"conditionType": "Other"}, {"conditionType": "InPlaceUpdateReady"}]}}`
	var notUpdate, pausedSidecars kruise.SidecarSet
	notUpdate.Spec.UpdateStrategy.Type = kruise.NotUpdateSidecarSetStrategyType
	pausedSidecars.Spec.UpdateStrategy.Paused = true
	var paused appsv1.Deployment
	paused.Spec.Paused = true
	for name, c := range map[string]struct {
		old, updated any
		version      string
		template     string
		e            Eligibility
		want         string
	}{
		"a plain CloneSet":               {updated: cloneSet("InPlaceIfPossible", false), want: ""},
		"a paused one":                   {updated: cloneSet("ReCreate", true), want: "is paused"},
		"another policy":                 {old: cloneSet("ReCreate", false), updated: cloneSet("InPlaceOnly", false), want: "from ReCreate to InPlaceOnly"},
		"deletion only":                  {updated: onDeleted(&kruise.CloneSet{}), want: "OnDelete"},
		"deletion only, StatefulSet":     {updated: onDeleted(&kruise.StatefulSet{}), want: "OnDelete"},
		"deletion only, DaemonSet":       {updated: onDeleted(&kruise.DaemonSet{}), want: "OnDelete"},
		"deletion only, native":          {updated: onDeleted(&appsv1.StatefulSet{}), want: "OnDelete"},
		"deletion only, native daemons":  {updated: onDeleted(&appsv1.DaemonSet{}), want: "OnDelete"},
		"a StatefulSet without the gate": {updated: statefulSet(false), template: "{}", want: "admission refuses an in-place policy"},
		"a StatefulSet with it":          {updated: statefulSet(false), template: gated, want: ""},
		"a paused StatefulSet":           {updated: statefulSet(true), template: gated, want: "is paused"},
		"a DaemonSet":                    {updated: daemonSet("InPlaceIfPossible", nil), want: ""},
		"a paused DaemonSet":             {updated: daemonSet("Standard", &yes), want: "is paused"},
		"sidecars for new pods":          {updated: &notUpdate, want: "NotUpdate"},
		"paused sidecars":                {updated: &pausedSidecars, want: "is paused"},
		"a ReplicaSet":                   {updated: &appsv1.ReplicaSet{}, want: "a ReplicaSet updates no pod"},
		"a paused Deployment":            {updated: &paused, want: "is paused"},
		"a Deployment":                   {updated: &appsv1.Deployment{}, want: ""},
		"not allowed, new CloneSet":      {updated: cloneSet("InPlaceOnly", false), version: "v1beta1", e: Eligibility{Mode: ModeNotAllowed}, want: "no event explains why"},
		"not allowed, old CloneSet":      {updated: cloneSet("InPlaceOnly", false), version: "v1alpha1", e: Eligibility{Mode: ModeNotAllowed}, want: "admission refuses the change"},
		"not allowed, StatefulSet":       {updated: statefulSet(false), template: gated, e: Eligibility{Mode: ModeNotAllowed}, want: "admission refuses the change"},
		"not allowed, sidecars":          {updated: &kruise.SidecarSet{}, e: Eligibility{Mode: ModeNotAllowed}, want: "until they are recreated"},
		"a restart that is none":         {updated: cloneSet("InPlaceIfPossible", false), e: Eligibility{Mode: ModeMetadataOnly, Fields: []FieldChange{{Path: `metadata.annotations["kubectl.kubernetes.io/restartedAt"]`}}}, want: "restarts nothing"},
		"a label":                        {updated: cloneSet("InPlaceIfPossible", false), e: Eligibility{Mode: ModeMetadataOnly, Fields: []FieldChange{{Path: "metadata.labels.a"}}}, want: ""},
	} {
		if c.old == nil {
			c.old = c.updated
		}
		w := &cluster.Workload{Object: c.updated, Version: c.version}
		if c.template != "" {
			w.Template = decoded(t, c.template)
		}
		got := Warnings(&cluster.Workload{Object: c.old}, w, c.e)
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %q, want nothing", name, got)
		case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWarnings_OfConvertedDaemonSet: two things at once.
func TestWarnings_OfConvertedDaemonSet(t *testing.T) {
	var inPlace kruise.DaemonSet
	inPlace.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateDaemonSet{RollingUpdateType: kruise.InPlaceIfPossibleRollingUpdateType}
	got := Warnings(&cluster.Workload{Object: &kruise.DaemonSet{}}, &cluster.Workload{Object: &inPlace}, Eligibility{})
	if len(got) != 2 || !strings.Contains(got[1], "created under Standard") {
		t.Errorf("%q", got)
	}
}
