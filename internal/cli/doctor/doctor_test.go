package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	discoveryfake "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/rbac"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// clinic is a cluster that can be made ill.
type clinic struct {
	version   version.Info
	kinds     []string
	manager   *appsv1.Deployment
	hooks     int
	addresses []string
	nodes     []string
	agents    []string
	denied    string
	// silent has the server not tell all rules; asked counts what it is asked instead.
	silent bool
	asked  *int
	crds   []runtime.Object
	off    time.Duration
}

// healthy is a cluster with all of Kruise.
func healthy() *clinic {
	c := &clinic{
		version: version.Info{Major: "1", Minor: "36+", GitVersion: "v1.36.3"}, hooks: 2, addresses: []string{"10.0.0.1"},
		asked: new(int), nodes: []string{"a", "b"}, agents: []string{"a", "b"}, crds: []runtime.Object{definition("True", "v1beta1", "Webhook")},
		manager: &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "kruise-controller-manager", Namespace: kruise.DefaultNamespace, Labels: map[string]string{"control-plane": "controller-manager"}},
			Status:     appsv1.DeploymentStatus{Replicas: 2, ReadyReplicas: 2},
		},
	}
	c.manager.Spec.Template.Spec.Containers = []corev1.Container{{
		Image: "openkruise/kruise-manager:v1.9.0", Args: []string{"--v=4", "--feature-gates=ImagePullJobGate=true,ResourceDistributionGate=true"},
	}}
	for _, k := range kruise.Kinds() {
		c.kinds = append(c.kinds, k.Kind)
	}
	return c
}

func definition(established, stored, conversion string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "clonesets.apps.kruise.io"},
		"spec": map[string]any{
			"group": kruise.Group, "versions": []any{map[string]any{"name": "v1alpha1"}, map[string]any{"name": "v1beta1"}},
			"conversion": map[string]any{"strategy": conversion},
		},
		"status": map[string]any{
			"storedVersions": []any{stored}, "conditions": []any{map[string]any{"type": "Established", "status": established}},
		},
	}}
}

// unconverted is a definition of a kind without conversion.
func unconverted(kind string) *unstructured.Unstructured {
	d := definition("True", "v1beta1", "None")
	_ = unstructured.SetNestedField(d.Object, kind, "spec", "names", "kind")
	return d
}

// TestFaults_ConversionNone: six kinds of Kruise are shipped with two versions and no
// conversion between them, since no field of theirs is renamed.
func TestFaults_ConversionNone(t *testing.T) {
	var fine []string
	for _, k := range kruise.Kinds() {
		if len(k.Versions) > 1 && !isUnconverted(unconverted(k.Kind).Object) {
			fine = append(fine, k.Kind)
		}
	}
	if got := strings.Join(fine, " "); got != "AdvancedCronJob BroadcastJob ImageListPullJob ImagePullJob NodeImage StatefulSet" {
		t.Error(got)
	}
}

// patient is the inspection of fakes that are made of it.
func (c *clinic) patient() *inspection {
	objects, dynamic := []runtime.Object{}, slices.Clone(c.crds)
	if c.manager != nil {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.manager)
		if err != nil {
			panic(err)
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
		dynamic = append(dynamic, u)
	}
	for _, name := range c.nodes {
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, name := range c.agents {
		objects = append(objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "daemon-" + name, Namespace: kruise.DefaultNamespace, Labels: map[string]string{"control-plane": "daemon"}},
			Spec:       corev1.PodSpec{NodeName: name},
			Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "Ready", Status: "True"}}},
		})
	}
	objects = append(objects, c.admission()...)
	core := fake.NewClientset(objects...)
	c.discovery(core)
	c.authorization(core)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return &inspection{
		core: core, namespace: "shop", clocks: fixedClocks{at, c.off},
		objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(
			runtime.NewScheme(), map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList", {Group: "apps", Version: "v1", Resource: "deployments"}: "DeploymentList"}, dynamic...,
		),
	}
}

// fixedClocks are a server's that stands still, and one that differs from it.
type fixedClocks struct {
	at  time.Time
	off time.Duration
}

func (c fixedClocks) there(context.Context) (time.Time, error) { return c.at, nil }
func (c fixedClocks) here() time.Time                          { return c.at.Add(c.off) }

// authorization allows everything but what is denied.
func (c *clinic) authorization(core *fake.Clientset) {
	core.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		review.Status.Allowed = review.Spec.ResourceAttributes.Resource != c.denied
		*c.asked++
		return true, review, nil
	})
	core.PrependReactor("create", "selfsubjectrulesreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectRulesReview).DeepCopy()
		if c.silent {
			review.Status.Incomplete = true
			return true, review, nil
		}
		drivers := []plan.Driver{plan.DriverKruise, plan.DriverNative, plan.DriverClient}
		for _, n := range rbac.All(drivers, append([]rbac.Feature{rbac.Apply}, rbac.Features...)) {
			if n.Resource != c.denied && (n.Where == rbac.Everywhere) == (review.Spec.Namespace == unusedNamespace) {
				review.Status.ResourceRules = append(review.Status.ResourceRules, authorizationv1.ResourceRule{
					Verbs: []string{n.Verb}, APIGroups: []string{n.Group}, Resources: []string{n.Path()},
				})
			}
		}
		return true, review, nil
	})
}

func (c *clinic) discovery(core *fake.Clientset) {
	d := core.Discovery().(*discoveryfake.FakeDiscovery)
	d.FakedServerVersion = &c.version
	list := &metav1.APIResourceList{GroupVersion: kruise.Group + "/v1beta1", APIResources: []metav1.APIResource{{Name: "clonesets/scale", Kind: "Scale"}}}
	old := &metav1.APIResourceList{GroupVersion: kruise.Group + "/v1alpha1"}
	for _, kind := range c.kinds {
		at := list
		if !kruise.Serves(kruise.Group, kind, "v1beta1") && kruise.Serves(kruise.Group, kind, "v1alpha1") {
			at = old
		}
		at.APIResources = append(at.APIResources, metav1.APIResource{Name: strings.ToLower(kind) + "s", Kind: kind})
	}
	if len(c.kinds) > 0 {
		d.Resources = []*metav1.APIResourceList{list, old}
	}
}

func (c *clinic) admission() []runtime.Object {
	ca := []byte("x")
	if c.hooks == 1 {
		ca = nil
	}
	client := admissionv1.WebhookClientConfig{CABundle: ca, Service: &admissionv1.ServiceReference{Namespace: kruise.DefaultNamespace, Name: "kruise-webhook-service"}}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: kruise.DefaultNamespace, Labels: map[string]string{"kubernetes.io/service-name": "kruise-webhook-service"}},
	}
	if len(c.addresses) > 0 {
		slice.Endpoints = []discoveryv1.Endpoint{{Addresses: c.addresses}}
	}
	if c.hooks == 0 {
		return []runtime.Object{slice}
	}
	return []runtime.Object{
		slice,
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Webhooks: []admissionv1.MutatingWebhook{{Name: "mpod.kb.io", ClientConfig: client}}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Webhooks: []admissionv1.ValidatingWebhook{{Name: "vpod.kb.io", ClientConfig: client}}},
	}
}

func TestDoctor_OfAHealthyCluster(t *testing.T) {
	lines := healthy().patient().checkAll(t.Context())
	for _, l := range lines {
		if l.Status != okVerdict {
			t.Errorf("%+v", l)
		}
	}
	if !slices.ContainsFunc(lines, func(l verdictLine) bool { return l.Topic == "release" && strings.Contains(l.Text, "Kruise") }) {
		t.Errorf("no release in %+v", lines)
	}
	if len(lines) < 14 {
		t.Errorf("%d lines: %+v", len(lines), lines)
	}
}

// TestDoctor_ReportsEachProblemInOneLine: each illness has its line, and no other one.
func TestDoctor_ReportsEachProblemInOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(*clinic)
		status verdictStatus
		says   string
	}{
		"an old server":         {func(c *clinic) { c.version.Minor = "28" }, warnVerdict, "this program knows 1.29 to 1.37"},
		"a strange server":      {func(c *clinic) { c.version.Minor = "x" }, warnVerdict, "is not understood"},
		"a kind is missing":     {func(c *clinic) { c.kinds = c.kinds[1:] }, warnVerdict, "not served: AdvancedCronJob"},
		"a kind is unknown":     {func(c *clinic) { c.kinds = append(c.kinds, "Novelty") }, warnVerdict, "not known to this program: Novelty"},
		"not established":       {func(c *clinic) { c.crds[0] = definition("False", "v1beta1", "Webhook") }, fail, "is not established"},
		"stored as what is not": {func(c *clinic) { c.crds[0] = definition("True", "v1", "Webhook") }, fail, "stored as v1, which"},
		"no conversion":         {func(c *clinic) { c.crds[0] = definition("True", "v1beta1", "None") }, warnVerdict, "no conversion"},
		"no controllers":        {func(c *clinic) { c.manager = nil }, warnVerdict, "no controllers"},
		"none is ready":         {func(c *clinic) { c.manager.Status.ReadyReplicas = 0 }, fail, "none of its controllers is ready"},
		"a gate is off": {
			func(c *clinic) {
				c.manager.Spec.Template.Spec.Containers[0].Args = []string{"--feature-gates", "ImagePullJobGate=true"}
			}, warnVerdict, "every ResourceDistribution is refused",
		},
		"no webhooks":         {func(c *clinic) { c.hooks = 0 }, warnVerdict, "none in namespace"},
		"no certificate":      {func(c *clinic) { c.hooks = 1 }, fail, "no certificate authority"},
		"no endpoint answers": {func(c *clinic) { c.addresses = nil }, fail, "no endpoint for kruise-webhook-service: mpod.kb.io, vpod.kb.io"},
		"a node has no agent": {func(c *clinic) { c.agents = c.agents[:1] }, warnVerdict, "not ready on 1 of 2 nodes: b"},
		"a clock is slow":     {func(c *clinic) { c.off = -time.Minute }, warnVerdict, "differs from the server's by 1m"},
	} {
		t.Run(name, func(t *testing.T) {
			ill := healthy()
			c.harm(ill)
			var odd []verdictLine
			for _, l := range ill.patient().checkAll(t.Context()) {
				if l.Status != okVerdict {
					odd = append(odd, l)
				}
			}
			if len(odd) != 1 || odd[0].Status != c.status || !strings.Contains(odd[0].Text, c.says) {
				t.Errorf("%+v; want %s: %s", odd, c.status, c.says)
			}
		})
	}
}

// TestDoctor_HintsKeepTheConnection: a command in a hint of doctor asks the same cluster where it is
// copied, in the namespace of Kruise's controllers.
func TestDoctor_HintsKeepTheConnection(t *testing.T) {
	ill, prod, shop := healthy(), "prod", "shop"
	ill.manager.Status.ReadyReplicas = 0
	f := factory.New(factory.Streams{})
	f.Flags.Context, f.Flags.Namespace = &prod, &shop
	want, found := "kubectl -n kruise-system describe deployment kruise-controller-manager --context prod", false
	for _, l := range ill.patient().checkAll(t.Context()) {
		if l.Status == fail {
			found = true
			if got := f.Copyable(l.Hint); got != want {
				t.Errorf("hint of %q: got %q, want %q", l.Text, got, want)
			}
		}
	}
	if !found {
		t.Error("controllers that are not ready are no failure")
	}
}

// TestDoctor_WithoutKruise: that is no illness, and nothing of Kruise is asked for.
func TestDoctor_WithoutKruise(t *testing.T) {
	c := healthy()
	c.kinds, c.manager, c.agents = nil, nil, nil
	for _, l := range c.patient().checkAll(t.Context()) {
		if l.Status != okVerdict || strings.Contains(l.Text, "driver kruise") {
			t.Errorf("%+v", l)
		}
	}
}

// TestDoctor_WithoutPermissions checks that missing permissions are named, and that single reviews
// are asked only if the server does not list all rules.
func TestDoctor_WithoutPermissions(t *testing.T) {
	for name, silent := range map[string]bool{"rules": false, "one by one": true} {
		t.Run(name, func(t *testing.T) {
			c := healthy()
			c.denied, c.silent = "leases", silent
			found := 0
			for _, l := range c.patient().checkAll(t.Context()) {
				if l.Status == warnVerdict && strings.HasPrefix(l.Text, "rollout with driver ") && strings.Contains(l.Text, "create leases.coordination.k8s.io") &&
					strings.HasPrefix(l.Hint, "'kubectl kruise rbac --driver ") {
					found++
				}
			}
			if found != 3 {
				t.Errorf("%d drivers lack the lease", found)
			}
			if (*c.asked > 0) != silent {
				t.Errorf("asked for %d needs", *c.asked)
			}
		})
	}
}

func TestDoctor_WithoutAServer(t *testing.T) {
	p := healthy().patient()
	p.core.(*fake.Clientset).PrependReactor("get", "version", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	lines := p.checkAll(t.Context())
	if len(lines) != 1 || lines[0].Status != fail || !strings.Contains(lines[0].Text, "connection refused") {
		t.Errorf("%+v", lines)
	}
}
