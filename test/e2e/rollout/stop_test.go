package rollout

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// slowly is a workload whose rollout takes some seconds for each pod.
func slowly(w workload, kind string) workload {
	slow := "minReadySeconds: 2"
	switch {
	case strings.Contains(kind, "DaemonSet"): // on a few nodes
		slow = "minReadySeconds: 5"
	case kind == "Advanced StatefulSet":
		slow = "updateStrategy: {rollingUpdate: {minReadySeconds: 2}}"
	}
	w.text = strings.Replace(strings.ReplaceAll(w.text, "replicas: 4", "replicas: 7"), "spec:\n", "spec:\n  "+slow+"\n", 1)
	return w
}

// untouched are the pods of the old template that nothing has begun to change.
func (b *bed) untouched(t *testing.T) map[types.UID]bool {
	t.Helper()
	out := map[types.UID]bool{}
	for _, p := range b.pods(t) {
		if p.Spec.Containers[0].Image == web1 {
			out[p.UID] = true
		}
	}
	return out
}

// process is a rollout that a process of its own drives.
type process struct {
	cmd   *exec.Cmd
	out   bytes.Buffer
	ended chan struct{}
}

// started starts the command as a process of a person with approvals of their own.
func started(t *testing.T, b *bed, state string, args ...string) *process {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testcluster.Patience)
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, path, append(args, "-n", b.namespace, "--kubeconfig", b.Kubeconfig())...)
	p.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	must(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() { cancel(); <-p.ended })
	return p
}

// driven begins a rollout of all pods in one step, and returns when two pods of seven have
// changed, or one of three.
func driven(t *testing.T, b *bed, state string, driver plan.Driver) *process {
	t.Helper()
	time.Sleep(settles) // a pod that is not available yet is replaced beside the budget
	p := started(t, b, state, "rollout", "run", b.typed(), "--image", "main="+web2, "--yes", "--pull-images", "never",
		"--steps", "100%", "--driver", string(driver), "--on-failure", "rollback")
	all := len(b.untouched(t))
	for len(b.untouched(t)) > all-min(2, all/3) {
		select {
		case <-p.ended:
			t.Fatalf("the rollout has ended:\n%s", &p.out)
		case <-time.After(lookAgain):
		}
	}
	return p
}

// ends has the process end by a signal.
func (p *process) ends(t *testing.T, by os.Signal) {
	t.Helper()
	must(t, p.cmd.Process.Signal(by))
	<-p.ended
}

// exits waits for the end of a process, which has to have this exit code, and returns what it
// has printed.
func (p *process) exits(t *testing.T, code int) string {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		t.Fatalf("it does not end:\n%s", &p.out)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit %d, want %d\n%s", got, code, &p.out)
	}
	return p.out.String()
}

// settles is how long the controllers are watched after a stop: each would change two pods
// and more.
const settles = 6 * time.Second

// unchanged wants the pods left alone that nothing had begun to change when a verb answered.
func (b *bed) unchanged(t *testing.T, said string) {
	t.Helper()
	before := b.untouched(t)
	if len(before) == 0 {
		t.Errorf("no pod was left of %d:\n%s", len(b.pods(t)), said)
	}
	time.Sleep(settles)
	after := b.untouched(t)
	for uid := range before {
		if !after[uid] {
			t.Errorf("%d of %d pods that were left have changed within %s after the answer:\n%s\n%s", len(before)-len(after), len(before), settles, said, b.live(t))
			return
		}
	}
}

// oneAtATime is a CloneSet that changes one pod at a time.
var oneAtATime = struct {
	workload workload
	driver   plan.Driver
}{kruiseKind("CloneSet", "clonesets", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}"), plan.DriverKruise}

// TestPause_AfterAKillStopsTheController: the process that drove the rollout was killed and its lease is still
// there: the verb waits for it a moment and stops the controller itself.
func TestPause_AfterAKillStopsTheController(t *testing.T) {
	t.Parallel()
	c := oneAtATime
	b, state := newBed(t, slowly(c.workload, "CloneSet")), t.TempDir()
	p := driven(t, b, state, c.driver)
	p.ends(t, syscall.SIGKILL)
	code, out, said := from(t, b, state, "rollout", "pause", b.typed())
	if code != 0 || !strings.Contains(said, "no further pod is updated") {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	b.unchanged(t, said)
}

// TestPause_ByAnApproverStopsNoController: who may write the record alone sees that the controller continues,
// where no process is there to stop it.
func TestPause_ByAnApproverStopsNoController(t *testing.T) {
	t.Parallel()
	c := oneAtATime
	b, state := newBed(t, slowly(c.workload, "CloneSet")), t.TempDir()
	account := b.person(t, "approver", nil, "--role", "approve", "--name", b.namespace+"-approver", "--in", b.namespace)
	as := func(args ...string) (int, string, string) {
		return fromAs(t, b, kubeconfig(t, account), t.TempDir(), args...)
	}
	p := driven(t, b, state, c.driver)
	code, _, said := as("rollout", "pause", b.typed())
	if code != 0 || !strings.Contains(said, "no further pod is updated") {
		t.Errorf("with a process: exit %d\n%s", code, said)
	}
	b.unchanged(t, said)
	if code, _, said = from(t, b, state, "rollout", "resume", b.typed(), "--no-wait"); code != 0 {
		t.Errorf("exit %d\n%s", code, said)
	}
	p.ends(t, os.Interrupt)
	code, _, said = as("rollout", "abort", b.typed())
	if code != 1 || !strings.Contains(said, "still updated") || !strings.Contains(said, "kubectl kruise rbac") {
		t.Errorf("without a process: exit %d\n%s", code, said)
	}
	if code, _, said = from(t, b, state, "rollout", "abort", b.typed()); code != 0 {
		t.Errorf("exit %d\n%s", code, said)
	}
}
