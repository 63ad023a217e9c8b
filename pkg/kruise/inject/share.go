package inject

import (
	"regexp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// ReferencePattern finds $(NAME) in a subPathExpr; $$(NAME) is not seen as an
// escape (docs/kruise/sidecarset.md#shared-mounts-and-devices).
const ReferencePattern = `\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)`

var reference = regexp.MustCompile(ReferencePattern)

// sources are the containers that a sharing sidecar copies from: all of the
// pod's but those that an earlier injection put in
// (docs/kruise/sidecarset.md#shared-mounts-and-devices).
func (in *injection) sources() []*tree.Node {
	var out []*tree.Node
	for _, c := range in.containers {
		if !in.ours[tree.StrAt(c, "name")] && !marked(c) {
			out = append(out, c)
		}
	}
	return out
}

// marked looks at the first env named IS_INJECTED only.
func marked(container *tree.Node) bool {
	e, _ := tree.Find(tree.Get(container, "env"), "name", kruise.SidecarInjectedEnv)
	return tree.StrAt(e, "value") == "true"
}

// sharedMounts returns the app's mounts that s takes over behind its own, and
// the env that their subPathExpr need, even those of mounts that find their
// path taken.
func (in *injection) sharedMounts(s *sidecar) (mounts, env []*tree.Node) {
	taken := paths(s.mounts, "mountPath")
	for path := range paths(s.devices, "devicePath") {
		taken[path] = true
	}
	for _, c := range in.sources() {
		for _, m := range tree.Items(tree.Get(c, "volumeMounts")) {
			env = append(env, pick(c, references(tree.StrAt(m, "subPathExpr")))...)
			if path := tree.StrAt(m, "mountPath"); !taken[path] {
				taken[path] = true
				mounts = append(mounts, bare(m))
			}
		}
	}
	return mounts, env
}

func references(expr string) []string {
	var names []string
	for _, m := range reference.FindAllStringSubmatch(expr, -1) {
		names = append(names, m[1])
	}
	return names
}

// sharedDevices returns the app's devices that s takes over; mounts are all
// that s has by now.
func (in *injection) sharedDevices(s *sidecar, mounts []*tree.Node) []*tree.Node {
	taken := paths(mounts, "mountPath")
	for path := range paths(s.devices, "devicePath") {
		taken[path] = true
	}
	var out []*tree.Node
	for _, c := range in.sources() {
		for _, d := range tree.Items(tree.Get(c, "volumeDevices")) {
			if path := tree.StrAt(d, "devicePath"); !taken[path] {
				taken[path] = true
				out = append(out, bare(d))
			}
		}
	}
	return out
}

func paths(list []*tree.Node, field string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, n := range list {
		out[tree.StrAt(n, field)] = true
	}
	return out
}
