package rollout

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

func barePod(name, policy string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {app: web}}\nspec: {restartPolicy: " + policy + ", containers: [{name: main, image: \"" + web1 + "\"}]}\n"
}

// TestRestartPods_UnmanagedOnesOneByOne: unmanaged pods restart one after the other, also with only the
// holder of the printed roles; one that would not come back is refused.
func TestRestartPods_UnmanagedOnesOneByOne(t *testing.T) {
	t.Parallel()
	c, namespace := testcluster.Shared(t, kruise.API(), standin.Controllers())
	b := &bed{Cluster: c, namespace: namespace}
	for name, policy := range map[string]string{"a": "Always", "b": "OnFailure", "never": "Never"} {
		c.Apply(t, namespace, barePod(name, policy))
	}
	await(t, c, namespace, 3)
	code, out, said := kubectl(t, c, namespace, "restart", "never", "--yes")
	if code != 1 || !strings.Contains(said, "restartPolicy is Never") {
		t.Errorf("exit %d\n%s\n%s", code, out, said)
	}
	most := b.most(t)
	if code, out, said = kubectl(t, c, namespace, "restart", "a", "pod/b", "--yes"); code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	if n := most(); n != 1 {
		t.Errorf("%d pods were down at once", n)
	}
	if n := slices.Sorted(maps.Values(restarts(b.pods(t)))); !slices.Equal(n, []int{0, 1, 1}) {
		t.Errorf("restarts %v", n)
	}
}

// TestRestartPods_RolloutVerbsContinueIt: the restart of an unmanaged pod that was left is looked at, and goes
// on, by the verbs for rollouts.
func TestRestartPods_RolloutVerbsContinueIt(t *testing.T) {
	t.Parallel()
	c, namespace := testcluster.Shared(t, kruise.API(), standin.Controllers())
	b := &bed{Cluster: c, namespace: namespace}
	c.Apply(t, namespace, barePod("a", "Always"))
	await(t, c, namespace, 1)
	for _, call := range []struct {
		args string
		ends int
		says string
	}{
		{"rollout pause pod/a", 1, "pausing is not supported"},
		{"rollout retry pod/a", 1, "no rollout is recorded"},
		{"restart a --yes --timeout 1ns", 4, ""},
		{"rollout list", 0, "pod/a"},
		{"rollout status pod/a --watch=false", 0, "pod/a"},
		{"rollout pause pod/a", 0, "no further pod is updated"},
		{"rollout resume pod/a", 0, "completed"},
		{"rollout status po/a", 0, "completed"},
		{"rollout abort pod/a", 1, "the rollout is completed"},
	} {
		if code, out, said := kubectl(t, c, namespace, strings.Fields(call.args)...); code != call.ends || !strings.Contains(out+said, call.says) {
			t.Errorf("%s: exit %d, want %d and %q\n%s\n%s", call.args, code, call.ends, call.says, out, said)
		}
	}
	if n := slices.Collect(maps.Values(restarts(b.pods(t)))); !slices.Equal(n, []int{1}) {
		t.Errorf("restarts %v", n)
	}
}

// TestRestart_ReportsABudgetWithoutRoom: a budget without room is said before anything is written.
func TestRestart_ReportsABudgetWithoutRoom(t *testing.T) {
	t.Parallel()
	b := newBed(t, kruiseKind("CloneSet", "clonesets", ""))
	b.Apply(t, b.namespace, guardedBy(strings.Replace(targetWeb, `"maxUnavailable": 1`, `"maxUnavailable": 0`, 1)))
	code, out, said := kubectl(t, b.Cluster, b.namespace, "restart", "cloneset/web", "--yes")
	if code != 1 || !strings.Contains(said, "the plan cannot finish") || !strings.Contains(said, "budget web") {
		t.Errorf("exit %d\n%s\n%s", code, out, said)
	}
	if code, out, _ := kubectl(t, b.Cluster, b.namespace, "rollout", "list"); code != 0 || strings.Contains(out, "web") {
		t.Errorf("exit %d: a rollout is recorded\n%s", code, out)
	}
}

// TestRestart_Selector: -l restarts the pods that it matches, or all pods of the workloads that it
// matches, and no other pods.
func TestRestart_Selector(t *testing.T) {
	t.Parallel()
	c, namespace := testcluster.Shared(t, kruise.API(), standin.Controllers())
	c.Apply(t, namespace, barePod("a", "Always"))
	c.Apply(t, namespace, strings.ReplaceAll(barePod("b", "Always"), "app: web", "app: db"))
	set := strings.ReplaceAll(document("apps/v1", "StatefulSet", ""), "metadata: {name: web", "metadata: {labels: {part: shop}, name: web")
	set = strings.ReplaceAll(set, "replicas: 4", "replicas: 2")
	c.Apply(t, namespace, strings.ReplaceAll(set, "app: web", "app: set"))
	await(t, c, namespace, 4)
	for _, call := range []struct {
		args string
		ends int
		says string
		want map[string]int
	}{
		{"restart pods -l app=web --yes", 0, "", map[string]int{"a": 1, "b": 0, "web-0": 0, "web-1": 0}},
		{"restart -l part=shop --yes", 0, "", map[string]int{"a": 1, "b": 0, "web-0": 1, "web-1": 1}},
		{"restart sts,deploy -l part=shop --yes", 0, "", map[string]int{"a": 1, "b": 0, "web-0": 2, "web-1": 2}},
		{"restart -l part=none --yes", 1, `no workload in namespace ` + namespace + ` matches "part=none"`, nil},
		{"restart po -l part=none --yes", 1, `no pod in namespace ` + namespace, nil},
		{"restart sts/web -l part=shop --yes", 2, "-l goes with types", nil},
		{"restart jobs -l part=shop --yes", 2, "unknown type", nil},
	} {
		code, out, said := kubectl(t, c, namespace, strings.Fields(call.args)...)
		if code != call.ends || !strings.Contains(said, call.says) {
			t.Errorf("%s: exit %d\n%s\n%s", call.args, code, out, said)
		}
		list, err := c.Client().CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		must(t, err)
		got := map[string]int{}
		for i := range list.Items {
			got[list.Items[i].Name] = int(list.Items[i].Status.ContainerStatuses[0].RestartCount)
		}
		if call.want != nil && !maps.Equal(got, call.want) {
			t.Errorf("%s: restarts %v, want %v", call.args, got, call.want)
		}
	}
}
