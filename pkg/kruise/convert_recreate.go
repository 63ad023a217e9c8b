package kruise

import (
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const snapshot = "status.containerStatusSnapshot"

var containerRecreateFields = []field{
	special{snapshotUp, snapshotDown},
	special{graceUp, graceDown},
}

// snapshotUp reads the JSON that v1alpha1 keeps in an annotation. Text that is
// no JSON stays where it is.
func snapshotUp(c *conversion) {
	var list []any
	text := c.annotation(ContainerRecreateSyncStatusesAnnotation)
	if text == "" || json.Unmarshal([]byte(text), &list) != nil {
		return
	}
	c.unmark(annotations, ContainerRecreateSyncStatusesAnnotation)
	c.set(snapshot, tree.FromValue(list))
}

// snapshotDown writes the annotation as Kruise does, its keys in the order of the
// type; what the type does not know comes sorted.
func snapshotDown(c *conversion) {
	v := c.take(snapshot)
	if v == nil {
		return
	}
	var list []ContainerRecreateRequestContainerStatusSnapshot
	write := any(&list)
	if unknown, err := tree.Decode(v, &list); err != nil || len(unknown) > 0 {
		write = tree.Value(v)
	}
	b, err := json.Marshal(write)
	if err != nil { // tree.Value returns nothing that cannot be marshalled
		c.absent(snapshot)
		return
	}
	c.annotate(ContainerRecreateSyncStatusesAnnotation, string(b))
}

// graceUp reads the time at which the pod was taken out of service.
func graceUp(c *conversion) {
	at := c.unmark(annotations, ContainerRecreateUnreadyAcquiredAnnotation)
	if at == nil {
		return
	}
	c.set("status.conditions", tree.Seq(tree.Map(
		"type", ContainerRecreatePreRecreateGrace, "status", "True", "lastTransitionTime", at,
		"reason", ContainerRecreatePreRecreateGrace, "message", "")))
}

func graceDown(c *conversion) {
	for _, cond := range tree.Items(c.take("status.conditions")) {
		if at := tree.StrAt(cond, "lastTransitionTime"); at != "" && tree.StrAt(cond, "type") == ContainerRecreatePreRecreateGrace {
			c.annotate(ContainerRecreateUnreadyAcquiredAnnotation, at)
		} else {
			c.lose("status.conditions", "%s has no conditions, %s is dropped", c.to, tree.StrAt(cond, "type"))
		}
	}
}
