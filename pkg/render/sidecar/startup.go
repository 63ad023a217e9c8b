package sidecar

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// The names under which the two features are expanded.
const (
	launchPriority    = "ContainerLaunchPriority"
	sidecarTerminator = "SidecarTerminator"
)

// Start is the stage that keeps the order in which Kruise starts the containers of a pod, and the
// end that its SidecarTerminator puts to sidecars of finished jobs: what starts early or ends late
// becomes a native sidecar, an init container with restartPolicy Always
// (docs/kruise/protection.md#container-launch-priority and docs/kruise/protection.md#other-features).
// It looks at pod templates of native kinds, as they are after injection.
func Start(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if r.Group() == kruise.Group {
			return []*resource.Resource{r}, nil
		}
		templates, _ := c.Templates(r)
		var errs resource.Errors
		for _, t := range templates {
			p := pod{c: c, r: r, path: t.Path, template: t.Node}
			errs.Add(r.Wrap(p.run(), t.Path))
			if p.template != t.Node {
				stage.Put(r, t.Path, p.template)
			}
		}
		return []*resource.Resource{r}, errs.Err()
	})
}

// pod is one template on its way. What is changed is copied first.
type pod struct {
	c        *stage.Context
	r        *resource.Resource
	path     string
	template *tree.Node
}

func (p *pod) run() error {
	if p.c.Expand(sidecarTerminator) && p.ends() {
		p.terminate()
	}
	if !p.c.Expand(launchPriority) {
		return nil
	}
	priorities, err := inject.LaunchPriorities(p.template)
	if err != nil || priorities == nil {
		return err
	}
	if p.ends() {
		p.report("containerlaunchpriority/job", "spec.containers")
		return nil
	}
	p.launch(priorities)
	return nil
}

// ends reports whether the pod's containers are meant to come to an end.
func (p *pod) ends() bool {
	policy := tree.StrAt(p.template, "spec", "restartPolicy")
	return policy == "Never" || policy == "OnFailure"
}

func (p *pod) report(id, field string) {
	if p.path != "" {
		field = p.path + "." + field
	}
	p.c.Findings.Add(id, p.r, field, "")
}

// sidecars turns the containers that take selects into native sidecars, in the order of their
// launch, behind the existing init containers.
func (p *pod) sidecars(order []int, take func(i int) bool) {
	out := tree.Shallow(p.template)
	spec := tree.Shallow(tree.Get(out, "spec"))
	containers := tree.Items(tree.Get(spec, "containers"))
	kept, init := tree.Seq(), tree.Seq(tree.Items(tree.Get(spec, "initContainers"))...)
	for i, c := range containers {
		if !take(i) {
			kept.Content = append(kept.Content, c)
		}
	}
	for _, i := range order {
		if take(i) {
			init.Content = append(init.Content, containers[i])
		}
	}
	tree.Set(spec, "containers", kept)
	if tree.Has(spec, "initContainers") {
		tree.Set(spec, "initContainers", init)
	} else {
		tree.InsertAfter(spec, "containers", "initContainers", init)
	}
	tree.Set(out, "spec", spec)
	p.template = out
}

// change replaces the i-th container by what f makes of a copy.
func (p *pod) change(i int, f func(*tree.Node)) {
	out := tree.Shallow(p.template)
	spec := tree.Shallow(tree.Get(out, "spec"))
	containers := tree.Shallow(tree.Get(spec, "containers"))
	c := tree.Shallow(containers.Content[i])
	f(c)
	containers.Content[i] = c
	tree.Set(spec, "containers", containers)
	tree.Set(out, "spec", spec)
	p.template = out
}

// withoutEnv takes variables from a container.
func withoutEnv(c *tree.Node, names ...string) {
	env := tree.Get(c, "env")
	if !tree.IsSeq(env) {
		return
	}
	left := tree.Shallow(env)
	left.Content = nil
	for _, e := range env.Content {
		named := false
		for _, name := range names {
			named = named || tree.StrAt(e, "name") == name
		}
		if !named {
			left.Content = append(left.Content, e)
		}
	}
	if len(left.Content) == 0 {
		tree.Delete(c, "env")
		return
	}
	tree.Set(c, "env", left)
}

func always(c *tree.Node) { tree.Set(c, "restartPolicy", tree.String("Always")) }

// launch has containers of higher priority start before the others: all but the
// lowest become native sidecars, one after the other.
func (p *pod) launch(priorities []int) {
	lowest := slices.Min(priorities)
	order := make([]int, len(priorities))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(priorities[b], priorities[a]) })
	for i, priority := range priorities {
		p.change(i, func(c *tree.Node) {
			withoutEnv(c, kruise.ContainerPriorityEnv)
			if priority > lowest {
				always(c)
				p.gate(i, c)
			}
		})
	}
	p.sidecars(order, func(i int) bool { return priorities[i] > lowest })
	p.unmark()
	p.report("containerlaunchpriority/sidecars", "spec.containers")
	if together(priorities, lowest) {
		p.report("containerlaunchpriority/equal", "spec.containers")
	}
}

// gate has the next container wait until this one is ready, as Kruise does: a
// native sidecar's start-up probe is what the next one waits for. One that never
// becomes ready holds the others back for ever, without being restarted.
func (p *pod) gate(i int, c *tree.Node) {
	if tree.Has(c, "startupProbe") {
		return
	}
	ready := tree.Get(c, "readinessProbe")
	if !tree.IsMap(ready) {
		return
	}
	probe := tree.Shallow(ready)
	tree.Delete(probe, "successThreshold")
	tree.Set(probe, "failureThreshold", tree.Int64(math.MaxInt32))
	tree.InsertAfter(c, "readinessProbe", "startupProbe", probe)
	p.report("containerlaunchpriority/probe", "spec.containers["+itoa(i)+"].readinessProbe")
}

// together reports whether two of the sidecars have one priority.
func together(priorities []int, lowest int) bool {
	seen := map[int]bool{}
	for _, n := range priorities {
		if n > lowest && seen[n] {
			return true
		}
		seen[n] = true
	}
	return false
}

// unmark takes the annotation that asks for order: it has been answered.
func (p *pod) unmark() {
	if tree.StrAt(p.template, "metadata", "annotations", kruise.ContainerLaunchPriorityAnnotation) == "" {
		return
	}
	metadata := tree.Shallow(tree.Get(p.template, "metadata"))
	annotations := tree.Shallow(tree.Get(metadata, "annotations"))
	tree.Delete(annotations, kruise.ContainerLaunchPriorityAnnotation)
	if len(annotations.Content) == 0 {
		tree.Delete(metadata, "annotations")
	} else {
		tree.Set(metadata, "annotations", annotations)
	}
	tree.Set(p.template, "metadata", metadata)
}

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
