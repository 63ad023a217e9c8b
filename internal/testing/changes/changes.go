// Package changes makes up changes of workloads at random, out of what people combine: a test
// carries the same ones out in the model and on a server.
package changes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const (
	// Nodes is how many nodes the cluster of a change has.
	Nodes = 3
	// Image is the image of the container main before the change.
	Image = "registry.example.com/web:1"

	onDelete = "OnDelete"
	newImage = "registry.example.com/web:2"
)

// Change is one change of a workload that is called web, or of a SidecarSet for the pods of one.
type Change struct {
	// Kind is the API version and the kind, with that of the subsets' workloads.
	Kind     string
	Old, New map[string]any
	// NotReady are pods, counted in the order of their names, that are not ready with [Image].
	NotReady []int
	// Deleted are the pods, counted likewise, that the new state names for deletion.
	Deleted []int

	chance *rand.Rand
	// pair is the API version and the kind of the workload with pods.
	pair [2]string
	// doc is the workload with pods in the one of Old and New that is made up now.
	doc map[string]any
}

func (c *Change) String() string {
	was, _ := json.Marshal(c.Old["spec"])
	is, _ := json.Marshal(c.New["spec"])
	return fmt.Sprintf("%s\nold %s\nnew %s\nnot ready: %v, deleted: %v", c.Kind, was, is, c.NotReady, c.Deleted)
}

// kinds are the kinds of workloads, with the API version.
var kinds = [][2]string{
	{"apps.kruise.io/v1beta1", kruise.KindCloneSet},
	{"apps.kruise.io/v1alpha1", kruise.KindCloneSet},
	{"apps.kruise.io/v1beta1", kruise.KindStatefulSet},
	{"apps.kruise.io/v1beta1", kruise.KindDaemonSet},
	{"apps/v1", kruise.KindDeployment},
	{"apps/v1", kruise.KindStatefulSet},
	{"apps/v1", kruise.KindDaemonSet},
	{"apps/v1", kruise.KindReplicaSet},
	{"apps.kruise.io/v1beta1", kruise.KindSidecarSet},
}

// New makes up the workload with a number, and what becomes of it.
func New(number uint64) *Change {
	c := newChange(number)
	pair := kinds[c.chance.IntN(len(kinds))]
	if c.rarely(3) { // those with most fields come more often
		pair = kinds[c.chance.IntN(3)]
	}
	c.begin(pair)
	c.Old, c.Kind = c.doc, strings.Join(pair[:], " ")
	c.breakPods()
	c.New = copied(c.Old)
	c.doc = c.New
	c.edit()
	return c
}

func newChange(number uint64) *Change {
	return &Change{chance: rand.New(rand.NewPCG(number, 7))} //nolint:gosec // a number makes the same change again
}

// begin makes up the workload with pods before the change.
func (c *Change) begin(pair [2]string) {
	c.pair = pair
	c.doc = map[string]any{
		"apiVersion": pair[0], "kind": pair[1], "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}, "template": Template()},
	}
	if pair[1] == kruise.KindSidecarSet {
		c.doc["metadata"] = map[string]any{"name": "side"}
		c.doc["spec"] = map[string]any{
			"selector":   map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"containers": []any{map[string]any{"name": "side", "image": "registry.example.com/side:1"}},
		}
	}
	c.describe()
}

// Template is the template of pods before the change.
func Template() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "web"}, "annotations": map[string]any{"note": "a"}},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": "main", "image": Image, "env": []any{map[string]any{"name": "A", "value": "1"}},
			"resources": map[string]any{"requests": map[string]any{"cpu": "100m"}},
		}}},
	}
}

// Pods is how many pods there are before the change.
func (c *Change) Pods() int {
	switch n, counted := c.Old["spec"].(map[string]any)["replicas"].(int); {
	case counted:
		return n
	case c.pair[1] == kruise.KindDaemonSet:
		return Nodes
	}
	return 0
}

// CarriedPods is how many pods a SidecarSet is injected into.
const CarriedPods = 5

// Carrier is the CloneSet whose pods a SidecarSet is injected into; nil where the workload has pods of its own.
func (c *Change) Carrier() map[string]any {
	if c.pair[1] != kruise.KindSidecarSet {
		return nil
	}
	return map[string]any{
		"apiVersion": "apps.kruise.io/v1beta1", "kind": kruise.KindCloneSet, "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas": CarriedPods, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}, "template": Template(),
		},
	}
}

// Named is the new state in a cluster whose pods have these names.
func (c *Change) Named(pods []string) map[string]any {
	out := copied(c.New)
	if len(c.Deleted) == 0 {
		return out
	}
	pods = slices.Sorted(slices.Values(pods))
	var names []any
	for _, i := range c.Deleted {
		names = append(names, pods[i])
	}
	within(out["spec"].(map[string]any), "scaleStrategy")["podsToDelete"] = names
	return out
}

func (c *Change) one(words ...any) any     { return words[c.chance.IntN(len(words))] }
func (c *Change) rarely(n int) bool        { return c.chance.IntN(n) == 0 }
func (c *Change) strategy() map[string]any { return c.in("updateStrategy") }

// in is a mapping of the spec, which is made where it is missing.
func (c *Change) in(path ...string) map[string]any {
	return within(c.doc["spec"].(map[string]any), path...)
}

// ofKruise reports whether the workload with pods is one of Kruise.
func (c *Change) ofKruise() bool { return strings.HasPrefix(c.pair[0], kruise.Group+"/") }

func within(m map[string]any, path ...string) map[string]any {
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

func copied(m map[string]any) map[string]any {
	out, _ := deepCopy(m).(map[string]any)
	return out
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

// breakPods chooses pods that are not ready with the old image.
func (c *Change) breakPods() {
	if !c.rarely(6) {
		return
	}
	for i := range c.Pods() {
		if c.rarely(3) {
			c.NotReady = append(c.NotReady, i)
		}
	}
}
