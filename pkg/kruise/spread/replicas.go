package spread

import (
	"math"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Replicas is what percentages of maxReplicas are of: the sum of the numbers that
// paths (targetFilter.replicasPathList) lead to in the target or, without any,
// [Pods]. A path that leads to no number is an error, which is reported at
// spec.targetFilter.
func Replicas(target *tree.Node, paths []string) (int, error) {
	if len(paths) == 0 {
		return Pods(target), nil
	}
	sum := 0
	for _, path := range paths {
		at, _ := tree.At(target, path)
		n, ok := tree.Int(at)
		if !ok || n < 0 || n > math.MaxInt32 {
			return 0, &tree.Error{
				Path: "spec.targetFilter.replicasPathList", Msg: "path " + path + " leads to no number of pods in the target",
				Hint: "write a dotted path such as spec.replicas",
			}
		}
		sum += int(n)
	}
	return min(sum, math.MaxInt32), nil
}

// Pods is how many pods the target has at a time: spec.replicas, spec.parallelism
// of a Job, else 1.
func Pods(target *tree.Node) int {
	field := "replicas"
	if tree.StrAt(target, "kind") == "Job" {
		field = "parallelism"
	}
	n, ok := tree.Int(tree.Get(target, "spec", field))
	if !ok {
		return 1
	}
	return int(min(max(n, 0), math.MaxInt32))
}
