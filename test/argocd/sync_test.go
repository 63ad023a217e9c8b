package argocd

import (
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// kruiseRendered keeps Kruise's objects, and gives them waves.
const kruiseRendered = "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nmetadata: {name: web}\nspec: {target: kruise, syncWaves: true}\n"

// whole is an application with objects of every wave: what the plugin places, workloads of
// three kinds, a pull of an image and a workload in waves of their own, and a hook behind all.
const whole = `
apiVersion: v1
kind: Namespace
metadata: {name: NAME}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: NAME}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}
  selector: {matchExpressions: [{key: app, operator: In, values: [web, db]}]}
  containers: [{name: log, image: "registry.example.com/log:1"}]
---
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web}
spec: {selector: {matchLabels: {app: web}}, minAvailable: 2}
---
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, STRATEGY}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "IMAGE"}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "registry.example.com/db:1"}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "registry.example.com/agent:1"}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: warm, annotations: {argocd.argoproj.io/sync-wave: "1"}}
spec: {image: "registry.example.com/front:1", completionPolicy: {type: Always}}
---
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: front, annotations: {argocd.argoproj.io/sync-wave: "2"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: front}}
  template:
    metadata: {labels: {app: front}}
    spec: {containers: [{name: app, image: "IMAGE"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: tell, annotations: {argocd.argoproj.io/hook: PostSync}}
spec:
  template:
    metadata: {annotations: {lab.test/run: 100ms}}
    spec: {restartPolicy: Never, containers: [{name: tell, image: "registry.example.com/tell:1"}]}
`

const web1, web2, unpullable = "registry.example.com/web:1", "registry.example.com/web:2", "bad.lab/web:3"

// rendered are the objects of an application, by the plugin in Argo CD's own server.
func (s *sidecar) rendered(t *testing.T, name, manifests string) []*unstructured.Unstructured {
	t.Helper()
	root := repository(t, map[string]string{"apps/web/kruise-render.yaml": kruiseRendered, "apps/web/all.yaml": manifests})
	answer, err := s.generate(t, root, map[string]string{"ARGOCD_APP_NAME": name, "ARGOCD_APP_NAMESPACE": name})
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for _, m := range answer.Manifests {
		o := object(t, m)
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[tracking] = name
		o.SetAnnotations(annotations)
		if kind := o.GetKind(); kind != "Namespace" && kind != "SidecarSet" && o.GetNamespace() == "" {
			o.SetNamespace(name)
		}
		out = append(out, o)
	}
	return out
}

// of returns the object of a kind and name.
func of(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == name })
	if i < 0 {
		t.Fatalf("no %s %s", kind, name)
	}
	return objects[i]
}

// TestSync_ConvergesWithArgoCDsEngine: what the plugin renders goes through Argo CD's own sync engine
// to an API server on which Kruise's kinds act, wave by wave; its health comes from the
// generated scripts.
func TestSync_ConvergesWithArgoCDsEngine(t *testing.T) {
	s := start(t)
	live := watched(t, controlPlane(t))
	with := func(name, image, strategy string) []*unstructured.Unstructured {
		return s.rendered(t, name, strings.NewReplacer("NAME", name, "IMAGE", image, "STRATEGY", strategy).Replace(whole))
	}
	app := func(name string) *application {
		return &application{liveState: live, name: name, health: customizations(t)}
	}
	t.Run("all waves, from nothing", func(t *testing.T) {
		a, objects := app("first"), with("first", web1, "partition: 0")
		o := a.succeeds(t, objects)
		// The namespace, of wave -3, is made before the dry run.
		want := []string{"Sync -1", "Sync 0", "Sync 1", "Sync 2", "PostSync 0"}
		if diff := cmp.Diff(want, o.waves); diff != "" {
			t.Errorf("waves (-want +got):\n%s", diff)
		}
		for _, object := range objects {
			a.becomes(t, object, health.HealthStatus{Status: health.HealthStatusHealthy})
		}
		if with := a.containers(t, "app=web", "log"); with != 3 {
			t.Errorf("%d pods have the sidecar of the wave before", with)
		}
	})
	t.Run("a workload at its partition holds no wave", func(t *testing.T) {
		a, objects := app("partition"), with("partition", web1, "partition: 0")
		a.succeeds(t, objects)
		changed := with("partition", web2, "partition: 2")
		a.succeeds(t, changed)
		stopped := health.HealthStatus{Status: health.HealthStatusHealthy, Message: "1 of 3 updated, stopped at its partition"}
		web := of(t, changed, "CloneSet", "web")
		a.becomes(t, web, stopped)
		a.becomes(t, of(t, changed, "CloneSet", "front"), health.HealthStatus{Status: health.HealthStatusHealthy, Message: "all 2 pods are updated and available"})
		if now := offered(t, a.get(t, web)); !slices.Contains(now, "promote") {
			t.Fatalf("offered: %v", now)
		}
		a.act(t, "promote", web)
		a.becomes(t, web, health.HealthStatus{Status: health.HealthStatusHealthy, Message: "all 3 pods are updated and available"})
	})
	t.Run("with Argo CD's own scripts it does", func(t *testing.T) {
		a := app("shipped")
		a.succeeds(t, with("shipped", web1, "partition: 0"))
		a.health = lua.ResourceHealthOverrides{}
		changed := with("shipped", web2, "partition: 2")
		web, rounds := of(t, changed, "CloneSet", "web"), 0
		o := a.sync(t, changed, func(operation) bool {
			if ours(t, a.get(t, web)).Message == "1 of 3 updated, stopped at its partition" {
				rounds++
			}
			return rounds == 3
		})
		if h := a.healthOf(t, web); o.phase != common.OperationRunning || h.Status != health.HealthStatusSuspended {
			t.Errorf("%s: %s; %s (%s)", o.phase, o.message, h.Status, h.Message)
		}
	})
	t.Run("a paused workload holds the next wave until it is resumed", func(t *testing.T) {
		a := app("paused")
		a.succeeds(t, with("paused", web1, "partition: 0"))
		changed := append(with("paused", web2, "paused: true"), s.rendered(t, "paused", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, annotations: {argocd.argoproj.io/sync-wave: '3'}}\n")...)
		web, late, rounds := of(t, changed, "CloneSet", "web"), of(t, changed, "ConfigMap", "late"), 0
		o := a.sync(t, changed, func(o operation) bool {
			switch {
			case a.healthOf(t, web).Status != health.HealthStatusSuspended:
			case rounds < 3:
				rounds++
				if rounds < 3 {
					break
				}
				if want := "waiting for healthy state of apps.kruise.io/CloneSet/web"; o.message != want {
					t.Errorf("%q, want %q", o.message, want)
				}
				if _, err := a.kubectl.GetResource(t.Context(), a.config, late.GroupVersionKind(), "late", "paused"); !apierrors.IsNotFound(err) {
					t.Errorf("the wave behind: %v", err)
				}
				a.act(t, "resume", web)
			}
			return false
		})
		if o.phase != common.OperationSucceeded || rounds != 3 {
			t.Errorf("%s: %s, %d rounds", o.phase, o.message, rounds)
		}
		a.get(t, late)
		a.becomes(t, web, health.HealthStatus{Status: health.HealthStatusHealthy})
	})
	t.Run("what mends a broken workload gets in", func(t *testing.T) {
		a := app("broken")
		a.succeeds(t, with("broken", web1, "partition: 0"))
		broken := with("broken", unpullable, "partition: 0")
		web := of(t, broken, "CloneSet", "web")
		// The budget holds the other pods back.
		a.sync(t, broken, func(operation) bool {
			return a.healthOf(t, web).Status == health.HealthStatusProgressing && a.ready(t, "app=web") == 2
		})
		a.succeeds(t, with("broken", web2, "partition: 0"))
		a.becomes(t, web, health.HealthStatus{Status: health.HealthStatusHealthy, Message: "all 3 pods are updated and available"})
	})
	t.Run("a restart replaces the pods", func(t *testing.T) {
		a, objects := app("restart"), with("restart", web1, "partition: 0")
		a.succeeds(t, objects)
		for _, of := range []*unstructured.Unstructured{of(t, objects, "StatefulSet", "db"), of(t, objects, "DaemonSet", "agent"), of(t, objects, "CloneSet", "web")} {
			labels := "app=" + of.GetName()
			before := a.uids(t, labels)
			a.act(t, "restart", of)
			a.until(t, of.GetName()+" has new pods", func() bool {
				now := a.uids(t, labels)
				return len(now) == len(before) && !overlap(before, now) && a.healthOf(t, of).Status == health.HealthStatusHealthy
			})
		}
	})
}

// pods are those of the application with these labels.
func (a *application) pods(t *testing.T, labels string) []unstructured.Unstructured {
	t.Helper()
	client, err := dynamic.NewForConfig(a.config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(a.name).List(t.Context(), metav1.ListOptions{LabelSelector: labels})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func overlap(a, b map[string]bool) bool {
	for key := range a {
		if b[key] {
			return true
		}
	}
	return false
}

func (a *application) uids(t *testing.T, labels string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, p := range a.pods(t, labels) {
		out[string(p.GetUID())] = true
	}
	return out
}

// containers is how many pods have a container of this name.
func (a *application) containers(t *testing.T, labels, name string) (n int) {
	t.Helper()
	for _, p := range a.pods(t, labels) {
		list, _ := at(p.Object, "spec", "containers").([]any)
		for _, c := range list {
			if at(c, "name") == name {
				n++
			}
		}
	}
	return n
}

// ready is how many pods are.
func (a *application) ready(t *testing.T, labels string) (n int) {
	t.Helper()
	for _, p := range a.pods(t, labels) {
		conditions, _ := at(p.Object, "status", "conditions").([]any)
		for _, c := range conditions {
			if at(c, "type") == "Ready" && at(c, "status") == "True" {
				n++
			}
		}
	}
	return n
}
