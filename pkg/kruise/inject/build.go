package inject

import (
	"fmt"
	"slices"

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
	if s.fixed() {
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
		mounts, env := in.sharedMounts(s)
		d.mounts = joined(d.mounts, mounts)
		extra = append(extra, env...)
	}
	d.env = withoutRepeats(s.env, extra)
	if s.shareDevices {
		d.devices = joined(d.devices, in.sharedDevices(s, d.mounts))
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
	seen := named(own)
	for _, e := range extra {
		name := tree.StrAt(e, "name")
		if _, ok := seen[name]; !ok {
			seen[name] = len(out)
			out = append(out, e)
		}
	}
	return out
}

// joined never writes behind a, which other pods share.
func joined(a, b []*tree.Node) []*tree.Node { return append(slices.Clip(a), b...) }

// onto returns a copy of the variant's container with these fields.
func (d *dependent) onto(v variant) *tree.Node {
	n := tree.Shallow(v.node)
	place(n, "env", tree.Seq(joined(d.env, v.versions)...))
	if len(d.mounts) > 0 {
		place(n, "volumeMounts", tree.Seq(d.mounts...))
	}
	if len(d.devices) > 0 {
		place(n, "volumeDevices", tree.Seq(d.devices...))
	}
	if d.computed {
		tree.Delete(n, "resources")
		if d.resources != nil {
			place(n, "resources", d.resources)
		}
	}
	return n
}
