package changes

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// describe gives the old workload its numbers and policies.
func (c *Change) describe() {
	replicas, rate := c.one(0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 8), c.one(1, 2, 3, "20%", "50%", "100%")
	claims := []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}}}
	spec := c.in()
	switch c.pair[1] {
	case kruise.KindCloneSet:
		spec["replicas"] = replicas
		rolling := c.strategy()
		if c.pair[0] == "apps.kruise.io/v1alpha1" {
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
	case kruise.KindStatefulSet:
		spec["replicas"], spec["serviceName"] = replicas, "web"
		spec["podManagementPolicy"] = c.one("Parallel", "Parallel", "OrderedReady")
		if c.rarely(2) {
			spec["volumeClaimTemplates"] = claims
			spec["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenScaled": c.one("Delete", "Retain"), "whenDeleted": "Retain"}
		}
		if c.pair[0] == "apps/v1" {
			if c.rarely(3) {
				c.strategy()["type"] = onDelete
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
	case kruise.KindDaemonSet:
		rolling := c.in("updateStrategy", "rollingUpdate")
		switch {
		case c.pair[0] == "apps/v1" && c.rarely(3):
			spec["updateStrategy"] = map[string]any{"type": onDelete}
		case c.rarely(3):
			rolling["maxSurge"], rolling["maxUnavailable"] = c.one(1, 2), 0
		default:
			rolling["maxUnavailable"] = c.one(1, 2, "50%")
			if c.pair[0] != "apps/v1" {
				rolling["rollingUpdateType"] = c.one("Standard", "InPlaceIfPossible", "InPlaceIfPossible")
			}
		}
	case kruise.KindDeployment:
		spec["replicas"] = replicas
		c.in("strategy")["type"] = c.one("RollingUpdate", "RollingUpdate", "Recreate")
	case kruise.KindReplicaSet:
		spec["replicas"] = replicas
	case kruise.KindSidecarSet:
		c.strategy()["maxUnavailable"] = rate
	}
	if c.rarely(4) && c.pair[1] != kruise.KindSidecarSet {
		if c.pair[1] == kruise.KindStatefulSet && c.pair[0] != "apps/v1" {
			c.in("updateStrategy", "rollingUpdate")["minReadySeconds"] = 3
		} else {
			spec["minReadySeconds"] = 3
		}
	}
}

func (c *Change) addHooks() {
	if c.rarely(6) {
		c.in()["lifecycle"] = map[string]any{"inPlaceUpdate": map[string]any{"labelsHandler": map[string]any{"hook": "yes"}}}
		c.in("template", "metadata", "labels")["hook"] = "yes"
	}
}
