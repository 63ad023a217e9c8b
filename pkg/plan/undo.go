package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Older returns the revision of a number or, for 0, the newest that is not the present
// one. Where no revisions are kept, as of a ReplicaSet, it is the template that the last
// rollout started from. The error says that there is none.
func Older(s Snapshot, number int64) (cluster.Revision, error) {
	list := Revisions(s)
	now, _ := rules.FindRevision(list, s.Object().Template)
	if number > 0 {
		i := slices.IndexFunc(list, func(r cluster.Revision) bool { return r.Number == number })
		if i < 0 {
			return cluster.Revision{}, &tree.Error{Msg: fmt.Sprintf("has no revision %d", number), Hint: "'kubectl kruise rollout history' lists those there are"}
		}
		return list[i], nil
	}
	for _, r := range slices.Backward(list) {
		if r.Name != now.Name {
			return r, nil
		}
	}
	if s.Base != nil {
		return cluster.Revision{Template: s.Base}, nil
	}
	return cluster.Revision{}, &tree.Error{Msg: "has no older revision", Hint: "apply the old manifest: 'kubectl kruise rollout run -f FILE'"}
}

// Undo makes the plan that leads to an older revision, see [Older]: to its very template,
// without the fields that were added since. All pods go back: a partition that an ended
// rollout has left would keep the very pods that are to go back, and is removed.
func Undo(s Snapshot, revision int64, policy Policy) (Plan, error) {
	if s.Object() == nil {
		return Plan{}, &tree.Error{Msg: "the object is gone"}
	}
	to, err := Older(s, revision)
	if err != nil {
		return Plan{}, err
	}
	desired, err := WithTemplate(s.Object(), to.Template)
	if err != nil {
		return Plan{}, err
	}
	if partition, ok := partitionOf(desired.Object); ok && partition.String() != "0" {
		desired = withPartition(desired, intstr.FromInt32(0))
	}
	return Build(desired, s, policy)
}
