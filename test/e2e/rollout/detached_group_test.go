package rollout

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

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
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
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
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
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
	for late := time.Now().Add(time.Minute); !slices.Equal(b.updated(t, image), want); time.Sleep(50 * time.Millisecond) {
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
	b := newTroop(t, []int{0, 0, 1}, nil, newImage)
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

// TestGroup_DetachedOnResume: a Job carries on a group that another process has left, if its user
// has approved it; a group that was edited since is not carried out, and no other runner
// tries.
func TestGroup_DetachedOnResume(t *testing.T) {
	t.Parallel()
	b := newTroop(t, []int{0, 1}, nil, newImage)
	state, job := t.TempDir(), []string{"--detach", "--runner-namespace", b.runners(t), "--runner-image", runnerImage}
	args := b.group("--group", "all", "--driver", "kruise", "--exit-on-pause", "--pause-after", "1", "--steps", "50%,100%")
	if code, out, said := from(t, b.bed, state, args...); code != 5 {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	if text := b.verb(t, t.TempDir(), 1, append([]string{"resume"}, job...)...); !strings.Contains(text, "not one that you approved") {
		t.Error(text)
	}
	b.verb(t, state, 0, append([]string{"resume"}, job...)...)
	j := b.job(t, job[2])
	maps := b.Client().CoreV1().ConfigMaps(b.namespace)
	edit := func(from, to string) {
		t.Helper()
		cm, err := maps.Get(t.Context(), "rollout-group.all", metav1.GetOptions{})
		must(t, err)
		cm.Data["group"] = strings.Replace(cm.Data["group"], from, to, 1)
		_, err = maps.Update(t.Context(), cm, metav1.UpdateOptions{})
		must(t, err)
	}
	edit(`"wave":1`, `"wave":-1`)
	b.play(t, j, "rollout-all-a", nil).ends(t, 3, "not one that you approved", "was edited")
	edit(`"wave":-1`, `"wave":1`)
	p := b.play(t, j, "rollout-all-b", nil)
	b.runsGroup(t, p)
	for b.updated(t, web2)[1] < 2 {
		from(t, b.bed, state, "rollout", "promote", "--group", "all", "--no-wait")
		time.Sleep(200 * time.Millisecond)
	}
	p.ends(t, 0, "group all: completed")
}

// TestGroup_DetachedByAManifest: what is printed for a group carries it out, from plans that
// cannot be changed, and again does nothing.
func TestGroup_DetachedByAManifest(t *testing.T) {
	t.Parallel()
	b := newTroop(t, []int{0, 1}, map[int]string{1: `, kubectl-kruise.dev/depends-on: cloneset/web-0`}, newImage)
	runners := b.runners(t)
	args := b.group("--group", "all", "--driver", "kruise", "--detach", "--manifest", "--parallel", "1", "--runner-namespace", runners, "--runner-image", runnerImage)
	code, out, said := from(t, b.bed, t.TempDir(), args...)
	if code != 0 || !strings.Contains(said, "group all: sha256:") {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	b.hasImages(t, web2, 0, 0)
	b.Apply(t, runners, out)
	plans, jobs, _ := strings.Cut(out, "\n---\napiVersion: batch/v1\n")
	var cm corev1.ConfigMap
	must(t, yaml.Unmarshal([]byte(plans), &cm))
	var j batchv1.Job
	must(t, yaml.UnmarshalStrict([]byte("apiVersion: batch/v1\n"+jobs), &j))
	edited := map[string]string{"plan.yaml": strings.Replace(cm.Data["plan.yaml"], "parallel: 1", "parallel: 2", 1)}
	b.play(t, &j, "rollout-all-a", edited).ends(t, 3, "was approved")
	b.hasImages(t, web2, 0, 0)
	b.play(t, &j, "rollout-all-b", cm.Data).ends(t, 0, "group all: completed")
	b.hasImages(t, web2, 2, 2)
	b.play(t, &j, "rollout-all-c", cm.Data).ends(t, 0, "completed already")
	// After another group of that name, the old plans do not fit any more.
	must(t, os.WriteFile(b.file, []byte(strings.ReplaceAll(textOfFile(t, b.file), web2, "registry.example.com/web:3")), 0o600))
	if code, out, said := from(t, b.bed, t.TempDir(), b.group("--group", "all")...); code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	b.play(t, &j, "rollout-all-d", cm.Data).ends(t, 3, "the plan does not fit")
}

// TestGroup_RolledBackWhileDetached: abort --rollback works while another process carries the
// group out: that one lets go, and the user's own rolls back. A runner ends as failed.
func TestGroup_RolledBackWhileDetached(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"a process", "a Job"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			b := newTroop(t, []int{0, 0, 1}, nil, newImage)
			state, paused := t.TempDir(), []string{"--steps", "50%,100%", "--pause-after", "50%"}
			var ends func()
			if by == "a Job" {
				p := b.play(t, b.detachAll(t, state, b.runners(t), paused...), "rollout-all-a", nil)
				ends = func() { p.ends(t, 3, "continues when that process stops") }
			} else {
				p := started(t, b.bed, state, append(b.group("--group", "all"), paused...)...)
				ends = func() { p.exits(t, 1) }
			}
			b.comesTo(t, web2, 1, 1, 0)
			b.verb(t, state, 0, "abort", "--rollback", "--yes")
			b.hasImages(t, web1, 2, 2, 2)
			ends()
		})
	}
}

// TestGroup_RetryContinuesFailedMembers: retry continues the rollouts of a group that have failed, and the group
// with them.
func TestGroup_RetryContinuesFailedMembers(t *testing.T) {
	t.Parallel()
	b := newTroop(t, []int{0, 0, 1}, nil, newImage)
	state := t.TempDir()
	var works atomic.Bool
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(service.Close)
	args := b.group("--group", "all", "--verify-url", service.URL)
	if code, out, said := from(t, b.bed, state, args...); code != 3 {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	works.Store(true)
	if text := b.verb(t, state, 0, "retry", "--dry-run=client"); !strings.Contains(text, "rollouts changed (dry run)") {
		t.Error(text)
	}
	if text := b.verb(t, state, 0, "retry"); !strings.Contains(text, "group all: completed: 3 of 3 completed") {
		t.Error(text)
	}
	b.hasImages(t, web2, 2, 2, 2)
}

// TestGroup_DryRunWritesNothing: a dry run of a verb shows what it does to each rollout and the requests
// that follow, and changes nothing.
func TestGroup_DryRunWritesNothing(t *testing.T) {
	t.Parallel()
	b := newTroop(t, []int{0, 1}, nil, newImage)
	state := t.TempDir()
	if code, out, said := from(t, b.bed, state, append(b.group("--group", "all", "--exit-on-pause"), "--steps", "50%,100%", "--pause-after", "50%")...); code != 5 {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	before := b.verb(t, state, 0, "status")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"pause"}, []string{"group all: 1 of 2 rollouts changed (dry run)", "PATCH", "/clonesets/web-0"}},
		{[]string{"promote"}, []string{"promoted past step", "(dry run)", "/clonesets/web-0"}},
		{[]string{"abort"}, []string{"group all: 1 of 2 rollouts changed (dry run)", "/clonesets/web-0"}},
		{[]string{"abort", "--rollback"}, []string{"group all: 1 of 2 rollouts changed (dry run)", "/clonesets/web-0"}},
	} {
		text := b.verb(t, state, 0, append(c.args, "--dry-run=client")...)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v lacks %q:\n%s", c.args, want, text)
			}
		}
	}
	if after := b.verb(t, state, 0, "status"); after != before {
		t.Errorf("a dry run has changed the group:\n%s\n%s", before, after)
	}
	b.hasImages(t, web2, 1, 0)
}
