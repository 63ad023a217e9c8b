package commands

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

const daemonAgent = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, labels: {team: ops}}
spec:
  selector: {matchLabels: {app: agent}}
  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: "registry.example.com/agent:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: agent}
spec: {selector: {app: agent}, ports: [{port: 80}]}
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: agent, labels: {team: ops}}
spec: {maxUnavailable: 3, targetRef: {apiVersion: apps/v1, kind: DaemonSet, name: agent}}
`

// within ends a migration that hangs, and says where: it is below the patience of a call.
const within = "2m30s"

// agents applies a DaemonSet and returns on how many nodes it is.
func (b *bed) agents(t *testing.T, text string) int {
	t.Helper()
	b.Apply(t, b.namespace, text)
	d, err := testcluster.Await(t.Context(), b.Client().AppsV1().DaemonSets(b.namespace), "agent", func(_ watch.EventType, d *appsv1.DaemonSet) bool {
		s := d.Status
		return s.ObservedGeneration == d.Generation && s.DesiredNumberScheduled > 0 && s.NumberAvailable == s.DesiredNumberScheduled && s.UpdatedNumberScheduled == s.DesiredNumberScheduled
	})
	must(t, err)
	return int(d.Status.DesiredNumberScheduled)
}

// handedOver fails the test unless all pods are of one workload, which replaces them
// by itself again, and nothing of the migration is left.
func (b *bed) handedOver(t *testing.T, apiVersion string, n int) {
	t.Helper()
	now := b.get(t, apiVersion, "DaemonSet", "agent")
	if now.GetAnnotations()[recordOfMigration] != "" || now.GetLabels()["team"] != "ops" {
		t.Errorf("annotations %v, labels %v", now.GetAnnotations(), now.GetLabels())
	}
	spec, _ := now.Object["spec"].(map[string]any)
	strategy, _ := spec["updateStrategy"].(map[string]any)
	rolling, _ := strategy["rollingUpdate"].(map[string]any)
	if strategy["type"] != "RollingUpdate" || rolling["maxUnavailable"] != int64(2) {
		t.Errorf("update strategy %v", strategy)
	}
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=agent"})
	must(t, err)
	owned := 0
	for i := range list.Items {
		if p := &list.Items[i]; p.DeletionTimestamp == nil && metav1.IsControlledBy(p, now) {
			owned++
		} else if p.DeletionTimestamp == nil {
			t.Errorf("%s belongs to %v", p.Name, p.OwnerReferences)
		}
	}
	if owned != n {
		t.Errorf("%d pods, want %d", owned, n)
	}
	if _, err := b.Client().CoreV1().ConfigMaps(b.namespace).Get(t.Context(), "kubectl-kruise-migration-daemonset-agent", metav1.GetOptions{}); err == nil {
		t.Error("the record is left")
	}
}

// guards is what the PodUnavailableBudgets look after.
func (b *bed) guards(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(b.call(t, "get", "podunavailablebudgets", "-o", `jsonpath={range .items[*]}{.metadata.name}={.spec.targetRef.apiVersion}/{.spec.targetRef.name} {end}`).out)
}

// TestMigrateDaemonSet_ThereAndBack: an Advanced DaemonSet takes over and the way back is the same,
// with one node at a time away, and the budget follows.
func TestMigrateDaemonSet_ThereAndBack(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	n := b.agents(t, daemonAgent)
	least := b.fewest(t)
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--dry-run").ends(t, 0, "Move 3 pods of DaemonSet/agent to AdvancedDaemonSet/agent", "podunavailablebudget/agent is recreated", "OnDelete until then, and RollingUpdate afterwards")
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--dry-run=server").ends(t, 0, "AdvancedDaemonSet/agent created (server dry run)")
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet").ends(t, 2, "cannot ask for confirmation")
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes", "--timeout", within).ends(t, 0, "DaemonSet/agent deleted; its pods stay", "AdvancedDaemonSet/agent created", "Successfully migrated DaemonSet/agent to AdvancedDaemonSet/agent")
	b.handedOver(t, "apps.kruise.io/v1beta1", n)
	if got := b.guards(t); got != "agent=apps.kruise.io/v1beta1/agent" {
		t.Errorf("budgets: %s", got)
	}
	b.call(t, "migrate", "ads/agent", "--to", "DaemonSet", "--yes", "--timeout", within).ends(t, 0, "Successfully migrated AdvancedDaemonSet/agent to DaemonSet/agent")
	b.handedOver(t, "apps/v1", n)
	if got := b.guards(t); got != "agent=apps/v1/agent" {
		t.Errorf("budgets: %s", got)
	}
	if got := least(); got < n-1 {
		t.Errorf("only %d of %d pods were ready at a time", got, n)
	}
}

// TestMigrateDaemonSet_ContinuesAfterAKill: a command that is killed at any step continues from there.
func TestMigrateDaemonSet_ContinuesAfterAKill(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	n := b.agents(t, strings.Replace(daemonAgent, "maxUnavailable: 3, targetRef: {apiVersion: apps/v1, kind: DaemonSet, name: agent}", "minAvailable: 2, selector: {matchLabels: {app: agent}}", 1))
	for _, at := range []string{"deleted; its pods stay", "agent created", "Migration progress"} {
		b.killedAt(t, at, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes")
		b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--dry-run").ends(t, 0, "Continue to move the pods of DaemonSet/agent")
	}
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes", "--timeout", within).ends(t, 0, "Successfully migrated")
	b.handedOver(t, "apps.kruise.io/v1beta1", n)
}

// killedAt runs the product and kills it once it has said something. It returns what
// was said until then.
func (b *bed) killedAt(t *testing.T, text string, args ...string) string {
	t.Helper()
	cmd := b.command(t, args...)
	said, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	all := readUntil(said, text)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	return all
}

// TestMigrateDaemonSet_TurnsBackHalfway: halfway, the same command with the sides changed ends
// at the beginning, even where neither of the two is in the cluster.
func TestMigrateDaemonSet_TurnsBackHalfway(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	n := b.agents(t, daemonAgent)
	for _, at := range []string{"deleted; its pods stay", "agent created"} {
		b.killedAt(t, at, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes")
		b.call(t, "migrate", "daemonset.apps.kruise.io/agent", "--to", "DaemonSet", "--yes", "--timeout", within).ends(t, 0, "Reverse the migration", "Successfully migrated AdvancedDaemonSet/agent to DaemonSet/agent")
		b.handedOver(t, "apps/v1", n)
		b.agents(t, daemonAgent)
	}
}

// TestMigrateDaemonSet_EditedRecord: between the two, the ConfigMap alone knows what is to be
// made, and a tenant may have edited it. Nothing is made of it with the rights of another
// person, in either direction; what the cluster has counts more than the record.
func TestMigrateDaemonSet_EditedRecord(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	n := b.agents(t, daemonAgent)
	forth := []string{"migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes"}
	back := []string{"migrate", "daemonset.apps.kruise.io/agent", "--to", "DaemonSet", "--yes"}
	b.killedAt(t, "deleted; its pods stay", forth...)
	records := b.Client().CoreV1().ConfigMaps(b.namespace)
	honest, err := records.Get(t.Context(), "kubectl-kruise-migration-daemonset-agent", metav1.GetOptions{})
	must(t, err)
	edit := func(key, from, to string) {
		t.Helper()
		cm, err := records.Get(t.Context(), honest.Name, metav1.GetOptions{})
		must(t, err)
		if cm.Data[key] = strings.Replace(honest.Data[key], from, to, 1); cm.Data[key] == honest.Data[key] {
			t.Fatalf("no %s in %s", from, honest.Data[key])
		}
		_, err = records.Update(t.Context(), cm, metav1.UpdateOptions{})
		must(t, err)
	}
	for key, args := range map[string][]string{"old": back, "new": forth} {
		edit(key, `"containers":`, `"hostNetwork":true,"containers":`)
		b.call(t, args...).ends(t, 1, "may have been edited", "hostNetwork: true", "on the machine on which the migration was begun")
		edit(key, `"namespace":"`+b.namespace+`"`, `"namespace":"kube-system"`)
		b.call(t, forth...).ends(t, 1, "holds no migration that was begun here")
		cm, err := records.Get(t.Context(), honest.Name, metav1.GetOptions{})
		must(t, err)
		cm.Data = honest.Data
		_, err = records.Update(t.Context(), cm, metav1.UpdateOptions{})
		must(t, err)
	}
	for _, apiVersion := range []string{"apps/v1", "apps.kruise.io/v1beta1"} {
		if b.get(t, apiVersion, "DaemonSet", "agent") != nil {
			t.Errorf("%s was made", apiVersion)
		}
	}
	b.call(t, append(forth, "--timeout", within)...).ends(t, 0, "Successfully migrated")
	b.handedOver(t, "apps.kruise.io/v1beta1", n)
}

// TestMigrateDaemonSet_WaitsForABudget: a pod that a budget keeps is waited for, and nothing is
// lost meanwhile.
func TestMigrateDaemonSet_WaitsForABudget(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	n := b.agents(t, strings.Split(daemonAgent, "---")[0])
	_, err := b.Client().PolicyV1().PodDisruptionBudgets(b.namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(100)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}},
	}, metav1.CreateOptions{})
	must(t, err)
	if text := b.killedAt(t, "may not go: Cannot evict pod", "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes"); strings.Contains(text, " goes\n") {
		t.Errorf("a pod went:\n%s", text)
	}
	must(t, b.Client().PolicyV1().PodDisruptionBudgets(b.namespace).Delete(t.Context(), "agent", metav1.DeleteOptions{}))
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes", "--timeout", within).ends(t, 0, "Successfully migrated")
	b.handedOver(t, "apps.kruise.io/v1beta1", n)
}

// TestMigrateDaemonSet_RefusesWhatWouldFail: what would go wrong is said before anything is written.
func TestMigrateDaemonSet_RefusesWhatWouldFail(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.agents(t, daemonAgent)
	b.call(t, "migrate", "daemonset.apps/none", "--to", "AdvancedDaemonSet", "--yes").ends(t, 1, `daemonsets.apps "none" not found`)
	b.Apply(t, b.namespace, `
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: other}}
  template:
    metadata: {labels: {app: other}}
    spec: {nodeSelector: {none: such}, containers: [{name: main, image: "registry.example.com/agent:1"}]}
`)
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes").ends(t, 1, "AdvancedDaemonSet/agent exists already")
	b.call(t, "delete", "daemonset.apps.kruise.io/agent").ends(t, 0)
	_, err := b.Client().AppsV1().DaemonSets(b.namespace).Patch(t.Context(), "agent", "application/merge-patch+json", []byte(`{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null},"template":{"metadata":{"labels":{"v":"2"}}}}}`), metav1.PatchOptions{})
	must(t, err)
	b.call(t, "migrate", "daemonset.apps/agent", "--to", "AdvancedDaemonSet", "--yes").ends(t, 1, "is being rolled out", "finish that rollout")
	pods, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning && metav1.GetControllerOf(p) == nil {
			t.Errorf("%s has no owner", p.Name)
		}
	}
}
