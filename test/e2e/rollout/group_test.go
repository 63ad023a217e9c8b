package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// troop is several CloneSets at rest, of two pods each, in a namespace of their own.
type troop struct {
	*bed
	file string
	size int
}

// troopText is one CloneSet of a troop, in a wave. Its pods take two seconds to be available.
func troopText(i, wave int, image string) string {
	return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: web-%[1]d
  labels: {team: shop}
  annotations: {wave: "%[2]d"}
spec:
  replicas: 2
  minReadySeconds: 1
  selector: {matchLabels: {app: web-%[1]d}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: ReCreate, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web-%[1]d, team: shop}}
    spec: {containers: [{name: main, image: "%[3]s"}]}
---
`, i, wave, image)
}

// newTroop makes as many CloneSets as there are waves given, and a file in which they have the new image.
func newTroop(t *testing.T, waves ...int) *troop {
	t.Helper()
	c, namespace := shared(t)
	b := &troop{bed: &bed{Cluster: c, namespace: namespace}, file: filepath.Join(t.TempDir(), "shop.yaml"), size: len(waves)}
	var before, after strings.Builder
	for i, wave := range waves {
		before.WriteString(troopText(i, wave, web1))
		after.WriteString(troopText(i, wave, web2))
	}
	c.Apply(t, namespace, before.String())
	await(t, c, namespace, 2*len(waves))
	must(t, os.WriteFile(b.file, []byte(after.String()), 0o600))
	return b
}

// updated is how many ready pods of each CloneSet run an image.
func (b *troop) updated(t *testing.T, image string) []int {
	t.Helper()
	list, err := b.Client().CoreV1().Pods(b.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	out := make([]int, b.size)
	for i := range out {
		out[i] = running(slices.DeleteFunc(slices.Clone(list.Items), func(p corev1.Pod) bool { return p.Labels["app"] != fmt.Sprint("web-", i) || p.DeletionTimestamp != nil }), image)
	}
	return out
}

// group are the flags of a rollout of the troop.
func (b *troop) group(more ...string) []string {
	return append([]string{"rollout", "run", "-f", b.file, "--wave-by", "wave", "--pull-images", "never", "--steps", "100%", "--yes"}, more...)
}

func (b *troop) hasImages(t *testing.T, image string, want ...int) {
	t.Helper()
	if got := b.updated(t, image); !slices.Equal(got, want) {
		t.Errorf("%s runs in %v pods, want %v", image, got, want)
	}
}

// TestGroup_ContinuesAfterKills: a group whose process is killed, again and again, is continued by others
// from where it is.
func TestGroup_ContinuesAfterKills(t *testing.T) {
	t.Parallel()
	b := newTroop(t, 0, 0, 1, 1, 2)
	state := t.TempDir()
	args := b.group("--parallel", "2", "--group", "all")
	for try := range 4 {
		p := started(t, b.bed, state, args...)
		select {
		case <-p.ended:
			t.Fatalf("it has ended:\n%s", &p.out)
		case <-time.After(time.Duration(5+try) * time.Second):
		}
		if try == 0 {
			for b.updated(t, web2)[0] == 0 {
				time.Sleep(lookAgain)
			}
		}
		p.ends(t, syscall.SIGKILL)
		args = []string{"rollout", "resume", "--group", "all"}
		if slices.Equal(b.updated(t, web2), []int{2, 2, 2, 2, 2}) {
			break
		}
	}
	if code, out, said := from(t, b.bed, state, args...); code != 0 {
		t.Errorf("exit %d\n%s\n%s", code, out, said)
	}
	b.hasImages(t, web2, 2, 2, 2, 2, 2)
}

// TestGroup_KeepsSharedBudgetAfterKill: a process that resumes a group knows the budgets that
// its members share, though no record has them: only one member starts where a
// PodDisruptionBudget covers both and leaves room for one.
func TestGroup_KeepsSharedBudgetAfterKill(t *testing.T) {
	t.Parallel()
	b := newTroop(t, 0, 0)
	b.Apply(t, b.namespace, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: shop}\nspec: {minAvailable: 3, selector: {matchLabels: {team: shop}}}\n")
	b.awaitDisruptionBudget(t, "shop", 1)
	state := t.TempDir()
	args := append(b.group("--group", "all"), "--pause-after", "1")
	args[slices.Index(args, "100%")] = "50%,100%"
	p := started(t, b.bed, state, args...)
	b.waits(t, 1)
	b.hasImages(t, web2, 1, 0)
	p.ends(t, syscall.SIGKILL)
	killed := time.Now()
	const blocked = "poddisruptionbudget/%s/shop allows 1 unavailable pod"
	if text := b.verb(t, state, 5, "resume", "--exit-on-pause"); !strings.Contains(text, fmt.Sprintf(blocked, b.namespace)) {
		t.Errorf("the member that has not started does not name the budget:\n%s", text)
	}
	t.Logf("%s from the kill to the pause after resuming; a Lease lasts 20 s", time.Since(killed).Round(100*time.Millisecond))
	b.hasImages(t, web2, 1, 0)
	b.verb(t, state, 5, "promote", "--exit-on-pause") // the first is completed; the second begins, and waits
	b.hasImages(t, web2, 2, 1)
	b.verb(t, state, 0, "promote")
	b.hasImages(t, web2, 2, 2)
}

// awaitDisruptionBudget waits until a PodDisruptionBudget allows so many evictions.
func (b *troop) awaitDisruptionBudget(t *testing.T, name string, allowed int32) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(lookAgain) {
		pdb, err := b.Client().PolicyV1().PodDisruptionBudgets(b.namespace).Get(t.Context(), name, metav1.GetOptions{})
		must(t, err)
		if pdb.Status.ObservedGeneration > 0 && pdb.Status.DisruptionsAllowed == allowed {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s allows %d evictions, want %d", name, pdb.Status.DisruptionsAllowed, allowed)
		}
	}
}
