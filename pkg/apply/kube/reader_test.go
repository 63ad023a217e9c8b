package kube

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestReader_ListsNewestServedVersion: objects are listed in the newest version that is served; what is not needed
// may be missing, and what is forbidden is named.
func TestReader_ListsNewestServedVersion(t *testing.T) {
	clonesets := schema.GroupResource{Group: kruise.Group, Resource: "clonesets"}
	for name, c := range map[string]struct {
		served  map[string]string
		refused string
		query   objectQuery
		want    string
		skipped string
		err     string
	}{
		"newest version":       {served: kruiseOwn, query: objectQuery{Resource: clonesets, Namespace: "shop"}, want: "v1beta1/api v1beta1/web"},
		"older version":        {served: map[string]string{"apps.kruise.io/v1alpha1/clonesets": "CloneSet"}, query: objectQuery{Resource: clonesets}, want: "v1alpha1/api v1alpha1/web"},
		"one name":             {served: kruiseOwn, query: objectQuery{Resource: clonesets, Name: "web"}, want: "v1beta1/web"},
		"another namespace":    {served: kruiseOwn, query: objectQuery{Resource: clonesets, Namespace: "other"}},
		"labels":               {served: kruiseOwn, query: objectQuery{Resource: clonesets, Selector: "team=red"}, want: "v1beta1/api"},
		"not served":           {query: objectQuery{Resource: clonesets}},
		"not served, needed":   {query: objectQuery{Resource: clonesets, Needed: true}, err: "clonesets: not served"},
		"forbidden":            {served: kruiseOwn, refused: "apps.kruise.io/v1beta1/clonesets", query: objectQuery{Resource: clonesets}, skipped: "clonesets: cannot read clonesets: the test server says Forbidden"},
		"forbidden and needed": {served: kruiseOwn, refused: "apps.kruise.io/v1beta1/clonesets", query: objectQuery{Resource: clonesets, Needed: true}, err: "cannot read clonesets: the test server says Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, c.served)
			for collection := range c.served {
				if strings.HasSuffix(collection, "/clonesets") {
					red := kruiseObject("CloneSet", "shop", "api", selecting("api"))
					red.SetLabels(map[string]string{"team": "red"})
					s.put(t, collection, red)
					s.put(t, collection, kruiseObject("CloneSet", "shop", "web", selecting("web")))
				}
			}
			s.refuse(c.refused, http.StatusForbidden)
			r, got := newReader(dynamic.NewForConfigOrDie(s.config())), []string{}
			c.query.Description = "clonesets"
			err := r.List(t.Context(), c.query, func(u *unstructured.Unstructured) error {
				got = append(got, u.GroupVersionKind().Version+"/"+u.GetName())
				return nil
			})
			if text := strings.Join(got, " "); text != c.want || strings.Join(r.Skipped(), "; ") != c.skipped {
				t.Errorf("%q, skipped %q", text, r.Skipped())
			}
			if (err != nil) != (c.err != "") || err != nil && err.Error() != c.err {
				t.Errorf("%v, want %q", err, c.err)
			}
		})
	}
}

// TestReader_NamesUnreadableObject: an error about one object names it.
func TestReader_NamesUnreadableObject(t *testing.T) {
	s := newAPIServer(t, nil)
	s.put(t, "apps/v1/replicasets", newReplicaSet("shop", "web-1", ""))
	q := objectQuery{Description: "ReplicaSets", Resource: schema.GroupResource{Group: "apps", Resource: "replicasets"}}
	err := newReader(dynamic.NewForConfigOrDie(s.config())).List(t.Context(), q, func(*unstructured.Unstructured) error { return errors.New("broken") })
	if err == nil || err.Error() != "ReplicaSet web-1: broken" {
		t.Error(err)
	}
}

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
