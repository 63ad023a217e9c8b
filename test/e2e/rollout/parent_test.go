package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// TestParent_ControllersActAsTheTableSays shows what the table in docs/rollout-reference.md says of native parents:
// each row is what Kubernetes' own controllers do, or its API server.
func TestParent_ControllersActAsTheTableSays(t *testing.T) {
	onDelete := "updateStrategy: {type: OnDelete}"
	set := nativeKind("StatefulSet", "statefulsets", "serviceName: web")
	replicas := nativeKind("ReplicaSet", "replicasets", "")
	for name, c := range map[string]struct {
		workload workload
		shows    func(*testing.T, *bed)
	}{
		"template of a ReplicaSet":  {replicas, comesBackNew},
		"template of a StatefulSet": {nativeKind("StatefulSet", "statefulsets", "serviceName: web\n  "+onDelete), comesBackNew},
		"template of a DaemonSet":   {nativeKind("DaemonSet", "daemonsets", onDelete), comesBackNew},
		"surge":                     {replicas, takesSurplus},
		"ordered":                   {nativeKind("StatefulSet", "statefulsets", "serviceName: web\n  "+onDelete), oneAfterTheOther},
		"hooks":                     {replicas, heedsNoLabel("hold=true")},
		"scale down":                {replicas, heedsNoLabel("apps.kruise.io/specified-delete=true")},
		"in place":                  {nativeKind("Deployment", "deployments", ""), makesAnew},
		"order":                     {set, highestFirst},
		"budgets":                   {set, asksNoBudget},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.shows(t, newBed(t, c.workload))
		})
	}
}

// patch changes the workload of a bed.
func (b *bed) patch(t *testing.T, body string) {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	_, err = client.Resource(b.object.Resource).Namespace(b.namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(body), metav1.PatchOptions{})
	must(t, err)
}

// update writes the new image, and waits until the controller has heard of it: what it
// makes before that is old.
func (b *bed) update(t *testing.T) {
	t.Helper()
	b.patch(t, fmt.Sprintf(`{"spec": {"template": {"spec": {"containers": [{"name": "main", "image": %q}]}}}}`, web2))
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	_, err = testcluster.Await(t.Context(), client.Resource(b.object.Resource).Namespace(b.namespace), "web", func(_ watch.EventType, u *unstructured.Unstructured) bool {
		seen, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
		return seen == u.GetGeneration()
	})
	must(t, err)
}

// until waits until the pods that are not being deleted are as wanted.
func (b *bed) until(t *testing.T, holds func([]corev1.Pod) bool) {
	t.Helper()
	now := map[string]corev1.Pod{}
	_, err := testcluster.Await(t.Context(), b.Client().CoreV1().Pods(b.namespace), "", func(what watch.EventType, p *corev1.Pod) bool {
		if now[string(p.UID)] = *p; what == watch.Deleted || p.DeletionTimestamp != nil {
			delete(now, string(p.UID))
		}
		var list []corev1.Pod
		for _, p := range now {
			list = append(list, p)
		}
		return holds(list)
	})
	must(t, err)
}

func (b *bed) remove(t *testing.T, pod string) {
	t.Helper()
	must(t, b.Client().CoreV1().Pods(b.namespace).Delete(t.Context(), pod, metav1.DeleteOptions{}))
}

// comesBackNew: no controller updates a pod, and one that is lost is made from the present
// template.
func comesBackNew(t *testing.T, b *bed) {
	t.Helper()
	before := b.pods(t)
	b.update(t)
	b.remove(t, before[0].Name)
	b.until(t, func(pods []corev1.Pod) bool { return running(pods, web2) == 1 && running(pods, web1) == len(before)-1 })
}

// takesSurplus: a pod beyond the replicas is taken away again.
func takesSurplus(t *testing.T, b *bed) {
	t.Helper()
	one := b.pods(t)[0]
	surplus := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "surplus", Labels: one.Labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: web2}}}}
	_, err := b.Client().CoreV1().Pods(b.namespace).Create(t.Context(), surplus, metav1.CreateOptions{})
	must(t, err)
	must(t, testcluster.AwaitGone(t.Context(), b.Client().CoreV1().Pods(b.namespace), "surplus", &corev1.Pod{}))
	b.until(t, func(pods []corev1.Pod) bool { return running(pods, web1) == 4 && len(pods) == 4 })
}

// oneAfterTheOther: of two pods that are missing the higher is made only when the lower
// is ready.
func oneAfterTheOther(t *testing.T, b *bed) {
	t.Helper()
	// The lower goes first, and takes its time: the higher would be back before it is gone.
	b.patch(t, `{"spec": {"template": {"metadata": {"annotations": {"`+life.ReadyDelayAnnotation+`": "2s"}}}}}`)
	b.update(t)
	lower, early := false, false
	b.remove(t, "web-0")
	b.remove(t, "web-2")
	b.until(t, func(pods []corev1.Pod) bool {
		at := func(name string) *corev1.Pod {
			i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Name == name && p.Spec.Containers[0].Image == web2 })
			if i < 0 {
				return nil
			}
			return &pods[i]
		}
		zero, two := at("web-0"), at("web-2")
		lower = lower || zero != nil && ready(zero, web2)
		early = early || two != nil && !lower
		return two != nil && ready(two, web2) && lower
	})
	if early {
		t.Error("web-2 was made while web-0 was not ready")
	}
}

// heedsNoLabel: when the workload shrinks, a pod with the label neither stays for it nor
// goes for it: what it costs decides.
func heedsNoLabel(label string) func(*testing.T, *bed) {
	return func(t *testing.T, b *bed) {
		t.Helper()
		key, value, _ := strings.Cut(label, "=")
		pods := b.pods(t)
		mark := func(pod, cost string) {
			body := fmt.Sprintf(`{"metadata": {"labels": {%q: %q}, "annotations": {"controller.kubernetes.io/pod-deletion-cost": %q}}}`, key, value, cost)
			_, err := b.Client().CoreV1().Pods(b.namespace).Patch(t.Context(), pod, types.MergePatchType, []byte(body), metav1.PatchOptions{})
			must(t, err)
		}
		mark(pods[0].Name, "1000")
		mark(pods[1].Name, "-1000")
		for n := 3; n > 0; n-- {
			b.patch(t, fmt.Sprintf(`{"spec": {"replicas": %d}}`, n))
			b.until(t, func(pods []corev1.Pod) bool { return len(pods) == n })
		}
		if left := b.pods(t); left[0].Name != pods[0].Name {
			t.Errorf("%s is left, not %s", left[0].Name, pods[0].Name)
		}
	}
}

// makesAnew: another image makes another pod.
func makesAnew(t *testing.T, b *bed) {
	t.Helper()
	before := map[types.UID]bool{}
	for _, p := range b.pods(t) {
		before[p.UID] = true
	}
	b.update(t)
	b.until(t, func(pods []corev1.Pod) bool { return running(pods, web2) == 4 && len(pods) == 4 })
	for _, p := range b.pods(t) {
		if before[p.UID] {
			t.Errorf("%s was updated in place", p.Name)
		}
	}
}

// highestFirst: the ordinal decides which pod goes first, whatever else is said of it.
func highestFirst(t *testing.T, b *bed) {
	t.Helper()
	b.patch(t, `{"spec": {"updateStrategy": {"rollingUpdate": {"partition": 3}}}}`)
	b.update(t)
	b.until(t, func(pods []corev1.Pod) bool { return running(pods, web2) == 1 && running(pods, web1) == 3 })
	for _, p := range b.pods(t) {
		if is := p.Name == "web-3"; ready(&p, web2) != is {
			t.Errorf("%s has %s", p.Name, p.Spec.Containers[0].Image)
		}
	}
}

// TestServer_DropsMaxUnavailable: without the feature gate a StatefulSet has none, so that
// its pods go one at a time.
func TestServer_DropsMaxUnavailable(t *testing.T) {
	t.Parallel()
	c, namespace := withoutKruise(t)
	b := &bed{Cluster: c, namespace: namespace}
	c.Apply(t, namespace, nativeKind("StatefulSet", "statefulsets", "serviceName: web\n  updateStrategy: {rollingUpdate: {maxUnavailable: 3}}").text)
	o, err := b.Client().AppsV1().StatefulSets(b.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		t.Errorf("maxUnavailable is %s", r.MaxUnavailable)
	}
}

// asksNoBudget: a budget that lets nothing go stops no controller.
func asksNoBudget(t *testing.T, b *bed) {
	t.Helper()
	b.Apply(t, b.namespace, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 100%, selector: {matchLabels: {app: web}}}\n")
	b.update(t)
	b.until(t, func(pods []corev1.Pod) bool { return running(pods, web2) == 4 })
}
