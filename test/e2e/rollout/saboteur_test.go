package rollout

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/library"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/e2e/rollout/invariant"
)

// TestSaboteur_EditsNeverRunOrExceedLimits: the record of a rollout is edited at random moments while operators with all
// rights carry the rollout out, leave it and take it over, on the machine where it was
// approved and on others. A rollout may halt and be refused; what is written is what was
// approved, and no program runs. CHAOS_HISTORIES and CHAOS_SEED are as for TestChaos_EndsInThePlannedState.
func TestSaboteur_EditsNeverRunOrExceedLimits(t *testing.T) {
	t.Parallel()
	first, count := number(t, "CHAOS_SEED", 0), number(t, "CHAOS_HISTORIES", 3)
	atATime(t, first, count, func(t *testing.T, seed uint64) {
		t.Helper()
		h := newHistory(t, seed)
		h.weather = proxy.Weather{}
		if len(h.policy.Steps) > 0 { // a native DaemonSet has no steps
			h.policy.Steps[0].Pause = &plan.Pause{}
		}
		t.Cleanup(func() { h.tellIfFailed(t) })
		s := &sabotage{history: h, marker: filepath.Join(t.TempDir(), "ran")}
		s.run(t)
	})
}

// sabotage is a history whose record is edited by an attacker.
type sabotage struct {
	*history

	// marker is a file that the programs in an edited record make.
	marker string
	// digests are of what was approved.
	digests ledger
	// edits is how many there were.
	edits int
	// honest is the record after the first step, readable its text as it could be read last.
	honest   *corev1.ConfigMap
	readable string
}

// sits is how long an operator stays, at most.
const sits = 7 * time.Second

func (s *sabotage) run(t *testing.T) {
	t.Helper()
	s.begin(t)
	for range 5 {
		s.operator(t)
	}
	if s.edits == 0 {
		t.Error("nothing was edited")
	}
	if _, err := os.Stat(s.marker); err == nil {
		t.Error("a program of the record was run")
	}
	l := s.audited(t)
	for _, r := range []rule{
		{"inside", invariant.Inside},
		{"leased", invariant.Leased},
		{"approved", invariant.Approved},
		{"budget", func(l invariant.Log, r *invariant.Rollout) []string { return invariant.Budget(l, r, lag) }},
	} {
		for _, wrong := range r.holds(l, s.rollout()) {
			t.Errorf("%s: %s", r.name, wrong)
		}
	}
	written := slices.ContainsFunc(l, func(w invariant.Write) bool {
		return w.By != "" && w.Resource == s.object.Resource.Resource && w.Done()
	})
	if !written {
		t.Error("no operator has written the workload")
	}
}

// begin has an operator approve the plan and carry its first step out.
func (s *sabotage) begin(t *testing.T) {
	t.Helper()
	p, rollouts := s.rollouts(t, &s.digests)
	defer p.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	defer cancel()
	w, err := rollouts.Workloads.Open(ctx, s.object.Ref)
	must(t, err)
	snapshot, err := w.Observe(ctx, s.object.Ref)
	w.Close()
	must(t, err)
	desired, err := plan.WithTemplate(snapshot.Workload, s.read(t, s.next).Template)
	must(t, err)
	made, err := plan.Build(desired, snapshot, s.policy)
	must(t, err)
	s.keep(&made)
	res, err := library.Rollouts{Rollouts: rollouts}.Run(ctx, s.object.Ref, made, apply.Options{AtPause: true})
	s.tell("begun: %s %s %v", res.Outcome, res.Reason, err)
	must(t, err)
	s.honest, err = s.Client().CoreV1().ConfigMaps(s.namespace).Get(ctx, s.rollout().State, metav1.GetOptions{})
	must(t, err)
	s.readable = s.honest.Data["record"]
}

// mend often puts the plan back that was approved, and always a record that can be read:
// otherwise every operator after the first edits would be refused, and nothing be tried.
func (s *sabotage) mend(t *testing.T) plan.State {
	t.Helper()
	maps, records := s.Client().CoreV1().ConfigMaps(s.namespace), kube.Records{Client: s.Client()}
	rec, err := records.Load(t.Context(), s.object.Ref)
	if err == nil && s.chance.IntN(6) == 0 {
		return rec.State()
	}
	put := func(record func(present string) string) {
		t.Helper()
		must(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error { // an operator may have left just now
			cm, err := maps.Get(t.Context(), s.honest.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			cm.Data["record"], cm.BinaryData = record(cm.Data["record"]), s.honest.BinaryData
			_, err = maps.Update(t.Context(), cm, metav1.UpdateOptions{})
			return err
		}))
	}
	put(func(present string) string {
		if err == nil {
			s.readable = present
		}
		return s.readable
	})
	if rec, err = records.Load(t.Context(), s.object.Ref); err != nil {
		put(func(string) string { return s.honest.Data["record"] })
		rec, err = records.Load(t.Context(), s.object.Ref)
		must(t, err)
	}
	return rec.State()
}

// rollouts are those of the next operator, who knows of these approvals.
func (s *sabotage) rollouts(t *testing.T, approvals apply.Approvals) (*proxy.Proxy, apply.Rollouts) {
	t.Helper()
	p, cfg := s.way(t)
	r, err := kube.Rollouts(cfg, kube.Options{Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: cfg.Impersonate.UserName, Lease: stormy})
	must(t, err)
	r.Approvals = approvals
	return p, r
}

// operator takes the rollout over while the record is edited.
func (s *sabotage) operator(t *testing.T) {
	t.Helper()
	state := s.mend(t)
	var approvals apply.Approvals
	if s.chance.IntN(2) == 0 {
		approvals = &s.digests
	}
	p, rollouts := s.rollouts(t, approvals)
	defer p.Kill()
	ctx, cancel := context.WithTimeoutCause(t.Context(), sits, errors.New("the operator leaves"))
	defer cancel()
	if s.chance.IntN(4) > 0 {
		s.edit(ctx, s.chance)
	}
	var both sync.WaitGroup
	edits := s.chance.IntN(3)
	seed := s.chance.Uint64()
	both.Go(func() {
		chance := rand.New(rand.NewPCG(seed, 5))
		for range edits {
			time.Sleep(time.Duration(chance.Int64N(int64(time.Second))))
			s.edit(ctx, chance)
		}
	})
	verb := s.verb(state)
	res, err := s.carry(ctx, rollouts, verb)
	s.tell("operator (verb %d, approvals %t) ended: %s %s %v", verb, approvals != nil, res.Outcome, res.Reason, err)
	both.Wait()
}

// verb is what an operator does with a rollout in a state: mostly what is allowed.
func (s *sabotage) verb(state plan.State) int {
	fits := map[plan.State][]int{plan.StateRunning: {0, 0, 3}, plan.StateHeld: {0, 1, 3}, plan.StateHalted: {2, 2, 4}, plan.StateDone: {4}}[state]
	if len(fits) == 0 || s.chance.IntN(5) == 0 {
		return s.chance.IntN(5)
	}
	return fits[s.chance.IntN(len(fits))]
}

// carry is a verb of an operator.
func (s *sabotage) carry(ctx context.Context, r apply.Rollouts, verb int) (apply.Result, error) {
	turns := []plan.Transition{plan.TransitionPromote, plan.TransitionResume, plan.TransitionRetry}
	if verb < len(turns) {
		done, err := r.Do(ctx, s.object.Ref, apply.Act{Transition: turns[verb], Continues: true})
		if err != nil || done.Executor == nil {
			return apply.Result{}, errors.Join(err, done.Elsewhere)
		}
		defer done.Workload.Close()
		return done.Executor.Run(apply.Options{})
	}
	if verb == len(turns) {
		return library.Rollouts{Rollouts: r}.Drive(ctx, s.object.Ref, apply.Options{})
	}
	return library.Rollouts{Rollouts: r}.RollBack(ctx, s.object.Ref, apply.Options{})
}

// edit changes the record in some way, as any user may who can write ConfigMaps.
func (s *sabotage) edit(ctx context.Context, chance *rand.Rand) {
	maps := s.Client().CoreV1().ConfigMaps(s.namespace)
	cm, err := maps.Get(ctx, s.rollout().State, metav1.GetOptions{})
	if err != nil {
		s.tell("no record to edit: %v", err)
		return
	}
	one := edits[chance.IntN(len(edits))]
	if err := one.do(s, cm, chance); err != nil {
		s.tell("%s: %v", one.name, err)
		return
	}
	_, err = maps.Update(ctx, cm, metav1.UpdateOptions{})
	s.tell("edited: %s: %v", one.name, err)
	if err == nil {
		s.mu.Lock()
		s.edits++
		s.mu.Unlock()
	}
}

// edits are what a saboteur does to a record.
var edits = []struct {
	name string
	do   func(*sabotage, *corev1.ConfigMap, *rand.Rand) error
}{
	{"host network", patched(map[string]any{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": true})},
	{"another image", patched(map[string]any{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.example.com/evil:1"})},
	{"host network", patched(map[string]any{"op": "add", "path": "/spec/template/spec/hostNetwork", "value": true})},
	{"another strategy", patched(map[string]any{"op": "add", "path": "/spec/minReadySeconds", "value": 1})},
	{"no pods", patched(map[string]any{"op": "replace", "path": "/spec/replicas", "value": 0})},
	{"another workload", planned(func(_ *sabotage, p *plan.Plan, _ *rand.Rand) { p.Target.Name = "other" })},
	{"no limits", planned(func(_ *sabotage, p *plan.Plan, _ *rand.Rand) {
		p.Limits.MaxUnavailable, p.Limits.MaxSurge, p.Limits.MinReady, p.Grace, p.Drain = 100, 100, 0, 0, plan.DrainNone
	})},
	{"a program", planned(func(s *sabotage, p *plan.Plan, chance *rand.Rand) {
		p.Steps = slices.Insert(p.Steps, chance.IntN(len(p.Steps)+1), plan.Step{
			Name: "look", Kind: plan.StepVerify, Title: "look", OnFailure: plan.FailPause, Verify: &plan.Verify{Command: []string{"touch", s.marker}},
		})
	})},
	{"a Job", planned(func(_ *sabotage, p *plan.Plan, chance *rand.Rand) {
		job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "evil"}, "spec": map[string]any{"template": map[string]any{
			"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "registry.example.com/evil:1"}}},
		}}}
		p.Steps = slices.Insert(p.Steps, chance.IntN(len(p.Steps)+1), plan.Step{Name: "ask", Kind: plan.StepVerify, Title: "ask", OnFailure: plan.FailPause, Verify: &plan.Verify{Job: job}})
	})},
	{"a URL", planned(func(_ *sabotage, p *plan.Plan, chance *rand.Rand) {
		p.Steps = slices.Insert(p.Steps, chance.IntN(len(p.Steps)+1), plan.Step{Name: "url", Kind: plan.StepVerify, Title: "url", OnFailure: plan.FailPause, Verify: &plan.Verify{URL: "http://127.0.0.1:1/"}})
	})},
	{"nothing to wait for", planned(func(_ *sabotage, p *plan.Plan, _ *rand.Rand) {
		for i := range p.Steps {
			p.Steps[i].After = nil
		}
	})},
	{"all pods at once", planned(func(_ *sabotage, p *plan.Plan, chance *rand.Rand) {
		p.Steps = slices.Delete(p.Steps, chance.IntN(len(p.Steps)), len(p.Steps)-1)
	})},
	{"images to pull", planned(func(_ *sabotage, p *plan.Plan, chance *rand.Rand) {
		p.Steps = slices.Insert(p.Steps, chance.IntN(len(p.Steps)+1), plan.Step{Name: "pull", Kind: plan.StepPullImages, Title: "pull", OnFailure: plan.FailPause, Pull: &plan.Pull{Images: []string{"registry.example.com/evil:1"}}})
	})},
	{"rolls back", planned(func(_ *sabotage, p *plan.Plan, _ *rand.Rand) {
		for i := range p.Steps {
			p.Steps[i].OnFailure = plan.FailRollback
		}
		p.Change.FromHash = "0000000000"
	})},
	{"steps in another order", planned(func(_ *sabotage, p *plan.Plan, chance *rand.Rand) {
		chance.Shuffle(len(p.Steps), func(i, j int) { p.Steps[i], p.Steps[j] = p.Steps[j], p.Steps[i] })
	})},
	{"another driver", planned(func(_ *sabotage, p *plan.Plan, chance *rand.Rand) {
		p.Driver = []plan.Driver{plan.DriverKruise, plan.DriverNative, plan.DriverClient}[chance.IntN(3)]
	})},
	{"another step", recorded(`"step":\d+`, func(chance *rand.Rand) string { return fmt.Sprintf(`"step":%d`, chance.IntN(6)-1) })},
	{"promoted", recorded(`"step":`, func(*rand.Rand) string { return `"promoted":true,"free":99,"step":` })},
	{"not on hold", recorded(`"(held|halted)":"[^"]*"`, func(*rand.Rand) string { return `"held":""` })},
	{"a stop of its own", recorded(`"stop":\{[^}]*\}`, func(*rand.Rand) string {
		return `"stop":{"asked":false,"field":"partition","was":"0","is":"0","done":true}`
	})},
	{"no JSON", recorded(`^\{`, func(*rand.Rand) string { return "[" })},
	{"another template to go back to", func(_ *sabotage, cm *corev1.ConfigMap, _ *rand.Rand) error {
		cm.BinaryData["base.json.gz"] = zipped([]byte(`{"spec":{"hostNetwork":true,"containers":[{"name":"main","image":"registry.example.com/evil:1"}]}}`))
		return nil
	}},
	{"no plan", func(_ *sabotage, cm *corev1.ConfigMap, _ *rand.Rand) error {
		cm.BinaryData["plan.yaml.gz"] = []byte("no plan")
		return nil
	}},
}

// planned edits the plan of a record.
func planned(edit func(*sabotage, *plan.Plan, *rand.Rand)) func(*sabotage, *corev1.ConfigMap, *rand.Rand) error {
	return func(s *sabotage, cm *corev1.ConfigMap, chance *rand.Rand) error {
		z, err := gzip.NewReader(bytes.NewReader(cm.BinaryData["plan.yaml.gz"]))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(z)
		if err != nil {
			return err
		}
		p, err := planfile.Read(text)
		if err != nil {
			return err
		}
		edit(s, &p, chance)
		text, _ = planfile.Write(p) // what a saboteur writes may be no plan
		cm.BinaryData["plan.yaml.gz"] = zipped(text)
		return nil
	}
}

// patched has a step that is still to come write something more.
func patched(op map[string]any) func(*sabotage, *corev1.ConfigMap, *rand.Rand) error {
	return func(s *sabotage, cm *corev1.ConfigMap, chance *rand.Rand) error {
		present := 0
		_, _ = fmt.Sscan(strings.TrimPrefix(regexp.MustCompile(`"step":\d+`).FindString(cm.Data["record"]), `"step":`), &present)
		return planned(func(_ *sabotage, p *plan.Plan, chance *rand.Rand) {
			at := min(present+chance.IntN(3), len(p.Steps))
			step := plan.Step{Name: "more", Kind: plan.StepUpdate, Title: "more", OnFailure: plan.FailPause}
			if at < len(p.Steps) && p.Steps[at].Kind == plan.StepPartition {
				step = p.Steps[at]
				step.Kind = plan.StepUpdate
				p.Steps = slices.Delete(p.Steps, at, at+1)
			}
			step.Patches = append(slices.Clone(step.Patches), plan.Patch{Type: plan.PatchJSON, Body: []any{op}})
			p.Steps = slices.Insert(p.Steps, at, step)
		})(s, cm, chance)
	}
}

// recorded edits the text of a record.
func recorded(pattern string, with func(*rand.Rand) string) func(*sabotage, *corev1.ConfigMap, *rand.Rand) error {
	return func(_ *sabotage, cm *corev1.ConfigMap, chance *rand.Rand) error {
		text := regexp.MustCompile(pattern).ReplaceAllString(cm.Data["record"], with(chance))
		if text == cm.Data["record"] {
			return errors.New("there is nothing of that")
		}
		cm.Data["record"] = text
		return nil
	}
}

func zipped(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// ledger is what was approved on one machine; the rule of package apply decides.
type ledger struct {
	mu   sync.Mutex
	list []string
}

// Approve is [apply.Approvals].
func (l *ledger) Approve(_ context.Context, p plan.Plan) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, p.Digest("c"))
	return nil
}

// Approved is [apply.Approvals].
func (l *ledger) Approved(_ context.Context, p plan.Plan) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.list, p.Digest("c")), nil
}

// TakeOver is [apply.Approvals].
func (*ledger) TakeOver(_ context.Context, t apply.TakeOver) (bool, error) {
	if len(t.Unproven) > 0 {
		return false, &apply.UnapprovedError{Reasons: t.Unproven}
	}
	return t.Approved || t.Back, nil
}
