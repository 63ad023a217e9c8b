package inject

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// part is a container ready to be merged into a list of the pod.
type part struct {
	name  string
	front bool
	node  *tree.Node
	// set is the SidecarSet that it comes from.
	set *Content
}

// build makes the containers of one sidecar for this pod, in the order of
// docs/kruise/sidecarset.md#building-a-sidecar.
func (in *injection) build(set *Content, s *sidecar) ([]part, error) {
	if s.noEmptyImage {
		return nil, fmt.Errorf("sidecar %s: HotUpgrade needs hotUpgradeEmptyImage: the API server refuses a container without an image", s.name)
	}
	in.queue = append(in.queue, s.volumes...)
	parts := make([]part, len(s.variants))
	for i, v := range s.variants {
		parts[i] = part{name: v.name, front: s.front, node: v.node, set: set}
	}
	if len(s.transfer) == 0 && !s.share && !s.shareDevices && s.resources == nil {
		return parts, nil
	}
	fields, err := in.dependent(s)
	if err != nil {
		return nil, fmt.Errorf("sidecar %s: %w", s.name, err)
	}
	for i, v := range s.variants {
		parts[i].node = fields.onto(v)
	}
	in.excesses = append(in.excesses, excesses(set, s, fields.resources)...)
	return parts, nil
}

// dependent are the fields of a sidecar that depend on the pod.
type dependent struct {
	env, mounts, devices []*tree.Node
	computed             bool
	resources            *tree.Node
}

func (in *injection) dependent(s *sidecar) (*dependent, error) {
	d := &dependent{mounts: s.mounts, devices: s.devices}
	extra := in.transferred(s.transfer)
	if s.share {
		// The app's mounts that s takes over behind its own, and the env that their subPathExpr need, even those of mounts that
		// find their path taken.
		var mounts []*tree.Node
		var env []*tree.Node
		taken := paths(s.mounts, "mountPath")
		for path := range paths(s.devices, "devicePath") {
			taken[path] = true
		}
		for _, c := range in.sources() {
			for _, m := range tree.Items(tree.Get(c, "volumeMounts")) {
				expr := tree.StrAt(m, "subPathExpr")
				var names []string
				for _, m := range reference.FindAllStringSubmatch(expr, -1) {
					names = append(names, m[1])
				}
				env = append(env, envByName(c, names)...)
				if path := tree.StrAt(m, "mountPath"); !taken[path] {
					taken[path] = true
					mounts = append(mounts, withoutComments(m))
				}
			}
		}

		d.mounts = appendCopy(d.mounts, mounts)
		extra = append(extra, env...)
	}
	d.env = withoutRepeats(s.env, extra)
	if s.shareDevices {
		d.devices = appendCopy(d.devices, in.sharedDevices(s, d.mounts))
	}
	if s.resources != nil {
		var err error
		d.computed = true
		if d.resources, err = s.resources.resources(in); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// withoutRepeats appends what is new by name: the sidecar's own env beats what
// is transferred, and the first of that beats later ones.
func withoutRepeats(own, extra []*tree.Node) []*tree.Node {
	out := slices.Clip(own)
	seen := indexByName(own)
	for _, e := range extra {
		name := tree.StrAt(e, "name")
		if _, ok := seen[name]; !ok {
			seen[name] = len(out)
			out = append(out, e)
		}
	}
	return out
}

// appendCopy never writes behind a, which other pods share.
func appendCopy(a, b []*tree.Node) []*tree.Node { return append(slices.Clip(a), b...) }

// onto returns a copy of the variant's container with these fields.
func (d *dependent) onto(v variant) *tree.Node {
	n := tree.Shallow(v.node)
	setField(n, "env", tree.Seq(appendCopy(d.env, v.versions)...))
	if len(d.mounts) > 0 {
		setField(n, "volumeMounts", tree.Seq(d.mounts...))
	}
	if len(d.devices) > 0 {
		setField(n, "volumeDevices", tree.Seq(d.devices...))
	}
	if d.computed {
		tree.Delete(n, "resources")
		if d.resources != nil {
			setField(n, "resources", d.resources)
		}
	}
	return n
}

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
				out = append(out, withoutComments(d))
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

// transfer is one entry of transferEnv (docs/kruise/sidecarset.md#transferenv).
type transfer struct {
	// source is the container's name, unless it comes from an annotation or a
	// label of the pod.
	source string
	from   *podField
	// names are sorted and unique.
	names []string
}

// podField is an annotation or a label of the pod. An unsupported path makes
// the entry void.
type podField struct {
	list, key string
	void      bool
}

func compileTransfers(n *tree.Node) []transfer {
	var out []transfer
	for _, entry := range tree.Items(n) {
		t := transfer{source: tree.StrAt(entry, "sourceContainerName")}
		if name := tree.StrAt(entry, "envName"); name != "" {
			t.names = append(t.names, name)
		}
		for _, name := range tree.Items(tree.Get(entry, "envNames")) {
			t.names = append(t.names, tree.Str(name))
		}
		slices.Sort(t.names)
		t.names = slices.Compact(t.names)
		if ref := tree.Get(entry, "sourceContainerNameFrom", "fieldRef"); ref != nil {
			f := parsePodField(tree.StrAt(ref, "fieldPath"))
			t.from = &f
		}
		out = append(out, t)
	}
	return out
}

// parsePodField reads metadata.annotations['KEY'] or metadata.labels['KEY'].
func parsePodField(path string) podField {
	for _, list := range []string{"annotations", "labels"} {
		rest, ok := strings.CutPrefix(path, "metadata."+list+"['")
		if !ok {
			continue
		}
		key, ok := strings.CutSuffix(rest, "']")
		// Annotation keys count in any case, as for Kubernetes' own field paths.
		checked := key
		if list == "annotations" {
			checked = strings.ToLower(key)
		}
		if ok && len(validation.IsQualifiedName(checked)) == 0 {
			return podField{list: list, key: key}
		}
	}
	return podField{void: true}
}

// SupportedFieldPath reports whether sourceContainerNameFrom can resolve path.
func SupportedFieldPath(path string) bool { return !parsePodField(path).void }

// transferred resolves the entries of transferEnv, in order.
func (in *injection) transferred(entries []transfer) []*tree.Node {
	var out []*tree.Node
	for _, t := range entries {
		source := t.source
		if t.from != nil {
			if t.from.void {
				continue
			}
			source = tree.StrAt(in.metadata, t.from.list, t.from.key)
		}
		if in.index == nil {
			in.index = indexByName(in.containers)
		}
		at, ok := in.index[source]
		if source == "" || !ok || in.ours[source] {
			continue
		}
		out = append(out, envByName(in.containers[at], t.names)...)
	}
	return out
}

// envByName returns the container's env of these names; the last definition of a
// name counts.
func envByName(container *tree.Node, names []string) []*tree.Node {
	var out []*tree.Node
	env := tree.Items(tree.Get(container, "env"))
	for _, name := range names {
		for _, e := range slices.Backward(env) {
			if tree.StrAt(e, "name") == name {
				out = append(out, withoutComments(e))
				break
			}
		}
	}
	return out
}
