package kube

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestSurroundings_OfEachKind: each kind has its own surroundings.
func TestSurroundings_OfEachKind(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	ref := func(group, kind, namespace string) cluster.Ref {
		return cluster.Ref{Group: group, Kind: kind, Namespace: namespace, Name: "web"}
	}
	for name, c := range map[string]struct {
		workload *cluster.Workload
		want     map[string]string
	}{
		"Deployment": {
			&cluster.Workload{Ref: ref("apps", "Deployment", "shop"), Object: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: selector}}},
			map[string]string{"pods": "shop app=web needed", "ReplicaSets": "shop app=web needed", "PodDisruptionBudgets": "shop", "PodUnavailableBudgets": "shop"},
		},
		"StatefulSet": {
			&cluster.Workload{Ref: ref("apps", "StatefulSet", "shop"), Object: &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Selector: selector}}},
			map[string]string{"pods": "shop app=web needed", "stored revisions": "shop app=web", "PodDisruptionBudgets": "shop", "PodUnavailableBudgets": "shop"},
		},
		"DaemonSet": {
			&cluster.Workload{Ref: ref("apps", "DaemonSet", "shop"), Object: &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: selector}}},
			map[string]string{"pods": "shop app=web needed", "stored revisions": "shop app=web", "nodes": "needed", "PodDisruptionBudgets": "shop", "PodUnavailableBudgets": "shop"},
		},
		"SidecarSet": {
			&cluster.Workload{Ref: ref(kruise.Group, "SidecarSet", ""), Object: &kruise.SidecarSet{Spec: kruise.SidecarSetSpec{Selector: selector}}},
			map[string]string{"pods": "app=web needed", "stored revisions": "kruise-system kruise.io/sidecarset-name=web", "namespaces": "", "PodDisruptionBudgets": "", "PodUnavailableBudgets": ""},
		},
		"Pod": {
			&cluster.Workload{Ref: ref("", "Pod", "shop"), Object: &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Selector: selector}}},
			map[string]string{"pods": "shop web needed", "PodDisruptionBudgets": "shop", "PodUnavailableBudgets": "shop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			around, err := surroundingsOf(c.workload)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, q := range []*objectQuery{around.Pods, around.ReplicaSets, around.Revisions, around.Nodes, around.Namespaces, around.Disruptions, around.Budgets} {
				if q == nil {
					continue
				}
				text := q.Namespace + " " + q.Selector + q.Name
				if q.Needed {
					text += " needed"
				}
				got[q.Description] = strings.Join(strings.Fields(text), " ")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
