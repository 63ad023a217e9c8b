package simulate

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/changes"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var (
	oneWritePairs = flag.Int("pairs", 1500, "how many random changes TestRollout_KeepsWhatApplyingKeeps makes")
	oneWritePair  = flag.Int("pair", -1, "make the one change of this number only")
)

// TestRollout_KeepsWhatApplyingKeeps compares, for random changes of workloads, what is left after
// the manifest was applied outright with what is left after rollouts of the same change: the spec
// is the same, every pod and claim that applying keeps is kept, and no more pods are unavailable, or there, at a time than the limits allow
// or than there are when it is applied.
func TestRollout_KeepsWhatApplyingKeeps(t *testing.T) {
	n := *oneWritePairs
	if testing.Short() {
		n = min(n, 200)
	}
	first := 0
	if *oneWritePair >= 0 {
		first, n = *oneWritePair, *oneWritePair+1
	}
	keepsWhatApplyingKeeps(t, first, n, newChange)
}

// TestRollout_KeepsWhatThePartitionKeeps is the same for manifests with a partition, in the middle of another change or not.
func TestRollout_KeepsWhatThePartitionKeeps(t *testing.T) {
	n := *oneWritePairs / 2
	if testing.Short() {
		n = min(n, 100)
	}
	keepsWhatApplyingKeeps(t, 0, n, newPartitioned)
}

// TestRollout_KeepsPodsAboveAFreedOrdinal: of an unordered StatefulSet, pods that the change creates below the present ones are
// not kept by the partition in the place of these; the first stage is no larger for pods that it creates above them.
func TestRollout_KeepsPodsAboveAFreedOrdinal(t *testing.T) {
	old := asts("reserveOrdinals: [1]\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {maxUnavailable: 3, unorderedUpdate: {}}}")
	next := strings.NewReplacer("web:1", "web:2", "unorderedUpdate", "partition: 1, unorderedUpdate").Replace(old)
	for _, row := range []struct {
		name, next string
		first      int
	}{
		{"below", strings.NewReplacer("replicas: 4", "replicas: 7", "[1]", "[0]").Replace(next), 4},
		{"above", strings.Replace(next, "replicas: 4", "replicas: 40", 1), 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			partitionedChange(t, "apps.kruise.io/v1beta1 StatefulSet", old, row.next).startsWith(t, row.first)
		})
	}
}

// TestRollout_KeepsBrokenPodsOfAGrowingCloneSet: a partition that keeps a pod that is not ready does not keep one that the change creates in
// the place of it, nor waits for it; where it keeps no such pod, the first stage is no larger.
func TestRollout_KeepsBrokenPodsOfAGrowingCloneSet(t *testing.T) {
	for _, row := range []struct {
		broken, kept, first int
	}{{5, 1, 3}, {2, 4, 3}, {2, 3, 1}, {0, 4, 1}} {
		t.Run(fmt.Sprintf("%d broken, %d kept", row.broken, row.kept), func(t *testing.T) {
			old := strings.NewReplacer("apps/v1", "apps.kruise.io/v1alpha1", "kind: ReplicaSet", "kind: CloneSet", "replicas: 4", "replicas: 5", "web:1", changes.Image).Replace(replicaSet)
			next := strings.NewReplacer("replicas: 5", fmt.Sprintf("replicas: 8\n  updateStrategy: {partition: %d}", row.kept), "web:1", "web:2").Replace(old)
			c := partitionedChange(t, "apps.kruise.io/v1alpha1 CloneSet", old, next)
			w, err := c.begin()
			must(t, err)
			for _, p := range w.store.all.pods[:row.broken] {
				c.broken[p.Name] = true
			}
			c.startsWith(t, row.first)
		})
	}
}

// partitionedChange is a change from one manifest of a kind to another.
func partitionedChange(t *testing.T, kind, old, next string) *change {
	t.Helper()
	c := &change{Change: changes.New(0), opt: DefaultOptions(), partitioned: true, broken: map[string]bool{}}
	for n := uint64(1); c.Kind != kind; n++ {
		c.Change = changes.New(n)
	}
	for doc, text := range map[*map[string]any]string{&c.Old: old, &c.new: next} {
		*doc, _ = tree.Value(documents(t, text)[0]).(map[string]any)
	}
	c.ref = refOf(tree.FromValue(c.Old))
	return c
}

// startsWith wants rollouts of a change to keep what applying it keeps, and the first stage of one to update so many pods.
func (c *change) startsWith(t *testing.T, first int) {
	t.Helper()
	if why, fault := c.compare(); why != "" || fault != "" {
		t.Errorf("%s%s", why, fault)
	}
	p, _, err := c.rolledOut("", false)
	must(t, err)
	if got := p.plan.Steps[0].Updated; got != first {
		t.Errorf("the first stage updates %d, want %d", got, first)
	}
}

// newPartitioned is a change whose new state has a partition, of a workload that an earlier one may have left halfway.
func newPartitioned(number uint64) (*change, error) {
	c, err := newChange(number)
	if err != nil {
		return c, err
	}
	c.partitioned = true
	chance := rand.New(rand.NewPCG(number, 99))
	one := func(words ...any) any { return words[chance.IntN(len(words))] }
	if chance.IntN(2) == 0 && c.ref.Kind != kruise.KindSidecarSet {
		c.midway = copyOf(c.Old)
		withPartition(c.midway, one(1, 2, 3, "50%", "30%", "100%"))
		below(c.midway, "spec", "template", "metadata", "annotations")["note"] = "midway"
	}
	withPartition(c.new, one(0, 1, 2, 3, 5, "50%", "30%", "100%", "0%"))
	return c, nil
}

// withPartition gives a workload a partition, as far as its kind has one.
func withPartition(o map[string]any, v any) {
	ref := refOf(tree.FromValue(o))
	path := plan.PartitionPath(ref.Group, ref.Kind, strings.TrimPrefix(o["apiVersion"].(string), ref.Group+"/"))
	if path == nil || tree.StrAt(tree.FromValue(o), "spec", "updateStrategy", "type") == "OnDelete" {
		return
	}
	if _, percent := v.(string); percent && ref.Kind != kruise.KindCloneSet && ref.Kind != kruise.KindSidecarSet {
		v = 1
	}
	below(o, path[:len(path)-1]...)[path[len(path)-1]] = v
}

// below is a mapping in an object, which is made where it is missing.
func below(o map[string]any, path ...string) map[string]any {
	for _, key := range path {
		next, ok := o[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			o[key] = next
		}
		o = next
	}
	return o
}

func copyOf(o map[string]any) map[string]any {
	out, _ := tree.Value(tree.FromValue(o)).(map[string]any)
	return out
}

func keepsWhatApplyingKeeps(t *testing.T, first, n int, newChange func(uint64) (*change, error)) {
	t.Helper()
	total, refused, faults := 0, map[string]int{}, map[string]int{}
	for number := first; number < n; number++ {
		c, err := newChange(uint64(number))
		if err != nil {
			t.Fatalf("pair %d: %v\n%s", number, err, c)
		}
		total++
		why, fault := c.compare()
		if why != "" {
			refused[why]++
			if *oneWritePair >= 0 {
				t.Log(why)
			}
			continue
		}
		if fault == "" {
			continue
		}
		if faults[c.Kind]++; faults[c.Kind] <= 3 {
			t.Errorf("pair %d, %s: %s\n%s\nagain: go test ./pkg/plan/simulate -run TestRollout_KeepsWhatApplyingKeeps -pair %d", number, c.Kind, fault, c, number)
		}
	}
	most := 0
	for why, n := range refused {
		most += n
		t.Logf("%d refused: %s", n, why)
	}
	if first == 0 && most*100 > 15*total {
		t.Errorf("%d of %d pairs are refused, more than 15 %%", most, total)
	}
	if len(faults) > 0 {
		t.Errorf("faults by kind: %v", faults)
	}
}

// change is one random change of a workload.
type change struct {
	*changes.Change

	opt Options
	ref cluster.Ref
	// broken are pods that are not ready before the change; new is what the workload becomes.
	broken map[string]bool
	new    map[string]any
	// midway is an earlier change that its partition has stopped; nil for none.
	midway map[string]any
	// partitioned indicates that the new state has a partition, which a rollout in steps of its own would not leave.
	partitioned bool
}

// newChange makes up a workload and what becomes of it.
func newChange(number uint64) (*change, error) {
	c := &change{Change: changes.New(number), opt: DefaultOptions(), broken: map[string]bool{}}
	c.ref = refOf(tree.FromValue(c.Old))
	if c.ref.Kind != kruise.KindSidecarSet {
		c.ref.Namespace = "shop"
	}
	c.opt.Seed = number
	c.opt.Gates.StatefulSetStartOrdinal = true
	c.opt.Gates.MaxUnavailableStatefulSet = c.Kind == "apps/v1 StatefulSet"
	w, err := c.begin()
	if err != nil {
		return c, err
	}
	var pods []string
	for _, p := range w.store.all.pods {
		pods = append(pods, p.Name)
	}
	slices.Sort(pods)
	for _, i := range c.NotReady {
		c.broken[pods[i]] = true
	}
	c.new = c.inNamespace(c.Named(pods))
	return c, nil
}

// inNamespace puts the workload where its pods are.
func (c *change) inNamespace(o map[string]any) map[string]any {
	if c.ref.Namespace != "" {
		o["metadata"] = map[string]any{"name": c.ref.Name, "namespace": c.ref.Namespace}
	}
	return o
}

// begin is the cluster before the change.
func (c *change) begin() (*World, error) {
	o := c.opt
	if len(c.broken) > 0 {
		o.Agent.Override = func(p *cluster.Pod) Override {
			main, _ := p.Container("main")
			return Override{Unready: c.broken[p.Name] && main.Image == changes.Image}
		}
	}
	w := New(o)
	for i := range changes.Nodes {
		w.AddNode(fmt.Sprintf("node-%d", i), nil)
	}
	list := []*tree.Node{tree.FromValue(c.inNamespace(c.Old))}
	if carrier := c.Carrier(); carrier != nil {
		carrier["metadata"] = map[string]any{"name": "web", "namespace": "shop"}
		list = append(list, tree.FromValue(carrier))
	}
	if err := w.Apply(list...); err != nil {
		return w, err
	}
	_, err := w.Settle(time.Hour)
	w.pods.answerHooks(plan.HookAnswer(5 * time.Second))
	if err == nil && c.midway != nil {
		if err = w.Apply(tree.FromValue(c.inNamespace(c.midway))); err == nil {
			_, err = w.Settle(time.Hour)
		}
	}
	return w, err
}

// left is what is there at the end.
type left struct {
	spec   string
	pods   map[string]string // name by UID, of those that were there before
	claims map[string]string
	// before is how many pods there were before the change, plan what a rollout carried out.
	before int
	plan   plan.Plan
	// most are the most pods that were not available, and that there were, at a time.
	most extremes
	// read is how many changes of claims had been made.
	read int
}

// compare returns why no rollout of the change is made, or what a rollout does that applying the
// manifest does not do.
func (c *change) compare() (refused, fault string) {
	applied, err := c.applied()
	if err != nil {
		return "applying: " + err.Error(), ""
	}
	type way struct{ name, steps string }
	ways := []way{{"one step", "100%"}, {"three steps", "1,50%,100%"}, {"apply", ""}}
	if c.partitioned {
		ways = []way{{"its own steps", ""}, {"apply", ""}}
	}
	for _, way := range ways {
		got, why, err := c.rolledOut(way.steps, way.name == "apply")
		switch {
		case err != nil:
			return "", way.name + ": " + err.Error()
		case why != "":
			return why, ""
		}
		if fault := c.differs(applied, got); fault != "" {
			return "", way.name + ": " + fault
		}
	}
	return "", ""
}

// deletes counts the pods that a plan deletes.
func deletes(p plan.Plan) int {
	n := 0
	for _, s := range p.Steps {
		for _, p := range s.Pods {
			if p.Mode == rules.ModeRecreate || p.Mode == rules.ModeDelete {
				n++
			}
		}
	}
	return n
}

// differs is what a rollout lost that was to stay.
func (c *change) differs(applied, got left) string {
	if applied.spec != got.spec {
		return fmt.Sprintf("the spec ends as %s, want %s", got.spec, applied.spec)
	}
	limits := got.plan.Limits
	if n := max(applied.most.down, limits.MaxUnavailable); got.most.down > n {
		return fmt.Sprintf("%d pods are unavailable at a time, want no more than %d", got.most.down, n)
	}
	if n := max(applied.most.pods, limits.Replicas+limits.MaxSurge); got.most.pods > n {
		return fmt.Sprintf("there are %d pods at a time, want no more than %d", got.most.pods, n)
	}
	lost := got.before - len(got.pods)
	switch why := c.Exempt(got.plan.Change.Mode); {
	// A pod that is named for deletion goes in the place of one that the surge replaces, or besides it: that depends on
	// which of them a pass of the controller sees ready.
	case why == changes.Surging && lost > deletes(got.plan)+len(c.Deleted):
		return fmt.Sprintf("%d pods are lost, and the plan has %d", lost, deletes(got.plan))
	case why != "":
		return ""
	}
	var faults []string
	for _, kept := range []struct {
		what      string
		want, got map[string]string
	}{{"pods", applied.pods, got.pods}, {"claims", applied.claims, got.claims}} {
		var lost []string
		for uid, name := range kept.want {
			if kept.got[uid] == "" {
				lost = append(lost, name)
			}
		}
		slices.Sort(lost)
		if len(lost) > 0 {
			faults = append(faults, fmt.Sprintf("%s are lost that applying keeps: %s", kept.what, strings.Join(lost, ", ")))
		}
	}
	return strings.Join(faults, "; ")
}

// applied is what is left after the manifest was applied. Where pods are updated by the client, it
// updates them then, in one step.
func (c *change) applied() (left, error) {
	w, err := c.begin()
	if err != nil {
		return left{}, err
	}
	before := existing(w)
	if err := w.recorder.watch(c.ref); err != nil {
		return left{}, err
	}
	if err := w.Apply(tree.FromValue(c.new)); err != nil {
		return left{}, err
	}
	if _, err := w.Settle(time.Hour); err != nil {
		return left{}, err
	}
	most := w.recorder.extremes
	if c.ByClient() {
		if _, why, err := c.rollOut(w, "100%"); err != nil || why != "" {
			return left{}, errors.Join(err, errors.New(why))
		}
	}
	out, err := c.leftOf(w, before)
	out.most.down, out.most.pods = max(out.most.down, most.down), max(out.most.pods, most.pods)
	return out, err
}

// rolledOut is what is left after a rollout; why is why there was none, or none to the end.
func (c *change) rolledOut(steps string, apply bool) (_ left, why string, err error) {
	w, err := c.begin()
	if err != nil {
		return left{}, "", err
	}
	before := existing(w)
	p, why, err := c.rollOut(w, steps)
	if err != nil || why != "" {
		return left{}, why, err
	}
	if apply {
		if err := w.Apply(tree.FromValue(c.new)); err != nil {
			return left{}, "", err
		}
	}
	if _, err := w.Settle(time.Hour); err != nil {
		return left{}, "", err
	}
	out, err := c.leftOf(w, before)
	out.plan = p
	return out, "", err
}

// rollOut carries out a plan for the change, with a pause after each of its steps.
func (c *change) rollOut(w *World, steps string) (_ plan.Plan, why string, err error) {
	desired, err := cluster.ReadWorkload(tree.FromValue(c.new))
	if err != nil {
		return plan.Plan{}, "", err
	}
	snap, err := w.Snapshot(c.ref)
	if err != nil {
		return plan.Plan{}, "", err
	}
	policy := plan.Policy{}
	if steps != "" {
		if policy.Steps, err = plan.ParseSteps(steps); err != nil {
			return plan.Plan{}, "", err
		}
		if err := policy.PauseAfter("all"); err != nil {
			return plan.Plan{}, "", err
		}
	}
	p, err := plan.Build(desired, snap, policy)
	if err != nil {
		return p, "no plan: " + err.Error(), nil //nolint:nilerr // a refused pair is counted
	}
	if c.Exempt(p.Change.Mode) == changes.Surging { // users see the pods that a run of the plan changes
		o := c.opt
		run, _, err := Build(desired, snap, policy, o)
		if _, unfinished := errors.AsType[*UnfinishedError](err); err != nil && !unfinished {
			return p, "", err
		}
		p = run
	}
	line, err := Rollout(w, p, RolloutOptions{Promote: new(time.Duration)})
	p = p.WithTouches(line.Touches)
	if err != nil || line.Summary.Outcome == Completed {
		return p, "", err
	}
	reason, _, _ := strings.Cut(line.Summary.Reason, ":")
	return p, fmt.Sprintf("%s %s: %s", c.Kind, line.Summary.Outcome, reason), nil
}

// existing are the UIDs of pods, and the claims, of a cluster.
func existing(w *World) left {
	out := left{pods: map[string]string{}, claims: map[string]string{}}
	for _, p := range w.store.all.pods {
		if rules.Active(p.Pod) {
			out.pods[p.UID] = p.Name
		}
	}
	for _, claim := range w.claims.byName {
		if !claim.Deleting {
			out.claims[claim.Name] = claim.Name
		}
	}
	out.read = len(w.claims.changes)
	return out
}

func (c *change) leftOf(w *World, before left) (left, error) {
	out := existing(w)
	out.before, out.most = len(before.pods), w.recorder.extremes
	maps.DeleteFunc(out.pods, func(uid, _ string) bool { return before.pods[uid] == "" })
	maps.DeleteFunc(out.claims, func(name, _ string) bool { return before.claims[name] == "" })
	for _, change := range w.claims.changes[before.read:] {
		if change.dropped {
			delete(out.claims, change.claim.Name)
		}
	}
	snap, err := w.Snapshot(c.ref)
	if err != nil {
		return out, err
	}
	spec, err := tree.Plain(snap.Workload.Object)
	if err != nil {
		return out, err
	}
	same := spec["spec"].(map[string]any)
	for _, path := range [][]string{{"updateStrategy"}, {"updateStrategy", "rollingUpdate"}} {
		if m, _ := tree.Lookup(same, path).(map[string]any); m != nil && (m["partition"] == int64(0) || m["partition"] == float64(0)) {
			delete(m, "partition") // none is 0
		}
	}
	if labels, _ := tree.Lookup(same, []string{"template", "metadata", "labels"}).(map[string]any); labels != nil {
		delete(labels, "controller-revision-hash") // the client marks the template of a ReplicaSet
	}
	text, err := json.Marshal(same)
	out.spec = string(text)
	return out, err
}
