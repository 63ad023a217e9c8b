package migrate

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	discovery "k8s.io/client-go/discovery/fake"
	dynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/restmapper"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var (
	web     = migrate.Workload{Group: "apps", Kind: "Deployment", Name: "web"}
	clones  = migrate.Workload{Group: "apps.kruise.io", Kind: "CloneSet", Name: "web"}
	asClone = schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"}
	vpas    = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}
	scaleds = schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
	pubs    = schema.GroupVersionResource{Group: "policy.kruise.io", Version: "v1alpha1", Resource: "podunavailablebudgets"}
)

const surroundings = `[
{"apiVersion":"autoscaling.k8s.io/v1","kind":"VerticalPodAutoscaler","metadata":{"name":"web","namespace":"shop","uid":"1"},"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}},
{"apiVersion":"autoscaling.k8s.io/v1","kind":"VerticalPodAutoscaler","metadata":{"name":"other","namespace":"shop","uid":"2"},"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"other"}}},
{"apiVersion":"keda.sh/v1alpha1","kind":"ScaledObject","metadata":{"name":"web","namespace":"shop","uid":"3"},"spec":{"scaleTargetRef":{"name":"web"}}},
{"apiVersion":"keda.sh/v1alpha1","kind":"ScaledObject","metadata":{"name":"paused","namespace":"shop","uid":"4","annotations":{"autoscaling.keda.sh/paused":"true"}},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}},
{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"keda-hpa-web","namespace":"shop","uid":"5","ownerReferences":[{"apiVersion":"keda.sh/v1alpha1","kind":"ScaledObject","name":"web","uid":"3","controller":true}]},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}},
{"apiVersion":"policy.kruise.io/v1alpha1","kind":"PodUnavailableBudget","metadata":{"name":"web","namespace":"shop","uid":"6","labels":{"team":"shop"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"maxUnavailable":1,"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}},"status":{"totalReplicas":4,"currentAvailable":3}}
]`

// around is a client of a cluster that has these.
func around(t *testing.T) *Client {
	t.Helper()
	var list []*unstructured.Unstructured
	if err := json.Unmarshal([]byte(surroundings), &list); err != nil {
		t.Fatal(err)
	}
	var objects []runtime.Object
	for _, o := range list {
		objects = append(objects, o)
	}
	served := &discovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	for version, kind := range map[string]metav1.APIResource{
		"autoscaling.k8s.io/v1":     {Name: vpas.Resource, Kind: "VerticalPodAutoscaler", Namespaced: true},
		"keda.sh/v1alpha1":          {Name: scaleds.Resource, Kind: "ScaledObject", Namespaced: true},
		"policy.kruise.io/v1alpha1": {Name: pubs.Resource, Kind: "PodUnavailableBudget", Namespaced: true},
	} {
		served.Resources = append(served.Resources, &metav1.APIResourceList{GroupVersion: version, APIResources: []metav1.APIResource{kind}})
	}
	return &Client{
		namespace: "shop", mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served)),
		dynamic: dynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
			vpas: "VerticalPodAutoscalerList", scaleds: "ScaledObjectList", pubs: "PodUnavailableBudgetList",
			scalers: "HorizontalPodAutoscalerList", services: "ServiceList", budgets: "PodDisruptionBudgetList",
		}, objects...),
	}
}

func (c *Client) spec(t *testing.T, gvr schema.GroupVersionResource, name, field string) (target migrate.Workload, annotations map[string]string) {
	t.Helper()
	u, err := c.resource(gvr).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return targetOf(u, field), u.GetAnnotations()
}

// TestFollow_PointsAtNewWorkload: what names the workload follows; a targetRef that cannot change has a
// twin before, and goes afterwards. Doing it twice changes nothing.
func TestFollow_PointsAtNewWorkload(t *testing.T) {
	c := around(t)
	a, err := c.Surroundings(t.Context(), web, clones, map[string]string{"app": "web"}, map[string]string{"app": "web"})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Followers) != 2 || len(a.Skipped) > 0 || len(a.Uncovered) > 0 {
		t.Fatalf("%+v", a)
	}
	if len(a.Budgets) != 1 || a.Budgets[0].Name != "podunavailablebudget/web" || a.Budgets[0].Expected != 4 || a.Budgets[0].Healthy != 3 {
		t.Errorf("budgets %+v", a.Budgets)
	}
	for range 2 {
		if err := c.createTwins(t.Context(), a.Followers, asClone, clones); err != nil {
			t.Fatal(err)
		}
	}
	twin, err := c.resource(pubs).Get(t.Context(), "web-cloneset", metav1.GetOptions{})
	if err != nil || targetOf(twin, "targetRef") != clones || twin.GetLabels()["team"] != "shop" || len(twin.GetAnnotations()) > 0 || twin.GetUID() != "" {
		t.Errorf("%v, %v", twin, err)
	}
	for range 2 {
		if err := c.follow(t.Context(), a.Followers, asClone, clones); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := c.spec(t, vpas, "web", "targetRef"); got != clones {
		t.Errorf("the VerticalPodAutoscaler follows %v", got)
	}
	if got, _ := c.spec(t, vpas, "other", "targetRef"); got.Name != "other" {
		t.Errorf("another's follows %v", got)
	}
	if _, err := c.resource(pubs).Get(t.Context(), "web", metav1.GetOptions{}); err == nil {
		t.Error("the budget of the old workload is left")
	}
}

// TestScaler_PausesKEDA: a ScaledObject is paused meanwhile, and loses what it created. One that a
// user had paused stays paused.
func TestScaler_PausesKEDA(t *testing.T) {
	c := around(t)
	a, err := c.Surroundings(t.Context(), web, clones, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Scalers) != 3 {
		t.Fatalf("scalers %+v", a.Scalers)
	}
	for range 2 {
		for _, s := range a.Scalers {
			if err := c.suspendScaler(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	target, notes := c.spec(t, scaleds, "web", "scaleTargetRef")
	if target.Name != "web" || notes[kedaPause] != "true" || notes[migrate.Annotation] == "" {
		t.Errorf("meanwhile: %v %v", target, notes)
	}
	for range 2 {
		for _, s := range a.Scalers {
			if err := c.pointScaler(t.Context(), s, asClone, clones); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, paused := range map[string]string{"web": "", "paused": "true"} {
		if target, notes := c.spec(t, scaleds, name, "scaleTargetRef"); target != clones || notes[kedaPause] != paused || notes[migrate.Annotation] != "" {
			t.Errorf("%s afterwards: %v %v", name, target, notes)
		}
	}
	if target, _ := c.spec(t, scalers, "keda-hpa-web", "scaleTargetRef"); target != web {
		t.Errorf("what KEDA made was changed to %v", target)
	}
}

func TestTwin_NameEndsWithTheKind(t *testing.T) {
	for name, c := range map[string]struct {
		from, to migrate.Workload
		want     string
	}{
		"web":          {web, clones, "web-cloneset"},
		"web-cloneset": {clones, web, "web"},
		"budget":       {clones, web, "budget-deployment"},
		"-cloneset":    {clones, web, "-cloneset-deployment"},
	} {
		if got := twin(name, c.from, c.to); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
