package rules

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// claimList are claim templates, each written NAME=SIZE.
func claimList(list ...string) []corev1.PersistentVolumeClaim {
	var out []corev1.PersistentVolumeClaim
	for _, item := range list {
		name, size, _ := strings.Cut(item, "=")
		c := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		out = append(out, c)
	}
	return out
}

func advancedSet(replicas int32, list ...string) *kruise.StatefulSet {
	return &kruise.StatefulSet{Spec: kruise.StatefulSetSpec{Replicas: &replicas, VolumeClaimTemplates: claimList(list...)}}
}

func nativeSet(list ...string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: claimList(list...)}}
}

func TestCheckClaims_RefusesWhatNoRolloutCanDo(t *testing.T) {
	expanding := advancedSet(3, "data=1Gi", "wal=1Gi")
	expanding.Spec.VolumeClaimUpdateStrategy.Type = kruise.OnPodRollingUpdateVolumeClaimUpdateStrategyType
	for name, c := range map[string]struct {
		old, updated any
		want         string
	}{
		"new in an Advanced StatefulSet": {advancedSet(3, "data=1Gi"), advancedSet(3, "data=1Gi", "wal=1Gi"), "the claim template wal is new"},
		"the first one":                  {advancedSet(3), advancedSet(3, "data=1Gi"), "the claim template data is new"},
		"renamed":                        {advancedSet(3, "data=1Gi"), advancedSet(3, "store=1Gi"), "the claim template store is new"},
		"two":                            {advancedSet(3), advancedSet(3, "data=1Gi", "wal=1Gi"), "the claim templates data, wal are new"},
		"claims expand with pods":        {advancedSet(3, "data=1Gi"), expanding, "the claim template wal is new"},
		"without pods":                   {advancedSet(0, "data=1Gi"), advancedSet(3, "data=1Gi", "wal=1Gi"), ""},
		"all pods go":                    {advancedSet(3, "data=1Gi"), advancedSet(0, "data=1Gi", "wal=1Gi"), ""},
		"larger":                         {advancedSet(3, "data=1Gi"), advancedSet(3, "data=2Gi"), ""},
		"gone":                           {advancedSet(3, "data=1Gi", "wal=1Gi"), advancedSet(3, "data=1Gi"), ""},
		"native, new":                    {nativeSet("data=1Gi"), nativeSet("data=1Gi", "wal=1Gi"), "they are immutable in a StatefulSet of Kubernetes"},
		"native, larger":                 {nativeSet("data=1Gi"), nativeSet("data=2Gi"), "(data)"},
		"native, gone":                   {nativeSet("data=1Gi"), nativeSet(), "(data)"},
		"native, written otherwise":      {nativeSet("data=1Gi"), nativeSet("data=1024Mi"), ""},
		"CloneSet":                       {&kruise.CloneSet{}, &kruise.CloneSet{Spec: kruise.CloneSetSpec{VolumeClaimTemplates: claimList("data=1Gi")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckClaims(&cluster.Workload{Object: c.old}, &cluster.Workload{Object: c.updated})
			if (err != nil) != (c.want != "") || err != nil && (!strings.Contains(err.Msg, c.want) || err.Path != "spec.volumeClaimTemplates" || err.Hint == "") {
				t.Errorf("got %+v, want %q", err, c.want)
			}
		})
	}
}

func TestWarnings_OfClaimsThatStay(t *testing.T) {
	clones := func(list ...string) *cluster.Workload {
		return &cluster.Workload{Object: &kruise.CloneSet{Spec: kruise.CloneSetSpec{VolumeClaimTemplates: claimList(list...)}}}
	}
	expanding := advancedSet(3, "data=2Gi")
	expanding.Spec.VolumeClaimUpdateStrategy.Type = kruise.OnPodRollingUpdateVolumeClaimUpdateStrategyType
	for name, c := range map[string]struct {
		old, updated *cluster.Workload
		e            Eligibility
		want, not    string
	}{
		"in place":            {clones("data=1Gi"), clones("data=2Gi"), Eligibility{Mode: ModeInPlace, Policy: PolicyInPlaceIfPossible}, "RecreatePodWhenChangeVCTInCloneSetGate", ""},
		"in place only":       {clones("data=1Gi"), clones("data=2Gi"), Eligibility{Mode: ModeInPlace, Policy: PolicyInPlaceOnly}, "keep the claims that they have", "Gate"},
		"claims alone":        {clones("data=1Gi"), clones("data=1Gi", "wal=1Gi"), Eligibility{Mode: ModeUnchanged}, "(wal): the claims of existing pods stay", ""},
		"recreated":           {clones("data=1Gi"), clones("data=2Gi"), Eligibility{Mode: ModeRecreate}, "", "claim"},
		"same":                {clones("data=1Gi"), clones("data=1Gi"), Eligibility{Mode: ModeInPlace}, "", "claim"},
		"StatefulSet":         {&cluster.Workload{Object: advancedSet(3, "data=1Gi")}, &cluster.Workload{Object: advancedSet(3, "data=2Gi")}, Eligibility{Mode: ModeUnchanged}, "existing claims stay as they are", "Gate"},
		"StatefulSet expands": {&cluster.Workload{Object: advancedSet(3, "data=1Gi")}, &cluster.Workload{Object: expanding}, Eligibility{Mode: ModeUnchanged}, "StatefulSetAutoResizePVCGate", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(Warnings(c.old, c.updated, c.e), "\n")
			if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("got %q, want %q and not %q", got, c.want, c.not)
			}
		})
	}
}

func TestChange_NamesTheTypeOfADaemonSet(t *testing.T) {
	old, updated := workload(t, &kruise.DaemonSet{}, `{"spec": {"containers": [{"name": "main", "image": "web:1"}]}}`), workload(t, &kruise.DaemonSet{}, `{"spec": {"containers": [{"name": "main", "image": "web:2"}]}}`)
	if e := Change(old, updated, PolicyOf(updated.Object), cluster.Gates{}); e.Mode != ModeRecreate || e.Why != "the rolling update type is Standard" {
		t.Errorf("got %s: %s", e.Mode, e.Why)
	}
}
