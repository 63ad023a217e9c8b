package inject

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// LaunchPriorities returns the priority of each of the pod's containers, in
// their order; nil when they all start at once
// (docs/kruise/protection.md#container-launch-priority). It looks at the pod as it is after
// injection. An env that is not an integer makes Kruise refuse the pod.
func LaunchPriorities(pod *tree.Node) ([]int, error) {
	containers := tree.Items(tree.Get(pod, "spec", "containers"))
	if len(containers) < 2 {
		return nil, nil
	}
	priorities := make([]int, len(containers))
	if tree.StrAt(pod, "metadata", "annotations", kruise.ContainerLaunchPriorityAnnotation) == kruise.ContainerLaunchOrdered {
		for i := range priorities {
			priorities[i] = -i
		}
		return priorities, nil
	}
	for i, c := range containers {
		var err error
		if priorities[i], err = priority(c); err != nil {
			return nil, inSpec(tree.Errorf(tree.Get(pod, "spec"), fmt.Sprintf("containers[%d].env", i), "", "%v", err))
		}
	}
	if slices.Min(priorities) == slices.Max(priorities) {
		return nil, nil
	}
	return priorities, nil
}

// priority reads the env of that name, the last of which counts; a container
// without one has 0.
func priority(container *tree.Node) (v int, err error) {
	for _, e := range tree.Items(tree.Get(container, "env")) {
		if tree.StrAt(e, "name") != kruise.ContainerPriorityEnv {
			continue
		}
		text := tree.StrAt(e, "value")
		if v, err = strconv.Atoi(text); err != nil {
			return 0, fmt.Errorf("%s is %q, which is not an integer", kruise.ContainerPriorityEnv, text)
		}
	}
	return v, nil
}
