package simulate

import (
	"math/rand/v2"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestRollout_KeepsWhatElaborateStrategiesKeep is TestRollout_KeepsWhatApplyingKeeps for what few workloads have: hooks before deletion,
// limits of scaling, priorities, selectors and hot upgrades, in the old state or only in the new one, every other with a partition.
func TestRollout_KeepsWhatElaborateStrategiesKeep(t *testing.T) {
	n := *oneWritePairs / 4
	if testing.Short() {
		n = min(n, 100)
	}
	keepsWhatApplyingKeeps(t, 0, n, newElaborate)
}

// elaborate makes the strategy of a change elaborate.
type elaborate struct {
	*change
	chance *rand.Rand
}

func newElaborate(number uint64) (*change, error) {
	begin := newChange
	if number%2 == 1 {
		begin = newPartitioned
	}
	c, err := begin(number)
	if err != nil || c.ref.Group != kruise.Group {
		return c, err
	}
	e := elaborate{c, rand.New(rand.NewPCG(number, 98))}
	switch c.ref.Kind {
	case kruise.KindCloneSet:
		e.seldom(e.one(1, 2, "50%"), "spec", "scaleStrategy", "maxUnavailable")
		match := map[string]any{"matchLabels": map[string]any{"app": e.one("web", "other")}}
		e.seldom(map[string]any{"weightPriority": []any{map[string]any{"weight": 10, "matchSelector": match}}}, e.rolling("priorityStrategy")...)
		e.seldom([]any{map[string]any{"key": "app", "value": "web"}}, e.rolling("scatterStrategy")...)
		e.holdDeletion()
	case kruise.KindStatefulSet:
		if tree.StrAt(tree.FromValue(c.Old), "spec", "podManagementPolicy") == "Parallel" {
			e.seldom(e.one(1, 2, "50%"), "spec", "scaleStrategy", "maxUnavailable")
		}
		e.seldom([]any{"0-1", 3}, "spec", "reserveOrdinals")
		e.holdDeletion()
	case kruise.KindDaemonSet:
		e.seldom(true, "spec", "scaleStrategy", "partitionedScaling")
		e.seldom(e.one(1, 2, "50%"), "spec", "burstReplicas")
		e.seldom(map[string]any{"matchLabels": map[string]any{"zone": "a"}}, e.rolling("selector")...)
		e.holdDeletion()
	case kruise.KindSidecarSet:
		if e.chance.IntN(2) == 0 {
			for _, o := range []map[string]any{c.Old, c.new} {
				side, _ := o["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
				side["upgradeStrategy"] = map[string]any{"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "registry.example.com/empty:1"}
			}
		}
		e.seldom(map[string]any{"matchLabels": map[string]any{"app": e.one("web", "other")}}, e.rolling("selector")...)
		e.seldom(true, "spec", "injectionStrategy", "paused")
	}
	return c, nil
}

func (e elaborate) one(words ...any) any { return words[e.chance.IntN(len(words))] }

// rolling is the path of a field of the update strategy.
func (e elaborate) rolling(field string) []string {
	if e.new["apiVersion"] == "apps.kruise.io/v1alpha1" || e.ref.Kind == kruise.KindSidecarSet {
		return []string{"spec", "updateStrategy", field}
	}
	return []string{"spec", "updateStrategy", "rollingUpdate", field}
}

// seldom sets a field of the new state, or of all.
func (e elaborate) seldom(v any, path ...string) {
	if e.chance.IntN(3) > 0 {
		return
	}
	for _, o := range e.states() {
		below(o, path[:len(path)-1]...)[path[len(path)-1]] = v
	}
}

// states are the new state, or all.
func (e elaborate) states() []map[string]any {
	if e.chance.IntN(2) == 0 {
		return []map[string]any{e.new}
	}
	if e.midway == nil {
		return []map[string]any{e.new, e.Old}
	}
	return []map[string]any{e.new, e.Old, e.midway}
}

// holdDeletion gives the pods a hook that holds their deletion.
func (e elaborate) holdDeletion() {
	if e.chance.IntN(4) > 0 {
		return
	}
	for _, o := range e.states() {
		below(o, "spec", "template", "metadata", "labels")["hold"] = "yes"
		below(o, "spec", "lifecycle")["preDelete"] = map[string]any{"labelsHandler": map[string]any{"hold": "yes"}}
	}
}
