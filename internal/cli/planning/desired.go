package planning

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// manifest returns the workload of -f or -k, nil without them.
func (o *Options) manifest(ctx context.Context) (*resource.Resource, error) {
	if !o.manifests() {
		return nil, nil //nolint:nilnil // no manifest is no error
	}
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	return resourcearg.Pick(o.loaded, o.name, o.Factory.Namespace(), strings.Join(o.input.Sources(), " "))
}

// load reads -f or -k, once: stdin can be read no second time.
func (o *Options) load(ctx context.Context) (err error) {
	if !o.manifests() || o.loaded != nil {
		return nil
	}
	if o.git != "" {
		return o.loadRevisions(ctx)
	}
	opt := o.input.Load(load.Options{Stdin: o.Factory.Streams.In, Namespace: o.Factory.Namespace()})
	var undecided []*resource.Error
	if o.Preview { // elsewhere it is an error
		opt.Undecided = &undecided
	}
	o.loaded, err = load.Load(ctx, opt)
	input.WarnUndecided(o.Factory.Streams.Err, undecided)
	if err != nil || !o.Preview {
		return err
	}
	return o.replaceUnited(ctx)
}

// loadRevisions reads both states from Git; workloads that the new one does not have are named.
func (o *Options) loadRevisions(ctx context.Context) error {
	states := input.States{Stdin: o.Factory.Streams.In, Notes: o.Factory.Streams.Err, Namespace: o.Factory.Namespace(), Build: o.input.Build, Limits: o.input.Limits}
	old, now, err := states.Revisions(ctx, o.git, o.paths)
	if err != nil {
		return err
	}
	input.WarnUndecided(o.Factory.Streams.Err, states.Undecided)
	if o.loaded = now; now == nil {
		o.loaded = []*resource.Resource{}
	}
	if err := o.setPast(ctx, old); err != nil {
		return err
	}
	if err := o.replaceUnited(ctx); err != nil {
		return err
	}
	noteGone(o.Factory, resourcearg.Workloads(o.past.stream, o.Factory.Namespace()), o.loaded)
	return nil
}

// noteGone names the workloads of the present state that the new one does not have.
func noteGone(f *factory.Factory, old, now []*resource.Resource) {
	there := map[string]bool{}
	for _, r := range resourcearg.Workloads(now, f.Namespace()) {
		there[r.ID().String()] = true
	}
	for _, r := range old {
		if !there[r.ID().String()] {
			_, _ = fmt.Fprintf(f.Streams.Err, "note: %s is gone: its pods are deleted with it, and there is nothing to roll out\n", resourcearg.FormatName(r))
		}
	}
}

// replaceUnited plans UnitedDeployments by the workloads of their subsets where both states are in files. In a
// cluster those have names of their own, and no file has their new state: these are named.
func (o *Options) replaceUnited(ctx context.Context) (err error) {
	if o.againstFiles() {
		if err := o.loadPast(ctx); err != nil {
			return err
		}
		whole := o.loaded
		if o.loaded, _, err = o.inSubsets(ctx, whole); err != nil || o.git != "" {
			return err
		}
		for _, r := range whole {
			noteGone(o.Factory, o.past.parts[r.ID()], o.loaded)
		}
		return nil
	}
	for _, r := range o.loaded {
		if r.Is(kruise.Group, kruise.KindUnitedDeployment) && o.name == nil {
			_, _ = fmt.Fprintf(o.Factory.Streams.Err, "warning: uniteddeployment/%s is not planned: its controller writes the workloads of its subsets; 'kubectl kruise diff' says what changes, and 'kubectl kruise plan uniteddeployment/%s --image CONTAINER=IMAGE' plans the subsets in a cluster\n", r.Name(), r.Name())
		}
	}
	return nil
}

// Desired is the workload as it should become: the manifest, or the current state
// without one, with the new images. Namespace and replicas that a manifest leaves
// open are those of the present state. The partition of a subset's workload keeps only the pods that it
// keeps in the end.
func (o *Options) Desired(ctx context.Context, manifest, present *resource.Resource) (*resource.Resource, error) {
	from, err := asCarried(ctx, manifest, present)
	if err != nil {
		return nil, err
	}
	if from == nil {
		from = present
	}
	out := resource.Parsed(tree.Clone(from.Node()), nil, from.Origin)
	n := out.Edit()
	if ns := present.Namespace(); ns != "" && out.Namespace() == "" {
		tree.SetAt(n, tree.String(ns), "metadata", "namespace")
	}
	o.setReplicas(n, present.Node())
	for _, image := range o.images {
		container, ref, _ := strings.Cut(image, "=")
		if err := setImage(out, container, ref); err != nil {
			return nil, err
		}
	}
	if path := plan.PartitionPath(out.Group(), out.Kind(), out.Version()); o.kept != nil && path != nil {
		tree.SetAt(n, tree.Int64(*o.kept), path...)
	}
	return out, nil
}

// setReplicas fills in the replicas of the present state. Where pods are made up,
// both sides want as many as there are, unless the change is one of replicas.
func (o *Options) setReplicas(n, present *tree.Node) {
	before, now := tree.Get(present, "spec", "replicas"), tree.Get(n, "spec", "replicas")
	switch {
	case tree.StrAt(n, "kind") == kruise.KindDaemonSet, tree.StrAt(n, "kind") == kruise.KindSidecarSet:
	case o.pods > 0 && (now == nil || tree.Equal(before, now)):
		tree.SetAt(n, tree.Int64(int64(o.pods)), "spec", "replicas")
	case now == nil && before != nil:
		tree.SetAt(n, tree.Clone(before), "spec", "replicas")
	}
}

// setImage changes the image of a container, or of all containers under "*".
func setImage(r *resource.Resource, container, image string) error {
	spec := tree.Get(r.Edit(), "spec", "template", "spec")
	if r.Kind() == kruise.KindSidecarSet {
		spec = tree.Get(r.Edit(), "spec")
	}
	var names []string
	found := false
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range tree.Items(tree.Get(spec, list)) {
			name := tree.StrAt(c, "name")
			names = append(names, name)
			if container == name || container == "*" && list == "containers" {
				tree.Set(c, "image", tree.String(image))
				found = true
			}
		}
	}
	if !found {
		return command.Usagef("containers: "+strings.Join(names, ", "), "--image: %s %s has no container %q", r.Kind(), r.Name(), container)
	}
	return nil
}

// asCarried returns the manifest in the form of what is there: where a native
// object was rendered from a Kruise workload, the manifest is rendered as that was. nil
// stays nil.
func asCarried(ctx context.Context, manifest, present *resource.Resource) (*resource.Resource, error) {
	if manifest == nil || manifest.Group() != kruise.Group || present.Group() == kruise.Group {
		return manifest, nil
	}
	res, err := render.Render(ctx, []*resource.Resource{resource.Parsed(tree.Clone(manifest.Node()), nil, manifest.Origin)}, render.Options{
		Target: render.Native, Driver: driverOf(present), Namespace: present.Namespace(),
	})
	if err != nil {
		return nil, err
	}
	for _, r := range res.Resources {
		if r.Is(present.Group(), present.Kind()) && r.Name() == present.Name() {
			return r, nil
		}
	}
	return nil, manifest.Wrap(&tree.Error{
		Msg: fmt.Sprintf("does not become the %s %s that was rendered from it", present.Kind(), present.Name()), Hint: "render and apply it again first",
	}, "")
}

// driverOf tells for which driver the object in the cluster was rendered.
func driverOf(present *resource.Resource) stage.Driver {
	if present.Kind() == kruise.KindReplicaSet || tree.StrAt(present.Node(), "spec", "updateStrategy", "type") == "OnDelete" {
		return stage.Client
	}
	return stage.Native
}

// Promoted runs a plan in which every pause is promoted at once.
func Promoted() simulate.RolloutOptions {
	at := time.Duration(0)
	return simulate.RolloutOptions{Promote: &at}
}
