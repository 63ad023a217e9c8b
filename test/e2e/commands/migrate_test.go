package commands

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

const (
	recordOfMigration = "kubectl-kruise.dev/migration"
	deploymentWeb     = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {team: shop}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}
`
	scalerWeb = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 4
  maxReplicas: 9
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`
)

// readyPods counts the pods that are ready and not being deleted.
func (b *bed) readyPods(t *testing.T) int {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	n := 0
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil && isReady(&list.Items[i]) {
			n++
		}
	}
	return n
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// awaitReady waits until so many pods are ready.
func (b *bed) awaitReady(t *testing.T, n int) {
	t.Helper()
	_, err := testcluster.Await(t.Context(), b.Client().CoreV1().Pods(b.namespace), "", func(watch.EventType, *corev1.Pod) bool { return b.readyPods(t) == n })
	must(t, err)
}

// fewest watches how many pods are ready, and returns what tells the fewest that were
// at any time.
func (b *bed) fewest(t *testing.T) func() int {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	list, err := b.Client().CoreV1().Pods(b.namespace).List(ctx, metav1.ListOptions{})
	must(t, err)
	w, err := b.Client().CoreV1().Pods(b.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	must(t, err)
	is := map[string]bool{}
	for i := range list.Items {
		is[list.Items[i].Name] = isReady(&list.Items[i])
	}
	count := func() (n int) {
		for _, ready := range is {
			if ready {
				n++
			}
		}
		return n
	}
	least := count()
	var wg sync.WaitGroup
	wg.Go(func() {
		for e := range w.ResultChan() {
			p, ok := e.Object.(*corev1.Pod)
			if !ok {
				return
			}
			is[p.Name] = e.Type != watch.Deleted && p.DeletionTimestamp == nil && isReady(p)
			least = min(least, count())
		}
	})
	return func() int { stop(); w.Stop(); wg.Wait(); return least }
}

// replicas are what a workload asks for, and whether a migration to it is recorded.
func (b *bed) replicas(t *testing.T, apiVersion, kind, name string) (n int64, onRecord bool) {
	t.Helper()
	u := b.get(t, apiVersion, kind, name)
	spec, _ := u.Object["spec"].(map[string]any)
	n, _ = spec["replicas"].(int64)
	_, onRecord = u.GetAnnotations()[recordOfMigration]
	return n, onRecord
}

// hasReplicas fails the test unless a workload has that number of replicas and no record.
func (b *bed) hasReplicas(t *testing.T, apiVersion, kind string, want int64) {
	t.Helper()
	if n, onRecord := b.replicas(t, apiVersion, kind, "web"); n != want || onRecord {
		t.Errorf("%s/web has %d replicas, want %d; recorded: %v", kind, n, want, onRecord)
	}
}

// TestMigrate_DeploymentToCloneSetAndBack: a Deployment becomes a CloneSet and comes back; no pod too few at any
// time, and the autoscaler follows.
func TestMigrate_DeploymentToCloneSetAndBack(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, deploymentWeb+"---"+scalerWeb)
	b.awaitReady(t, 4)
	least := b.fewest(t)
	a := b.call(t, "migrate", "deployment/web", "--to", "CloneSet", "--max-surge", "2", "--yes")
	a.ends(t, 0, "Move 4 of 4 replicas from Deployment/web to CloneSet/web, which has 0.", "horizontalpodautoscaler/web is suspended during the move",
		"Migration progress: Deployment/web scale in 0, CloneSet/web scale out 2", "Successfully migrated 4 replicas from Deployment/web to CloneSet/web",
		"kubectl delete -n "+b.namespace+" deployments.apps web")
	inBatches(t, a.out+a.err, 2)
	if n := least(); n < 4 {
		t.Errorf("only %d pods were ready at a time", n)
	}
	b.hasReplicas(t, "apps/v1", "Deployment", 0)
	b.hasReplicas(t, kruiseV1, "CloneSet", 4)
	made := b.get(t, kruiseV1, "CloneSet", "web")
	if made.GetLabels()["team"] != "shop" || made.GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"] != "" || made.GetAnnotations()["deployment.kubernetes.io/revision"] != "" {
		t.Errorf("labels %v, annotations %v", made.GetLabels(), made.GetAnnotations())
	}
	if got := b.scales(t); got != "CloneSet/web" {
		t.Errorf("the autoscaler scales %s", got)
	}
	b.call(t, "migrate", "cloneset/web", "--to", "Deployment", "--yes").ends(t, 0, "Successfully migrated 4 replicas from CloneSet/web to Deployment/web")
	b.hasReplicas(t, "apps/v1", "Deployment", 4)
	b.hasReplicas(t, kruiseV1, "CloneSet", 0)
	if got := b.scales(t); got != "Deployment/web" {
		t.Errorf("the autoscaler scales %s", got)
	}
}

var progressLine = regexp.MustCompile(`scale in (\d+), CloneSet/web scale out (\d+)`)

// TestMigrate_MovesReferringObjects: what names the Deployment in a targetRef that cannot change has a
// twin for the CloneSet before pods come, and goes when all have; budgets of Kruise
// are asked. The way back ends at the beginning.
func TestMigrate_MovesReferringObjects(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, strings.Split(deploymentWeb, "---")[0]+`---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web, labels: {team: shop}}
spec: {maxUnavailable: 1, targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: apps.kruise.io/v1alpha1
kind: WorkloadSpread
metadata: {name: web}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  subsets: [{name: a, maxReplicas: 2, patch: {metadata: {labels: {zone: a}}}}, {name: b}]
`)
	b.awaitReady(t, 4)
	named := func() string {
		return strings.TrimSpace(b.call(t, "get", "podunavailablebudgets,workloadspreads", "-o", `jsonpath={range .items[*]}{.metadata.name}={.spec.targetRef.kind}/{.spec.targetRef.name}{.metadata.labels.team} {end}`).out)
	}
	b.call(t, "migrate", "deployment/web", "--to", "CloneSet", "--max-surge", "2", "--yes").ends(t, 0,
		"podunavailablebudget/web-cloneset is made for CloneSet/web; web goes afterwards", "workloadspread/web-cloneset is made for CloneSet/web", "podunavailablebudget/web is asked before pods go", "Successfully migrated 4 replicas")
	if got := named(); got != "web-cloneset=CloneSet/webshop web-cloneset=CloneSet/web" {
		t.Errorf("after the way there: %s", got)
	}
	b.call(t, "migrate", "cloneset/web", "--to", "Deployment", "--max-surge", "2", "--yes").ends(t, 0, "Successfully migrated 4 replicas")
	if got := named(); got != "web=Deployment/webshop web=Deployment/web" {
		t.Errorf("after the way back: %s", got)
	}
}

// inBatches checks each line of progress: what was taken has come before, no more than
// surge is ahead, and nothing goes back. How a budget parts a batch is left to it.
func inBatches(t *testing.T, out string, surge int) {
	t.Helper()
	var before [2]int
	lines := progressLine.FindAllStringSubmatch(out, -1)
	for _, l := range lines {
		in, _ := strconv.Atoi(l[1])
		grown, _ := strconv.Atoi(l[2])
		if in > grown || grown-in > surge || in < before[0] || grown < before[1] {
			t.Errorf("%s, after %v", l[0], before)
		}
		before = [2]int{in, grown}
	}
	if len(lines) < 3 || before != [2]int{4, 4} {
		t.Errorf("%d lines of progress, the last %v", len(lines), before)
	}
}

// scales is what the autoscaler scales.
func (b *bed) scales(t *testing.T) string {
	t.Helper()
	h, err := b.Client().AutoscalingV2().HorizontalPodAutoscalers(b.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	if h.Annotations[recordOfMigration] != "" {
		return "held back"
	}
	return h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name
}

// TestDefectMigrate_MovesNoMoreReplicasThanThereAre: the older plugin's form, its flags and its lines; but
// replicas are copied where that is asked for, and more than there are cannot be moved.
func TestDefectMigrate_MovesNoMoreReplicasThanThereAre(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, deploymentWeb)
	b.awaitReady(t, 4)
	form := func(more ...string) answer {
		return b.call(t, append([]string{"migrate", "CloneSet", "--from", "Deployment", "--src-name", "web", "--dst-name", "web"}, more...)...)
	}
	form().ends(t, 1, "CloneSet/web does not exist", "--create")
	form("--replicas", "0").ends(t, 2, "invalid replicas 0")
	form("--create", "--dry-run").ends(t, 0, "Make CloneSet/web of Deployment/web.")
	form("--create", "--dry-run=server").ends(t, 0, "CloneSet/web created (server dry run)")
	// Without --copy there are none: the older plugin copied them all the same.
	form("--create").ends(t, 0, "Successfully created from Deployment/web to CloneSet/web")
	b.hasReplicas(t, kruiseV1, "CloneSet", 0)
	form("--create").ends(t, 1, "exists already")
	form("--replicas", "9").ends(t, 2, "invalid replicas 9")
	a := form("--replicas", "3", "--max-surge", "2").ends(t, 0, "Migration progress: Deployment/web scale in 3, CloneSet/web scale out 3", "Successfully migrated 3 replicas from Deployment/web to CloneSet/web")
	if a.out != "" {
		t.Errorf("lines of migrate are for stderr: %q", a.out)
	}
	b.hasReplicas(t, "apps/v1", "Deployment", 1)
	b.hasReplicas(t, kruiseV1, "CloneSet", 3)
	b.call(t, "migrate", "CloneSet", "--from", "Deployment", "--src-name", "web", "--dst-name", "copy", "--create", "--copy").ends(t, 0)
	if n, _ := b.replicas(t, kruiseV1, "CloneSet", "copy"); n != 1 {
		t.Errorf("the copy has %d replicas", n)
	}
}

// TestDefectMigrate_CopiesNoFinalizers: finalizers are not copied: nothing would remove them.
func TestDefectMigrate_CopiesNoFinalizers(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, strings.Replace(deploymentWeb, "  name: web\n", "  name: web\n  finalizers: [example.com/hold]\n", 1))
	b.call(t, "migrate", "CloneSet", "--from", "Deployment", "--src-name", "web", "--create", "--copy").ends(t, 0)
	if n, _ := b.replicas(t, kruiseV1, "CloneSet", "web"); n != 4 {
		t.Errorf("--copy made %d replicas", n)
	}
	if f := b.get(t, kruiseV1, "CloneSet", "web").GetFinalizers(); len(f) > 0 {
		t.Errorf("finalizers: %v", f)
	}
	_, err := b.Client().AppsV1().Deployments(b.namespace).Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	must(t, err)
}

// TestDefectMigrate_ContinuesAfterAKill: a command that is killed on the way continues where it was, with the
// numbers of the beginning; so does who was out of time.
func TestDefectMigrate_ContinuesAfterAKill(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, deploymentWeb+"---"+scalerWeb)
	b.awaitReady(t, 4)
	least := b.fewest(t)
	for kills := 0; ; kills++ {
		cmd := b.command(t, "migrate", "deployment/web", "--to", "CloneSet", "--yes")
		said, err := cmd.StderrPipe()
		must(t, err)
		must(t, cmd.Start())
		killed := false
		text := readUntil(said, fmt.Sprintf("CloneSet/web scale out %d", kills+1))
		if kills < 3 {
			killed = cmd.Process.Kill() == nil
		}
		_ = readUntil(said, "\x00")
		err = cmd.Wait()
		if kills > 0 && !strings.Contains(text, "Continue to move 4 replicas from Deployment/web to CloneSet/web: ") {
			t.Errorf("after %d kills it started again:\n%s", kills, text)
		}
		if !killed {
			must(t, err)
			break
		}
	}
	if n := least(); n < 4 {
		t.Errorf("only %d pods were ready at a time", n)
	}
	b.hasReplicas(t, "apps/v1", "Deployment", 0)
	b.hasReplicas(t, kruiseV1, "CloneSet", 4)
	if got := b.scales(t); got != "CloneSet/web" {
		t.Errorf("the autoscaler scales %s", got)
	}
}

// readUntil reads until a text comes, or the end.
func readUntil(r interface{ Read([]byte) (int, error) }, text string) string {
	var all strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		all.Write(buf[:n])
		if err != nil || strings.Contains(all.String(), text) {
			return all.String()
		}
	}
}

// TestMigrate_TurnsBackHalfway: halfway there the way back ends at the beginning.
func TestMigrate_TurnsBackHalfway(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, deploymentWeb+"---"+scalerWeb)
	b.awaitReady(t, 4)
	cmd := b.command(t, "migrate", "deployment/web", "--to", "CloneSet", "--yes")
	said, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	_ = readUntil(said, "scale out 2")
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	b.call(t, "migrate", "cloneset/web", "--to", "Deployment", "--yes").ends(t, 0)
	b.hasReplicas(t, "apps/v1", "Deployment", 4)
	b.hasReplicas(t, kruiseV1, "CloneSet", 0)
	if got := b.scales(t); got != "Deployment/web" {
		t.Errorf("the autoscaler scales %s", got)
	}
}

// TestMigrateStatefulSet_KeepsPodNames: pods keep their names, and one at a time is away.
func TestMigrateStatefulSet_KeepsPodNames(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 3
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:1"}]}
`)
	b.awaitReady(t, 3)
	least := b.fewest(t)
	b.call(t, "migrate", "statefulset.apps/web", "--to", "AdvancedStatefulSet", "--yes").ends(t, 0, "Successfully migrated 3 replicas")
	b.hasReplicas(t, "apps/v1", "StatefulSet", 0)
	b.hasReplicas(t, kruiseV1, "StatefulSet", 3)
	b.owners(t, "apps.kruise.io/v1beta1")
	b.call(t, "migrate", "asts/web", "--to", "StatefulSet", "--yes").ends(t, 0, "Successfully migrated 3 replicas")
	b.hasReplicas(t, "apps/v1", "StatefulSet", 3)
	b.hasReplicas(t, kruiseV1, "StatefulSet", 0)
	b.owners(t, "apps/v1")
	if n := least(); n < 2 {
		t.Errorf("only %d pods were ready at a time", n)
	}
}

// owners fails the test unless the pods 0 to 2 belong to a kind of this group.
func (b *bed) owners(t *testing.T, apiVersion string) {
	t.Helper()
	for i := range 3 {
		p, err := b.Client().CoreV1().Pods(b.namespace).Get(t.Context(), fmt.Sprintf("web-%d", i), metav1.GetOptions{})
		must(t, err)
		if len(p.OwnerReferences) != 1 || p.OwnerReferences[0].APIVersion != apiVersion {
			t.Errorf("%s belongs to %v", p.Name, p.OwnerReferences)
		}
	}
}

// TestMigrate_RefusesWhatWouldFail: bad input, and what would go wrong.
func TestMigrate_RefusesWhatWouldFail(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, deploymentWeb+"---"+scalerWeb)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "give one workload", nil},
		{2, "is not TYPE/NAME", []string{"deployment/", "--to", "CloneSet"}},
		{2, "must specify --to", []string{"deployment/web"}},
		{2, "cannot become", []string{"deployment/web", "--to", "AdvancedStatefulSet"}},
		{2, "cannot move", []string{"job/web", "--to", "AdvancedDaemonSet"}},
		{2, "as dst type", []string{"Job", "--from", "Deployment"}},
		{2, "must specify --from", []string{"CloneSet"}},
		{2, "must specify --src-name", []string{"CloneSet", "--from", "Deployment"}},
		{2, "must specify --dst-name", []string{"CloneSet", "--from", "Deployment", "--src-name", "web"}},
		{2, "as src type", []string{"CloneSet", "--from", "StatefulSet", "--src-name", "web", "--dst-name", "web"}},
		{2, "its name, which cannot change", []string{"statefulset.apps/web", "--to", "AdvancedStatefulSet", "--dst-name", "other"}},
		{1, `"none" not found`, []string{"deployment/none", "--to", "CloneSet"}},
		{2, "cannot ask for confirmation", []string{"deployment/web", "--to", "CloneSet"}},
		{1, "not 2 of 4", []string{"deployment/web", "--to", "CloneSet", "--replicas", "2"}},
	} {
		b.call(t, append([]string{"migrate"}, c.args...)...).ends(t, c.code, c.want)
	}
	if n, _ := b.replicas(t, "apps/v1", "Deployment", "web"); n != 4 {
		t.Errorf("%d replicas are left", n)
	}
}

// TestMigrate_TimeoutEndsWith4: what takes too long ends by itself, with 4.
func TestMigrate_TimeoutEndsWith4(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, strings.Replace(deploymentWeb, "maxUnavailable: 0", "minAvailable: 9", 1))
	b.awaitReady(t, 4)
	b.call(t, "migrate", "CloneSet", "--from", "Deployment", "--src-name", "web", "--create").ends(t, 0)
	b.call(t, "migrate", "CloneSet", "--from", "Deployment", "--src-name", "web", "--dst-name", "web", "--timeout-seconds", "20").ends(t, 4, "failed to migrate: task timeout exceeded")
	if n, onRecord := b.replicas(t, kruiseV1, "CloneSet", "web"); n != 1 || !onRecord {
		t.Errorf("%d replicas were moved; recorded: %v", n, onRecord)
	}
	b.hasReplicas(t, "apps/v1", "Deployment", 4)
}
