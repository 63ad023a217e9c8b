package resourcearg

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func podsOfObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetNamespace("shop")
	u.SetName("web")
	return u
}

func TestOf_FindsThePodsOfEachKind(t *testing.T) {
	for name, c := range map[string]struct{ text, want, pod string }{
		"cloneset":         {"{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, spec: {selector: {matchLabels: {app: web}}}}", "app=web", ""},
		"expression":       {"{apiVersion: apps.kruise.io/v1alpha1, kind: UnitedDeployment, spec: {selector: {matchExpressions: [{key: a, operator: In, values: [x, z]}]}}}", "a in (x,z)", ""},
		"broadcast job":    {"{apiVersion: apps.kruise.io/v1beta1, kind: BroadcastJob, spec: {}}", "broadcastjob-name=web", ""},
		"recreate request": {"{apiVersion: apps.kruise.io/v1alpha1, kind: ContainerRecreateRequest, spec: {podName: web-0}}", "", "web-0"},
		"service":          {"{apiVersion: v1, kind: Service, spec: {selector: {app: web}}}", "app=web", ""},
		"deployment":       {"{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: web}}}}", "app=web", ""},
		"pod":              {"{apiVersion: v1, kind: Pod, spec: {}}", "", "web"},
		"budget":           {"{apiVersion: policy.kruise.io/v1alpha1, kind: PodUnavailableBudget, spec: {targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}}}", "app=target", ""},
		"rollout":          {"{apiVersion: rollouts.kruise.io/v1beta1, kind: Rollout, spec: {workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}", "app=target", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := PodsOf(t.Context(), podsOfObject(t, c.text), func(_ context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
				if namespace != "shop" || name != "web" {
					t.Errorf("asked for %s/%s", namespace, name)
				}
				return podsOfObject(t, "{apiVersion: "+apiVersion+", kind: "+kind+", spec: {selector: {matchLabels: {app: target}}}}"), nil
			})
			if err != nil || got.Namespace != "shop" || got.Name != c.pod {
				t.Fatalf("%+v, %v", got, err)
			}
			if c.want != "" && got.Selector.String() != c.want {
				t.Errorf("%s, want %s", got.Selector, c.want)
			}
		})
	}
}

func TestOf_Refuses(t *testing.T) {
	for _, text := range []string{
		"{apiVersion: apps.kruise.io/v1beta1, kind: ImagePullJob, spec: {selector: {matchLabels: {a: b}}}}",
		"{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, spec: {}}",
		"{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, spec: 3}",
		"{apiVersion: v1, kind: ConfigMap}",
	} {
		if _, err := PodsOf(t.Context(), podsOfObject(t, text), nil); !errors.Is(err, ErrNoPods) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// A target that points on is not followed: it might point back.
	loop := podsOfObject(t, "{apiVersion: policy.kruise.io/v1alpha1, kind: PodUnavailableBudget, spec: {targetRef: {kind: PodUnavailableBudget, name: web}}}")
	_, err := PodsOf(t.Context(), loop, func(context.Context, string, string, string, string) (*unstructured.Unstructured, error) {
		return loop, nil
	})
	if !errors.Is(err, ErrNoPods) {
		t.Errorf("a loop: %v", err)
	}
}

func TestIsTyped_TellsWorkloadsFromPods(t *testing.T) {
	for arg, want := range map[string]bool{
		"web-0": false, "pod/web-0": false, "po/web-0": false, "deployments.apps/web": true,
		"cloneset/web": true, "clonesets.apps.kruise.io/web": true, "deploy/web": true, "asts/db": true,
	} {
		if NamesNonPod(arg) != want {
			t.Errorf("%s: %v", arg, !want)
		}
	}
}

func TestWorkingContainer_OfAHotUpgrade(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{kruise.SidecarSetWorkingHotUpgradeAnnotation: `{"proxy":"proxy-2"}`}}}
	for sidecar, want := range map[string]string{"proxy": "proxy-2", "agent": "agent"} {
		if got, hot := WorkingContainer(pod, sidecar); got != want || hot != (sidecar == "proxy") {
			t.Errorf("%s: %s, %v", sidecar, got, hot)
		}
	}
	pod.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation] = "{"
	if got, hot := WorkingContainer(pod, "proxy"); got != "proxy" || hot {
		t.Errorf("a broken annotation: %s, %v", got, hot)
	}
}
