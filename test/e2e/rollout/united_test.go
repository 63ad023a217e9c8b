package rollout

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// podNames are the pods of a namespace that stay.
func podNames(t *testing.T, c *testcluster.Cluster, namespace string) map[string]bool {
	t.Helper()
	list, err := c.Client().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	out := map[string]bool{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			out[list.Items[i].Name] = true
		}
	}
	return out
}

// TestDefectUnitedDeployment_WorksInEveryVerb: a UnitedDeployment means the workloads of its subsets in every
// verb; what changes its template is written there, and subsets take turns.
func TestDefectUnitedDeployment_WorksInEveryVerb(t *testing.T) {
	t.Parallel()
	c, namespace := testcluster.Shared(t, kruise.API(), standin.Controllers())
	c.Apply(t, namespace, unitedWeb)
	await(t, c, namespace, 5)
	subset := "apps.kruise.io/subset-name"
	call := func(code int, args ...string) string {
		t.Helper()
		got, out, said := kubectl(t, c, namespace, args...)
		if got != code {
			t.Fatalf("%s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, out, said)
		}
		return out + said
	}
	if out := call(1, "rollout", "promote", "ud/web"); !strings.Contains(out, "no rollout of its subsets is in progress") {
		t.Errorf("%s", out)
	}
	// The whole is one plan: both subsets, with what becomes of their pods, before anything is written.
	change := []string{"ud/web", "--image", "main=" + web2, "--pull-images", "never", "--steps", "50%,100%", "--pause-after", "50%"}
	for name, out := range map[string]string{
		"plan": call(0, append([]string{"plan"}, change...)...),
		"run":  call(5, append(append([]string{"rollout", "run"}, change...), "--exit-on-pause", "--yes")...),
	} {
		for _, want := range []string{"cloneset/web-zone-b-", "cloneset/web-zone-a-", "main restarts inside the pod", "+ " + web2} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", name, want, out)
			}
		}
		if strings.Contains(out, "the pods stay as they are") {
			t.Errorf("%s: pods do not stay as they are:\n%s", name, out)
		}
	}
	if out := call(0, "rollout", "status", "uniteddeployment/web"); strings.Count(out, "cloneset/web-zone-") != 2 {
		t.Errorf("status:\n%s", out)
	}
	if out := call(0, "rollout", "pause", "ud/web"); strings.Count(out, "paused") == 0 {
		t.Errorf("pause:\n%s", out)
	}
	call(0, "rollout", "resume", "uniteddeployment", "web", "--no-wait")
	call(0, "rollout", "promote", "ud/web")
	if got, want := images(t, c, namespace, subset), map[string]int{"zone-b 2": 2, "zone-b 1": 0, "zone-a 1": 3, "zone-a 2": 0}; !maps.Equal(got, want) {
		t.Errorf("one subset is done: %v", got)
	}
	call(0, "rollout", "run", "ud/web", "--pull-images", "never", "--yes")
	if out := call(0, "rollout", "history", "ud/web"); !strings.Contains(out, "web-zone-a-") || !strings.Contains(out, "web-zone-b-") {
		t.Errorf("history:\n%s", out)
	}
	before := podNames(t, c, namespace)
	if out := call(0, "rollout", "restart", "ud/web", "--yes"); strings.Count(out, "restarted") != 2 {
		t.Errorf("restart:\n%s", out)
	}
	for pod := range podNames(t, c, namespace) {
		if before[pod] {
			t.Errorf("pod %s was not recreated", pod)
		}
	}
	if out := call(0, "rollout", "undo", "ud/web", "--to-revision", "1", "--dry-run=client"); !strings.Contains(out, "uniteddeployments/web") {
		t.Errorf("dry run of undo:\n%s", out)
	}
	call(0, "rollout", "undo", "ud/web", "--to-revision", "1", "--yes")
	if got, want := images(t, c, namespace, subset), map[string]int{"zone-b 1": 2, "zone-b 2": 0, "zone-a 1": 3, "zone-a 2": 0}; !maps.Equal(got, want) {
		t.Errorf("after undo: %v", got)
	}
	if out := call(1, "rollout", "undo", "ud/web", "--to-revision", "9", "--yes"); !strings.Contains(out, "no revision 9") {
		t.Errorf("%s", out)
	}
}
