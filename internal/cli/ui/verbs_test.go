package ui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// verb calls a verb of `rollout` over a server, and returns what it says.
func verb(t *testing.T, a *api, args ...string) (said string, err error) {
	t.Helper()
	return verbIn(t.Context(), t, a, args...)
}

func verbIn(ctx context.Context, t *testing.T, a *api, args ...string) (said string, err error) {
	t.Helper()
	namespace := "shop"
	flags := genericclioptions.NewConfigFlags(true)
	flags.APIServer, flags.Namespace = &a.url, &namespace
	var out bytes.Buffer
	f := factory.New(factory.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	f.Flags = flags
	c := rollout.New(f, nil)
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.ExecuteContext(ctx)
	return out.String(), err
}

// on returns the recorded rollout.
func on(t *testing.T, l *liveSource) plan.Record {
	t.Helper()
	rec, err := kube.Records{Client: l.core, StateNamespace: "kruise"}.Load(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestKeys_DoWhatTheVerbsDo: what a verb does to a recorded rollout, its key does, in every
// state: both say the same and leave the same record, or are refused in the same words.
func TestKeys_DoWhatTheVerbsDo(t *testing.T) {
	type both struct {
		verb []string
		key  world.Verb
	}
	promote, abort := both{[]string{"promote", "cloneset/web", "--no-wait"}, world.Promote}, both{[]string{"abort", "cloneset/web"}, world.Abort}
	resume := both{[]string{"resume", "cloneset/web", "--no-wait"}, world.PauseResume}
	retry := both{[]string{"retry", "cloneset/web", "--no-wait"}, world.PauseResume}
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	start := on(t, l).Progress
	records := kube.Records{Client: l.core, StateNamespace: "kruise"}
	for name, c := range map[string]struct {
		state func(*plan.Progress)
		does  []both
	}{
		"running": {func(*plan.Progress) {}, []both{promote, resume, abort}}, // by no process
		"held":    {func(p *plan.Progress) { p.PausedBy = "by a colleague" }, []both{promote, resume, abort}},
		"halted":  {func(p *plan.Progress) { p.Failed = "it crashed" }, []both{promote, retry, abort}},
		"done":    {func(p *plan.Progress) { p.Step, p.Finished = 3, time.Unix(9, 0) }, []both{promote, abort}},
	} {
		for _, do := range c.does {
			reset := func() {
				if _, err := records.Change(t.Context(), web, "a colleague", func(r *plan.Record) error {
					r.Progress = start
					c.state(&r.Progress)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			reset()
			said, err := verb(t, a, do.verb...)
			byVerb := on(t, l).Progress
			reset()
			// The key would also drive the rollout: only what it says is asked of it where
			// that is so, and the record where not.
			e, effectErr := l.Effect(t.Context(), world.Act{Verb: do.key, On: []cluster.Ref{web}})
			if (err == nil) != (effectErr == nil) || err != nil && !strings.HasSuffix(effectErr.Error(), err.Error()) {
				t.Errorf("%s, %s: the verb says %v, the key %v", name, do.verb[0], err, effectErr)
			}
			if err != nil {
				continue
			}
			if does := e.Changes[web].Transition; string(does) != do.verb[0] || said == "" {
				t.Errorf("%s, %s: the verb says %q, the key would %s", name, do.verb[0], said, does)
			}
			if do.key == world.Abort {
				if _, err := l.Do(t.Context(), world.Act{Verb: do.key, On: []cluster.Ref{web}}); err != nil {
					t.Fatal(err)
				}
				if byKey := on(t, l).Progress; byKey.State(plan.Plan{Steps: make([]plan.Step, 3)}) != byVerb.State(plan.Plan{Steps: make([]plan.Step, 3)}) || byKey.Failed != byVerb.Failed {
					t.Errorf("%s, %s: by the verb %+v, by the key %+v", name, do.verb[0], byVerb, byKey)
				}
			}
		}
	}
}

// TestVerbs_ExecuteRecordedRollouts continues them to their pause, and rolls them back.
func TestVerbs_ExecuteRecordedRollouts(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	if said, err := verb(t, a, "pause", "cloneset/web"); err != nil || !strings.HasPrefix(said, "paused: no further pod is updated until 'rollout resume' (paused: true)") {
		t.Fatalf("%q, %v", said, err)
	}
	if said, err := verb(t, a, "resume", "cloneset/web", "--exit-on-pause"); !errors.Is(err, command.ErrPaused) || !strings.Contains(said, "resumed, now ") {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := verb(t, a, "retry", "cloneset/web"); err == nil || err.Error() != "the rollout has not failed: there is nothing to retry" {
		t.Errorf("%q, %v", said, err)
	}
	_, err := verb(t, a, "undo", "cloneset/web", "--yes")
	if hint, ok := errors.AsType[*tree.Error](err); !ok || !strings.HasPrefix(err.Error(), "cloneset/web has a rollout already: ") || !strings.Contains(hint.Hint, " --rollback' rolls it back") {
		t.Errorf("%v", err)
	}
	if said, err := verb(t, a, "promote", "cloneset/web", "--full", "--to", "1"); err == nil || err.Error() != "--full and --to exclude each other" {
		t.Errorf("%q, %v", said, err)
	}
	// No controller is there: the next step is written, and waited for in vain.
	a = shop(t)
	rolling(t, seeing(t, a, "shop", ""))
	if said, err := verb(t, a, "promote", "cloneset/web", "--timeout", "2s"); !errors.Is(err, command.ErrTimedOut) || !strings.Contains(said, "promoted past step ") {
		t.Errorf("%q, %v", said, err)
	}
	if !wrote(a, `"partition":0`) {
		t.Errorf("%q", a.written())
	}
	a = shop(t)
	l = seeing(t, a, "shop", "")
	rolling(t, l)
	// No revision is there either, so the way back is one that the plan alone knows.
	file := filepath.Join(t.TempDir(), "plan.yaml")
	text, err := planfile.Write(on(t, l).Plan)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, err := verb(t, a, "abort", "cloneset/web", "--rollback", "--yes", "--timeout", "2s", "--plan", file); !errors.Is(err, command.ErrTimedOut) || !strings.Contains(said, "aborted at step ") {
		t.Errorf("%q, %v", said, err)
	}
	if rec := on(t, l); !strings.HasPrefix(rec.Plan.RollbackReason, "aborted by ") || rec.State() != plan.StateRunning || !wrote(a, "web:1") {
		t.Errorf("%+v, %+v", rec.Plan.RollbackReason, rec.Progress)
	}
}

// wrote reports whether a patch of the workload held some text.
func wrote(a *api, text string) bool {
	return slices.ContainsFunc(a.written(), func(w string) bool {
		return strings.HasPrefix(w, "PATCH /apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/web ") && strings.Contains(w, text)
	})
}

// TestUndoKey_RemovesALeftOverPartition: a partition that an ended rollout has left would keep
// the very pods that are to go back.
func TestUndoKey_RemovesALeftOverPartition(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	if _, err := (kube.Records{Client: l.core, StateNamespace: "kruise"}).Change(t.Context(), web, "a colleague", func(r *plan.Record) error {
		r.Progress.Step, r.Progress.Finished = len(r.Plan.Steps), time.Unix(9, 0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Do(t.Context(), world.Act{Verb: world.Undo, On: []cluster.Ref{web}}); err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := on(t, l).Plan
	if last := p.Steps[len(p.Steps)-1]; last.Updated != 2 || last.Kept != 0 {
		t.Errorf("to %s: %d pods go back, %d are kept", p.Change.ToHash, last.Updated, last.Kept)
	}
}

// TestRun_BesideAnotherRolloutShowsNoPlan: while a rollout of the workload is in progress no plan is
// shown or asked about, and nothing is written, not even the Lease.
func TestRun_BesideAnotherRolloutShowsNoPlan(t *testing.T) {
	a := shop(t)
	rolling(t, seeing(t, a, "shop", ""))
	before := len(a.written())
	said, err := verb(t, a, "run", "cloneset/web", "--image", "app=web:3", "--yes")
	if err == nil || !strings.HasPrefix(err.Error(), "cloneset/web has a rollout already: ") {
		t.Errorf("%v", err)
	}
	if strings.Contains(said, "web:3") || strings.Contains(said, "plan approved") || len(a.written()) > before {
		t.Errorf("%q, written %q", said, a.written()[before:])
	}
}

// TestVerbs_NameTheWayOutOfAnUnreadableRecord: each verb says which record cannot be read, in an
// error whose hint removes it; --discard-record asks first.
func TestVerbs_NameTheWayOutOfAnUnreadableRecord(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	rolling(t, l)
	cm, err := l.core.CoreV1().ConfigMaps("shop").Get(t.Context(), "rollout.cloneset.web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cm.Data["record"] = strings.Replace(cm.Data["record"], `"step":`, `"sent":-1,"step":`, 1)
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": cm.Name, "namespace": "shop", "uid": string(cm.UID), "labels": cm.Labels},
		"data": cm.Data, "binaryData": cm.BinaryData,
	})
	if err != nil {
		t.Fatal(err)
	}
	a.put(string(text))
	for _, args := range [][]string{
		{"status"},
		{"status", "--watch=false"},
		{"promote", "--no-wait"},
		{"pause"},
		{"resume", "--no-wait"},
		{"retry", "--no-wait"},
		{"abort"},
		{"abort", "--rollback", "--yes"},
		{"undo", "--yes"},
		{"restart", "--yes"},
		{"show"},
		{"history"},
		{"run", "--image", "app=web:3", "--yes"},
	} {
		_, err := verb(t, a, slices.Insert(slices.Clone(args), 1, "cloneset/web")...)
		if u, ok := errors.AsType[apply.UnreadableRecordError](err); !ok && (err != nil || args[0] != "history") {
			t.Errorf("%q: %v", args, err)
		} else if ok && !strings.Contains(u.Hint(), "--discard-record") {
			t.Errorf("%q: %s", args, u.Hint())
		}
	}
	if said, err := verb(t, a, "run", "cloneset/web", "--image", "app=web:3", "--discard-record"); err == nil || !strings.Contains(err.Error(), "cannot ask for confirmation") {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := verb(t, a, "run", "cloneset/web", "--image", "app=web:3", "--discard-record", "--dry-run=client"); err == nil || !strings.Contains(err.Error(), "--discard-record deletes") {
		t.Errorf("%q, %v", said, err)
	}
}

// TestStatus_EndsWithADeadServer: without a name it ends as with one, and waits for nothing.
func TestStatus_EndsWithADeadServer(t *testing.T) {
	a := &api{t: t, url: "http://127.0.0.1:1"}
	for _, args := range [][]string{{"status"}, {"status", "-A"}, {"status", "cloneset/web"}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := verbIn(ctx, t, a, args...); err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
