package changes

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Surging is the exception whose rollouts lose the pods that their plans say.
const Surging = "a surge in place: each step surges again, and the plan has the pods that are deleted for that"

// exceptions are the changes whose rollouts may lose pods that applying the manifest keeps, with the reason.
var exceptions = []struct {
	why     string
	applies func(*Change, rules.UpdateMode) bool
}{
	{Surging, func(c *Change, _ rules.UpdateMode) bool { return c.surges() }},
	{
		"a ReplicaSet keeps its pods whatever its template is; the client recreates those that cannot change in place",
		func(c *Change, mode rules.UpdateMode) bool {
			return c.pair[1] == kruise.KindReplicaSet && mode == rules.ModeRecreate
		},
	},
	{
		"a paused Deployment updates no pod; a rollout in steps resumes it and pauses it at the end",
		func(c *Change, _ rules.UpdateMode) bool {
			paused, _ := c.New["spec"].(map[string]any)["paused"].(bool)
			return c.pair[1] == kruise.KindDeployment && paused
		},
	},
}

// Exempt is why a rollout of the change may lose pods that applying the manifest keeps; "" where it
// may not. The mode is that of the plan.
func (c *Change) Exempt(mode rules.UpdateMode) string {
	for _, e := range exceptions {
		if e.applies(c, mode) {
			return e.why
		}
	}
	return ""
}

// surges reports whether a CloneSet has a surge.
func (c *Change) surges() bool {
	w, err := cluster.ReadWorkload(tree.FromValue(c.workload()))
	o, ok := w.Object.(*kruise.CloneSet)
	return err == nil && ok && rules.LimitsOfCloneSet(&o.Spec).MaxSurge > 0
}

// ByClient reports whether only a client updates the pods.
func (c *Change) ByClient() bool {
	return c.pair[1] == kruise.KindReplicaSet || c.byHand()
}

// byHand reports whether pods are updated only when a user deletes them. It adds no field: the API server takes none
// that a kind does not have.
func (c *Change) byHand() bool {
	return within(copied(c.doc), "spec", "updateStrategy")["type"] == onDelete
}

// workload is the new state of the workload with pods.
func (c *Change) workload() map[string]any {
	out := copied(c.doc)
	out["apiVersion"], out["kind"], out["metadata"] = c.pair[0], c.pair[1], map[string]any{"name": "web"}
	return out
}
