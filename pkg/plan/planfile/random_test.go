package planfile_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

var (
	randomPlans = flag.Int("random-plans", 600, "how many random plans TestWrite_RandomPlansAreReadBackEqual writes")
	randomSeed  = flag.Uint64("random-seed", 0, "write only the plan of this number")
)

// TestWrite_RandomPlansAreReadBackEqual writes the plans of random changes of random workloads.
// Each is read back as it was, whatever changes with the template.
func TestWrite_RandomPlansAreReadBackEqual(t *testing.T) {
	n := *randomPlans
	if testing.Short() {
		n = min(n, 300)
	}
	planned := 0
	for number := range uint64(n) {
		if *randomSeed != 0 {
			number = *randomSeed
		}
		c := newChange(number)
		p, err := c.plan()
		if err != nil {
			continue // a plan that is refused is not written
		}
		if len(p.Steps) > 0 {
			planned++
		}
		if err := readBackEqual(p); err != nil {
			t.Fatalf("%v\n%s\nbecomes%s\nagain: go test ./pkg/plan/planfile -run RandomPlans -random-seed %d", err, c.old, c.new, number)
		}
		if *randomSeed != 0 {
			return
		}
	}
	if planned < n/2 {
		t.Errorf("%d of %d changes have a plan with steps", planned, n)
	}
}

// readBackEqual compares with go-cmp, and not by what Write itself compares with.
func readBackEqual(p plan.Plan) error {
	text, err := planfile.Write(p)
	if err != nil {
		return err
	}
	got, err := planfile.Read(text)
	if err != nil {
		return err
	}
	for i := range p.Steps {
		if p.Steps[i].Kept < 0 || p.Steps[i].Updated < 0 {
			return fmt.Errorf("step %s updates %d pods and keeps %d", p.Steps[i].Name, p.Steps[i].Updated, p.Steps[i].Kept)
		}
	}
	return differences(p, got)
}

func differences(want, got plan.Plan) error {
	numbers := gocmp.FilterValues(func(x, y any) bool { return isNumber(x) && isNumber(y) },
		gocmp.Comparer(func(x, y any) bool { return fmt.Sprint(x) == fmt.Sprint(y) }))
	unwritten := gocmp.Options{cmpopts.IgnoreFields(plan.Plan{}, "Paused"), cmpopts.IgnoreFields(plan.Change{}, "Spec")}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), numbers, unwritten); diff != "" {
		return fmt.Errorf("-written +read:\n%s", diff)
	}
	return nil
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int32, int64, float64:
		return true
	}
	return false
}

// randomChange is a workload, what becomes of it, and how it is rolled out.
type randomChange struct {
	chance   *rand.Rand
	old, new string
	policy   plan.Policy
}

func newChange(number uint64) *randomChange {
	c := &randomChange{chance: rand.New(rand.NewPCG(number, 43))}
	kind := c.kind()
	before := c.fields(nil)
	c.old, c.new = kind(before), kind(c.fields(before))
	if c.rarely(2) {
		c.policy.Steps, _ = plan.ParseSteps(c.one("1,100%", "1,3,100%", "50%", "10%,20%,30%,100%", "100%"))
	}
	if c.rarely(3) && len(c.policy.Steps) > 0 {
		_ = c.policy.PauseAfter(c.one("all", "all=30s", "100%=1m"))
	}
	if c.rarely(4) {
		c.policy.Verify = []plan.Verify{{URL: "http://web/?a=1&b=<2>"}}
	}
	if c.rarely(4) {
		c.policy.Timeout, c.policy.OnFailure = plan.Duration(90*time.Second), plan.FailRollback
	}
	return c
}

func (c *randomChange) one(words ...string) string { return words[c.chance.IntN(len(words))] }
func (c *randomChange) rarely(n int) bool          { return c.chance.IntN(n) == 0 }

// fields are the values that a change combines; in the new state each stays as it was two
// times of three.
func (c *randomChange) fields(before map[string]string) map[string]string {
	values := map[string][]string{
		"replicas": {"0", "1", "2", "3", "5", "8"}, "image": {"web:1", "web:2"}, "env": {"a", `"0123"`, "'a: b # c'", `"<&>\n"`},
		"ready": {"0", "5"}, "partition": {"0", "0", "2", "50%"}, "paused": {"false", "false", "true"}, "down": {"1", "2", "30%"},
		"surge": {"0", "0", "1"}, "policy": {"ReCreate", "InPlaceIfPossible"}, "history": {"5", "10"},
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if out[name] = before[name]; before == nil || c.rarely(3) {
			out[name] = c.one(values[name]...)
		}
	}
	return out
}

// kind is a kind of workload, as a manifest of values.
func (c *randomChange) kind() func(map[string]string) string {
	const head = `
apiVersion: $api
kind: $kind
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  minReadySeconds: $ready
  revisionHistoryLimit: $history
  template:
    metadata: {labels: {app: web}, annotations: {note: $env}}
    spec: {containers: [{name: main, image: "$image", env: [{name: A, value: $env}]}], readinessGates: [{conditionType: InPlaceUpdateReady}]}
`
	kinds := [][3]string{
		{"apps.kruise.io/v1beta1", "CloneSet", "  replicas: $replicas\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: $policy, maxUnavailable: $down, maxSurge: $surge, partition: $partition, paused: $paused}}\n"},
		{"apps.kruise.io/v1alpha1", "CloneSet", "  replicas: $replicas\n  updateStrategy: {type: $policy, maxUnavailable: $down, partition: $partition, paused: $paused}\n"},
		{"apps.kruise.io/v1beta1", "StatefulSet", "  replicas: $replicas\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: $policy, maxUnavailable: $down, paused: $paused}}\n"},
		{"apps.kruise.io/v1beta1", "DaemonSet", "  updateStrategy: {rollingUpdate: {rollingUpdateType: InPlaceIfPossible, maxUnavailable: $down, paused: $paused}}\n"},
		{"apps/v1", "Deployment", "  replicas: $replicas\n  paused: $paused\n"},
		{"apps/v1", "StatefulSet", "  replicas: $replicas\n"},
		{"apps/v1", "StatefulSet", "  replicas: $replicas\n  updateStrategy: {type: OnDelete}\n"},
		{"apps/v1", "ReplicaSet", "  replicas: $replicas\n"},
		{"apps/v1", "DaemonSet", ""},
	}
	k := kinds[c.chance.IntN(len(kinds))]
	text := strings.NewReplacer("$api", k[0], "$kind", k[1]).Replace(head) + k[2]
	if k[1] == "ReplicaSet" {
		text = strings.Replace(text, "  revisionHistoryLimit: $history\n", "", 1)
	}
	return func(values map[string]string) string {
		out := text
		for name, value := range values {
			out = strings.ReplaceAll(out, "$"+name, value)
		}
		return out
	}
}

// plan makes the plan on the model cluster: at rest, or while an earlier change is in progress.
func (c *randomChange) plan() (plan.Plan, error) {
	w := simulate.New(simulate.DefaultOptions())
	for i := range 4 {
		w.AddNode(fmt.Sprint("node-", i), nil)
	}
	before, err := yaml.Parse(c.old)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := w.Apply(before.YNode()); err != nil {
		return plan.Plan{}, err
	}
	if _, err := w.Settle(10 * time.Minute); err != nil {
		return plan.Plan{}, err
	}
	after, err := yaml.Parse(c.new)
	if err != nil {
		return plan.Plan{}, err
	}
	if c.rarely(4) {
		again, _ := yaml.Parse(strings.ReplaceAll(c.old, "web:1", "web:3"))
		if err := w.Apply(again.YNode()); err != nil {
			return plan.Plan{}, err
		}
		if err := w.Run(w.Now().Add(time.Duration(c.chance.IntN(20)) * time.Second)); err != nil {
			return plan.Plan{}, err
		}
	}
	desired, err := cluster.ReadWorkload(after.YNode())
	if err != nil {
		return plan.Plan{}, err
	}
	s, err := w.Snapshot(desired.Ref)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Build(desired, s, c.policy)
}
