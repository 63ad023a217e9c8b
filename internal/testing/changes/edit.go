package changes

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// edit changes the workload.
func (c *Change) edit() {
	c.editBy([]edit{
		{2, c.editTemplate}, {3, c.editReplicas}, {3, c.editOrdinals}, {3, c.editDeletes}, {6, c.editStrategy}, {20, c.editPause}, {12, c.editClaims}, {10, c.editMinReady},
	})
}

// edit is one way to change a workload, which is taken once in so many times; do reports whether
// the workload has what it changes.
type edit struct {
	often int
	do    func() bool
}

// editBy takes some of the ways, and one at least.
func (c *Change) editBy(ways []edit) {
	for edited := false; !edited; {
		for _, way := range ways {
			edited = c.rarely(way.often) && way.do() || edited
		}
	}
}

func (c *Change) editTemplate() bool {
	if c.pair[1] == kruise.KindSidecarSet {
		c.in()["containers"].([]any)[0].(map[string]any)["image"] = "registry.example.com/side:2"
		return true
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
		main["image"] = newImage
	}
	return true
}

func (c *Change) editReplicas() bool {
	if _, ok := c.in()["replicas"]; !ok {
		return false
	}
	c.in()["replicas"] = c.one(0, 1, 2, 3, 4, 5, 6, 7, 8)
	return true
}

func (c *Change) editOrdinals() bool {
	if c.pair[1] != kruise.KindStatefulSet {
		return false
	}
	if c.ofKruise() && !c.rarely(3) {
		c.in()["reserveOrdinals"] = []any{c.one(0, 1, 2, 3)}
		return true
	}
	c.in("ordinals")["start"] = c.one(1, 2)
	return true
}

// editDeletes names pods that are to go.
func (c *Change) editDeletes() bool {
	if c.pair[1] != kruise.KindCloneSet {
		return false
	}
	pods := c.Pods()
	if pods == 0 {
		return false
	}
	for range c.chance.IntN(2) + 1 {
		if i := c.chance.IntN(pods); !slices.Contains(c.Deleted, i) {
			c.Deleted = append(c.Deleted, i)
		}
	}
	if n, _ := c.in()["replicas"].(int); !c.rarely(3) {
		c.in()["replicas"] = max(n-len(c.Deleted), 0)
	}
	return true
}

func (c *Change) editStrategy() bool {
	switch c.pair[1] {
	case kruise.KindCloneSet:
		rolling := c.strategy()
		if inner, ok := rolling["rollingUpdate"].(map[string]any); ok {
			rolling = inner
		}
		rolling["maxUnavailable"] = c.one(1, 2, "40%")
		return true
	case kruise.KindSidecarSet:
		c.strategy()["maxUnavailable"] = c.one(1, 2, "40%")
		return true
	}
	return false
}

func (c *Change) editPause() bool {
	switch {
	case c.pair[1] == kruise.KindDeployment:
		c.in()["paused"] = true
	case !c.ofKruise():
		return false
	case c.pair[1] == kruise.KindSidecarSet || strings.HasSuffix(c.pair[0], kruise.V1alpha1):
		c.strategy()["paused"] = true
	default:
		c.in("updateStrategy", "rollingUpdate")["paused"] = true
	}
	return true
}

func (c *Change) editClaims() bool {
	list, ok := c.in()["volumeClaimTemplates"].([]any)
	if !ok || !c.ofKruise() {
		return false
	}
	list[0].(map[string]any)["spec"].(map[string]any)["resources"] = map[string]any{"requests": map[string]any{"storage": "2Gi"}}
	return true
}

func (c *Change) editMinReady() bool {
	if c.pair[1] == kruise.KindSidecarSet || c.pair[1] == kruise.KindStatefulSet && c.ofKruise() {
		return false
	}
	c.in()["minReadySeconds"] = 5
	return true
}
