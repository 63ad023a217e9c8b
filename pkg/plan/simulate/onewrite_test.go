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
// is the same, and every pod and claim that applying keeps is kept.
func TestRollout_KeepsWhatApplyingKeeps(t *testing.T) {
	n := *oneWritePairs
	if testing.Short() {
		n = min(n, 200)
	}
	first := 0
	if *oneWritePair >= 0 {
		first, n = *oneWritePair, *oneWritePair+1
	}
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
		if faults[c.kind]++; faults[c.kind] <= 3 {
			t.Errorf("pair %d, %s: %s\n%s\nagain: go test ./pkg/plan/simulate -run TestRollout_KeepsWhatApplyingKeeps -pair %d", number, c.kind, fault, c, number)
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
	chance *rand.Rand
	kind   string
	// doc is the one of old and new that is made up now.
	doc, old, new map[string]any
	opt           Options
	// broken are pods that are not ready before the change; mended says whether they are afterwards.
	broken map[string]bool
	ref    cluster.Ref
}

func (c *change) String() string {
	was, _ := json.Marshal(c.old["spec"])
	is, _ := json.Marshal(c.new["spec"])
	return fmt.Sprintf("old %s\nnew %s\nnot ready: %v", was, is, slices.Sorted(maps.Keys(c.broken)))
}

func (c *change) one(words ...any) any     { return words[c.chance.IntN(len(words))] }
func (c *change) rarely(n int) bool        { return c.chance.IntN(n) == 0 }
func (c *change) strategy() map[string]any { return c.in("updateStrategy") }

// in is a mapping of the spec, which is made where it is missing.
func (c *change) in(path ...string) map[string]any {
	m := c.doc["spec"].(map[string]any)
	for _, key := range path {
		next, ok := m[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[key] = next
		}
		m = next
	}
	return m
}

// changeKinds are the kinds of workloads, with the API version.
var changeKinds = [][2]string{
	{"CloneSet", "apps.kruise.io/v1beta1"},
	{"CloneSet", "apps.kruise.io/v1alpha1"},
	{"StatefulSet", "apps.kruise.io/v1beta1"},
	{"DaemonSet", "apps.kruise.io/v1beta1"},
	{"Deployment", "apps/v1"},
	{"StatefulSet", "apps/v1"},
	{"DaemonSet", "apps/v1"},
	{"ReplicaSet", "apps/v1"},
	{"SidecarSet", "apps.kruise.io/v1beta1"},
}

// newChange makes up a workload and what becomes of it.
func newChange(number uint64) (*change, error) {
	c := &change{chance: rand.New(rand.NewPCG(number, 7)), broken: map[string]bool{}}
	pair := changeKinds[c.chance.IntN(len(changeKinds))]
	if c.rarely(3) { // those with most fields come more often
		pair = changeKinds[c.chance.IntN(3)]
	}
	c.kind = pair[1] + " " + pair[0]
	c.old = map[string]any{
		"apiVersion": pair[1], "kind": pair[0], "metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}, "annotations": map[string]any{"note": "a"}},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "main", "image": "web:1", "env": []any{map[string]any{"name": "A", "value": "1"}},
					"resources": map[string]any{"requests": map[string]any{"cpu": "100m"}},
				}}},
			},
		},
	}
	if pair[0] == "SidecarSet" {
		c.old["metadata"].(map[string]any)["name"] = "side"
		delete(c.old["metadata"].(map[string]any), "namespace")
		c.old["spec"] = map[string]any{
			"selector":   map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"containers": []any{map[string]any{"name": "side", "image": "side:1"}},
		}
	}
	c.doc = c.old
	c.describe(pair)
	c.new = deepCopy(c.old).(map[string]any)
	c.ref = refOf(tree.FromValue(c.old))
	c.opt = DefaultOptions()
	c.opt.Seed = number
	c.opt.Gates.StatefulSetStartOrdinal = true
	if c.kind == "apps/v1 StatefulSet" {
		c.opt.Gates.MaxUnavailableStatefulSet = true
	}
	if err := c.breakPods(); err != nil {
		return c, err
	}
	return c, c.edit()
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, below := range v {
			out[key] = deepCopy(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = deepCopy(v[i])
		}
		return out
	}
	return v
}

// describe gives the old workload its numbers and policies.
func (c *change) describe(pair [2]string) {
	replicas, rate := c.one(0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 8), c.one(1, 2, 3, "20%", "50%", "100%")
	claims := []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}}}
	spec := c.in()
	switch pair[0] {
	case "CloneSet":
		spec["replicas"] = replicas
		rolling := c.strategy()
		if pair[1] == "apps.kruise.io/v1alpha1" {
			rolling["type"] = c.one("ReCreate", "InPlaceIfPossible", "InPlaceIfPossible")
		} else {
			rolling = c.in("updateStrategy", "rollingUpdate")
			rolling["podUpdatePolicy"] = c.one("ReCreate", "InPlaceIfPossible", "InPlaceIfPossible")
		}
		rolling["maxUnavailable"] = rate
		if c.rarely(3) {
			rolling["maxSurge"] = c.one(1, 2, 3, "30%")
		}
		if c.rarely(3) {
			spec["volumeClaimTemplates"] = claims
		}
		c.addHooks()
	case "StatefulSet":
		spec["replicas"], spec["serviceName"] = replicas, "web"
		spec["podManagementPolicy"] = c.one("Parallel", "Parallel", "OrderedReady")
		if c.rarely(2) {
			spec["volumeClaimTemplates"] = claims
			spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenScaled": c.one("Delete", "Retain"), "whenDeleted": "Retain"}
		}
		if pair[1] == "apps/v1" {
			if c.rarely(3) {
				c.strategy()["type"] = "OnDelete"
			}
			break
		}
		rolling := c.in("updateStrategy", "rollingUpdate")
		rolling["podUpdatePolicy"] = c.one("ReCreate", "InPlaceIfPossible", "InPlaceIfPossible")
		if spec["podManagementPolicy"] == "Parallel" {
			rolling["maxUnavailable"] = rate
			if c.rarely(4) {
				rolling["unorderedUpdate"] = map[string]any{}
			}
		}
		if c.rarely(4) {
			spec["reserveOrdinals"] = []any{c.one(0, 1, 2)}
		}
		c.in("template", "spec")["readinessGates"] = []any{map[string]any{"conditionType": "InPlaceUpdateReady"}}
		c.addHooks()
	case "DaemonSet":
		rolling := c.in("updateStrategy", "rollingUpdate")
		switch {
		case pair[1] == "apps/v1" && c.rarely(3):
			spec["updateStrategy"] = map[string]any{"type": "OnDelete"}
		case c.rarely(3):
			rolling["maxSurge"], rolling["maxUnavailable"] = c.one(1, 2), 0
		default:
			rolling["maxUnavailable"] = c.one(1, 2, "50%")
			if pair[1] != "apps/v1" {
				rolling["rollingUpdateType"] = c.one("Standard", "InPlaceIfPossible", "InPlaceIfPossible")
			}
		}
	case "Deployment":
		spec["replicas"] = replicas
		c.in("strategy")["type"] = c.one("RollingUpdate", "RollingUpdate", "Recreate")
	case "ReplicaSet":
		spec["replicas"] = replicas
	case "SidecarSet":
		c.strategy()["maxUnavailable"] = rate
	}
	if c.rarely(4) && pair[0] != "SidecarSet" {
		if pair[0] == "StatefulSet" && pair[1] != "apps/v1" {
			c.in("updateStrategy", "rollingUpdate")["minReadySeconds"] = 3
		} else {
			spec["minReadySeconds"] = 3
		}
	}
}

func (c *change) addHooks() {
	if c.rarely(6) {
		c.in()["lifecycle"] = map[string]any{"inPlaceUpdate": map[string]any{"labelsHandler": map[string]any{"hook": "yes"}}}
		c.in("template", "metadata", "labels")["hook"] = "yes"
	}
}

// breakPods chooses pods that are not ready at the old image.
func (c *change) breakPods() error {
	if !c.rarely(6) || c.ref.Kind == "SidecarSet" {
		return nil
	}
	w, err := c.begin()
	if err != nil {
		return err
	}
	for _, p := range w.store.all.pods {
		if c.rarely(3) {
			c.broken[p.Name] = true
		}
	}
	return nil
}

// begin is the cluster before the change.
func (c *change) begin() (*World, error) {
	o := c.opt
	if len(c.broken) > 0 {
		o.Agent.Override = func(p *cluster.Pod) Override {
			main, _ := p.Container("main")
			return Override{Unready: c.broken[p.Name] && main.Image == "web:1"}
		}
	}
	w := New(o)
	for i := range 4 {
		w.AddNode(fmt.Sprintf("node-%d", i), nil)
	}
	list := []*tree.Node{tree.FromValue(c.old)}
	if c.ref.Kind == "SidecarSet" {
		list = append(list, tree.FromValue(map[string]any{
			"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": map[string]any{"name": "web", "namespace": "shop"},
			"spec": map[string]any{
				"replicas": 5, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
				"template": map[string]any{
					"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
					"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}},
				},
			},
		}))
	}
	if err := w.Apply(list...); err != nil {
		return w, err
	}
	_, err := w.Settle(time.Hour)
	w.pods.answerHooks(5 * time.Second)
	return w, err
}

// edit changes the workload.
func (c *change) edit() error {
	c.doc = c.new
	for edited := false; !edited; {
		for _, edit := range []struct {
			often int
			do    func() (bool, error)
		}{
			{2, c.editTemplate}, {3, c.editReplicas}, {3, c.editOrdinals}, {3, c.editDeletes}, {6, c.editStrategy}, {20, c.editPause}, {12, c.editClaims}, {10, c.editMinReady},
		} {
			if !c.rarely(edit.often) {
				continue
			}
			did, err := edit.do()
			if err != nil {
				return err
			}
			edited = edited || did
		}
	}
	return nil
}

func (c *change) editTemplate() (bool, error) {
	if c.ref.Kind == "SidecarSet" {
		c.in()["containers"].([]any)[0].(map[string]any)["image"] = "side:2"
		return true, nil
	}
	main := c.in("template", "spec")["containers"].([]any)[0].(map[string]any)
	switch c.chance.IntN(8) {
	case 0:
		main["env"] = []any{map[string]any{"name": "A", "value": "2"}}
	case 1:
		c.in("template", "metadata", "labels")["tier"] = "front"
	case 2:
		c.in("template", "metadata", "annotations")["note"] = "b"
	case 3:
		main["resources"] = map[string]any{"requests": map[string]any{"cpu": "200m"}}
	default:
		main["image"] = "web:2"
	}
	return true, nil
}

func (c *change) editReplicas() (bool, error) {
	if _, ok := c.in()["replicas"]; !ok {
		return false, nil
	}
	c.in()["replicas"] = c.one(0, 1, 2, 3, 4, 5, 6, 7, 8)
	return true, nil
}

func (c *change) editOrdinals() (bool, error) {
	if c.ref.Kind != "StatefulSet" {
		return false, nil
	}
	if c.ref.Group == kruise.Group && !c.rarely(3) {
		c.in()["reserveOrdinals"] = []any{c.one(0, 1, 2, 3)}
		return true, nil
	}
	c.in("ordinals")["start"] = c.one(1, 2)
	return true, nil
}

// editDeletes names pods that are to go.
func (c *change) editDeletes() (bool, error) {
	if c.ref.Kind != "CloneSet" {
		return false, nil
	}
	w, err := c.begin()
	if err != nil || len(w.store.all.pods) == 0 {
		return false, err
	}
	var names []any
	for range c.chance.IntN(2) + 1 {
		name := any(w.store.all.pods[c.chance.IntN(len(w.store.all.pods))].Name)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	c.in("scaleStrategy")["podsToDelete"] = names
	if n, _ := c.in()["replicas"].(int); !c.rarely(3) {
		c.in()["replicas"] = max(n-len(names), 0)
	}
	return true, nil
}

func (c *change) editStrategy() (bool, error) {
	switch c.ref.Kind {
	case "CloneSet":
		rolling := c.strategy()
		if inner, ok := rolling["rollingUpdate"].(map[string]any); ok {
			rolling = inner
		}
		rolling["maxUnavailable"] = c.one(1, 2, "40%")
		return true, nil
	case "SidecarSet":
		c.strategy()["maxUnavailable"] = c.one(1, 2, "40%")
		return true, nil
	}
	return false, nil
}

func (c *change) editPause() (bool, error) {
	switch {
	case c.ref.Kind == "Deployment":
		c.in()["paused"] = true
	case c.ref.Group != kruise.Group:
		return false, nil
	case c.ref.Kind == "SidecarSet" || strings.Contains(c.kind, "v1alpha1"):
		c.strategy()["paused"] = true
	default:
		c.in("updateStrategy", "rollingUpdate")["paused"] = true
	}
	return true, nil
}

func (c *change) editClaims() (bool, error) {
	list, ok := c.in()["volumeClaimTemplates"].([]any)
	if !ok || c.ref.Group != kruise.Group {
		return false, nil
	}
	list[0].(map[string]any)["spec"].(map[string]any)["resources"] = map[string]any{"requests": map[string]any{"storage": "2Gi"}}
	return true, nil
}

func (c *change) editMinReady() (bool, error) {
	if c.ref.Kind == "SidecarSet" || c.ref.Kind == "StatefulSet" && c.ref.Group == kruise.Group {
		return false, nil
	}
	c.in()["minReadySeconds"] = 5
	return true, nil
}

// left is what is there at the end.
type left struct {
	spec   string
	pods   map[string]string // name by UID, of those that were there before
	claims map[string]string
	// before is how many pods there were before the change, plan what a rollout carried out.
	before int
	plan   plan.Plan
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
	for _, way := range []struct{ name, steps string }{{"one step", "100%"}, {"three steps", "1,50%,100%"}, {"apply", ""}} {
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

// exceptions are the changes whose rollouts lose more than applying does, with the reason; lost are
// the pods that are gone at the end, of those before.
var exceptions = []struct {
	reason string
	holds  func(c *change, applied, got left) bool
	fault  func(c *change, lost int, got left) string
}{
	{
		"a surge in place: each step surges again, and the plan has the pods that are deleted for that",
		func(c *change, _, _ left) bool { return c.surges() },
		func(_ *change, lost int, got left) string {
			if most := got.deleted(); lost > most {
				return fmt.Sprintf("%d pods are lost, and the plan has %d", lost, most)
			}
			return ""
		},
	},
	{
		"a ReplicaSet keeps its pods whatever its template is; the client recreates those that cannot change in place",
		func(c *change, _, got left) bool {
			return c.ref.Kind == "ReplicaSet" && got.plan.Change.Mode == rules.ModeRecreate
		},
		func(*change, int, left) string { return "" },
	},
	{
		"a paused Deployment updates no pod; a rollout in steps resumes it and pauses it at the end",
		func(c *change, _, _ left) bool {
			return c.ref.Kind == "Deployment" && c.new["spec"].(map[string]any)["paused"] == true
		},
		func(*change, int, left) string { return "" },
	},
}

// surges reports whether a CloneSet has a surge.
func (c *change) surges() bool {
	w, err := cluster.ReadWorkload(tree.FromValue(c.new))
	o, ok := w.Object.(*kruise.CloneSet)
	return err == nil && ok && rules.LimitsOfCloneSet(&o.Spec).MaxSurge > 0
}

// deleted counts the pods that the plan deletes.
func (l left) deleted() int {
	n := 0
	for _, s := range l.plan.Steps {
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
	for _, e := range exceptions {
		if e.holds(c, applied, got) {
			return e.fault(c, got.before-len(got.pods), got)
		}
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
	if err := w.Apply(tree.FromValue(c.new)); err != nil {
		return left{}, err
	}
	if _, err := w.Settle(time.Hour); err != nil {
		return left{}, err
	}
	if c.byClient() {
		if _, why, err := c.rollOut(w, "100%"); err != nil || why != "" {
			return left{}, errors.Join(err, errors.New(why))
		}
	}
	return c.leftOf(w, before)
}

func (c *change) byClient() bool {
	strategy, _ := c.new["spec"].(map[string]any)["updateStrategy"].(map[string]any)
	return c.ref.Kind == "ReplicaSet" || strategy["type"] == "OnDelete"
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
	line, err := Rollout(w, p, RolloutOptions{Promote: new(time.Duration)})
	if err != nil || line.Summary.Outcome == Completed {
		return p, "", err
	}
	reason, _, _ := strings.Cut(line.Summary.Reason, ":")
	return p, fmt.Sprintf("%s %s: %s", c.kind, line.Summary.Outcome, reason), nil
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
	out.before = len(before.pods)
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
