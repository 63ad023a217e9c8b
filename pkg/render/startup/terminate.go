package startup

import (
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// terminate has sidecars of a job end with it: as native sidecars they do not
// keep the pod from completing, and the kubelet ends them.
func (p *pod) terminate() {
	containers := tree.Items(tree.Get(p.template, "spec", "containers"))
	marked := map[int]bool{}
	var order []int
	for i, c := range containers {
		if endsWithJob(c) {
			marked[i] = true
			order = append(order, i)
		}
	}
	if len(marked) == 0 {
		return
	}
	if len(marked) == len(containers) {
		p.report("sidecarterminator/all", "spec.containers")
		return
	}
	for _, i := range order {
		p.change(i, func(c *tree.Node) {
			withoutEnv(c, kruise.TerminateSidecarEnv, kruise.TerminateSidecarWithImageEnv, kruise.TerminateSidecarIgnoreExitCodeEnv)
			always(c)
		})
		p.report("sidecarterminator/sidecar", "spec.containers["+itoa(i)+"]")
	}
	p.sidecars(order, func(i int) bool { return marked[i] })
}

func endsWithJob(c *tree.Node) bool {
	env := tree.Get(c, "env")
	plain, _ := tree.Find(env, "name", kruise.TerminateSidecarEnv)
	image, _ := tree.Find(env, "name", kruise.TerminateSidecarWithImageEnv)
	return strings.EqualFold(tree.StrAt(plain, "value"), "true") || tree.StrAt(image, "value") != ""
}

func itoa(i int) string { return strconv.Itoa(i) }
