package memory

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/memory/conformance"
)

func started(t *testing.T) (*Server, kubernetes.Interface) {
	t.Helper()
	s := New(Kruise()...)
	t.Cleanup(s.Close)
	client, err := kubernetes.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

// TestServer_AnswersAsARealOne: test/cluster/kruise runs the same suite on a real API server.
func TestServer_AnswersAsARealOne(t *testing.T) {
	t.Parallel()
	s, client := started(t)
	conformance.Run(t, s.Config(), func(t *testing.T) string {
		t.Helper()
		ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return ns.Name
	})
}

// TestWatch_FromAVersionThatIsForgotten is refused with 410, as by a server that has compacted its storage.
func TestWatch_FromAVersionThatIsForgotten(t *testing.T) {
	t.Parallel()
	s, client := started(t)
	maps := client.CoreV1().ConfigMaps("default")
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.Forget()
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if e := <-w.ResultChan(); e.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
		t.Errorf("%v %v", e.Type, e.Object)
	}
}

// TestDiscovery_IsComplete: clients find each resource with its short names and subresources.
func TestDiscovery_IsComplete(t *testing.T) {
	t.Parallel()
	_, client := started(t)
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range lists {
		for _, r := range l.APIResources {
			names = append(names, l.GroupVersion+" "+r.Name+" "+strings.Join(r.ShortNames, ","))
		}
	}
	all := strings.Join(names, "\n")
	for _, want := range []string{"v1 pods po", "v1 pods/eviction", "apps/v1 deployments/scale", "policy/v1 poddisruptionbudgets pdb", "networking.k8s.io/v1 ingresses ing", "apps.kruise.io/v1beta1 clonesets clone", "policy.kruise.io/v1beta1 podunavailablebudgets pub"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s", want)
		}
	}
}
