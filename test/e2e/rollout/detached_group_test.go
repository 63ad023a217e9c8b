package rollout

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/notify"
)

// detachAll has the troop rolled out as group all by a Job, and returns it.
func (b *troop) detachAll(t *testing.T, state, runners string, more ...string) *batchv1.Job {
	t.Helper()
	args := b.group("--group", "all", "--driver", "kruise", "--detach", "--runner-namespace", runners, "--runner-image", runnerImage)
	code, out, said := from(t, b.bed, state, append(args, more...)...)
	if code != 0 || !strings.Contains(out, "job.batch/rollout-all-") {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	return b.job(t, runners)
}

// verb calls a verb for group all, and returns all that it prints.
func (b *troop) verb(t *testing.T, state string, want int, args ...string) string {
	t.Helper()
	code, out, said := from(t, b.bed, state, append([]string{"rollout"}, append(args, "--group", "all")...)...)
	if code != want {
		t.Fatalf("%v: exit %d, want %d\n%s\n%s", args, code, want, out, said)
	}
	return out + said
}

// runsGroup waits until a pod carries group all out.
func (b *troop) runsGroup(t *testing.T, p *played) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(lookAgain) {
		_, out, _ := from(t, b.bed, t.TempDir(), "rollout", "status", "--group", "all", "-o", "json")
		var status struct{ Holder string }
		if json.Unmarshal([]byte(out), &status) == nil && strings.HasPrefix(status.Holder, "runner@"+p.name+" ") {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s does not carry the group out:\n%s\n%s", p.name, out, &p.out)
		}
	}
}

// waits returns when so many rollouts of group all wait for a user.
func (b *troop) waits(t *testing.T, n int) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(lookAgain) {
		_, out, _ := from(t, b.bed, t.TempDir(), "rollout", "status", "--group", "all", "-o", "json")
		if strings.Count(out, `"phase": "waiting"`) == n {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%d rollouts do not come to wait:\n%s", n, out)
		}
	}
}

// comesTo waits until so many ready pods of each workload run an image.
func (b *troop) comesTo(t *testing.T, image string, want ...int) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !slices.Equal(b.updated(t, image), want); time.Sleep(lookAgain) {
		if time.Now().After(late) {
			t.Fatalf("%s runs in %v pods, want %v", image, b.updated(t, image), want)
		}
	}
}

// TestGroup_DetachedCompletes: a Job carries a group out by exactly the roles that are printed, through
// the end of a pod; users steer and watch it from elsewhere, and a web hook hears of each
// rollout.
func TestGroup_DetachedCompletes(t *testing.T) {
	t.Parallel()
	b := newTroop(t, 0, 0, 1)
	state, hook := t.TempDir(), newHeard(t)
	j := b.detachAll(t, state, b.runners(t), "--steps", "50%,100%", "--pause-after", "50%", "--notify", hook.URL, "--runner-notify-secret", "hooks")
	_, err := b.Client().CoreV1().Pods(j.Namespace).Create(t.Context(), asPod(j), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	must(t, err) // the namespace enforces the restricted level
	first := b.play(t, j, "rollout-all-a", nil)
	b.runsGroup(t, first)
	watching := started(t, b.bed, t.TempDir(), "rollout", "status", "--group", "all", "--watch")
	b.comesTo(t, web2, 1, 1, 0)
	if _, out, _ := from(t, b.bed, state, "rollout", "list"); !strings.Contains(out, "GROUP") || strings.Count(out, " all ") != 2 {
		t.Errorf("rollout list does not name the group:\n%s", out)
	}
	b.verb(t, state, 1, "resume", "--detach", "--runner-namespace", j.Namespace, "--runner-image", runnerImage) // it is carried out
	must(t, first.Process.Signal(syscall.SIGTERM))
	first.ends(t, 130)
	second := b.play(t, j, "rollout-all-b", nil)
	b.runsGroup(t, second)
	b.waits(t, 2)
	if text := b.verb(t, state, 0, "promote"); !strings.Contains(text, "2 of 3 rollouts changed") || !strings.Contains(text, "runner@rollout-all-b") {
		t.Error(text)
	}
	b.comesTo(t, web2, 2, 2, 1)
	b.waits(t, 1)
	b.verb(t, state, 0, "promote")
	second.ends(t, 0, "group all: completed: 3 of 3 completed")
	b.hasImages(t, web2, 2, 2, 2)
	b.play(t, j, "rollout-all-c", nil).ends(t, 0, "completed already")
	if text := watching.exits(t, 0); !strings.Contains(text, "group all: 2 rollouts wait for a user") || !strings.Contains(text, "group all: completed: 3 of 3 completed") {
		t.Errorf("what was watched:\n%s", text)
	}
	for kind, least := range map[string]int{notify.Started: 3, notify.Waiting: 3, notify.Completed: 3} {
		if n := count(hook.types, kind); n < least {
			t.Errorf("the web hook was told of %d %s, and there were %d: %q", n, kind, least, hook.types)
		}
	}
}

func count(list []string, one string) (n int) {
	for _, text := range list {
		if text == one {
			n++
		}
	}
	return n
}
