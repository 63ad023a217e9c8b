package planning

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Workloads names the workloads of -f or -k, in their order; none without them.
func (o *Options) Workloads(ctx context.Context) ([]resourcearg.Name, error) {
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	var out []resourcearg.Name
	for _, r := range o.loaded {
		if !cluster.IsWorkload(r.Group(), r.Kind()) || o.name != nil && !o.name.Means(r.Group(), r.Kind(), r.Name()) {
			continue
		}
		n, err := resourcearg.Parse(resourcearg.FormatName(r))
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// For returns the options for one of several workloads.
func (o *Options) For(n resourcearg.Name) Options {
	out := *o
	out.name = &n
	return out
}

// One is one of several workloads of -f or -k.
type One struct {
	Options
	Name resourcearg.Name
	// Manifest is the new state as it was read.
	Manifest *resource.Resource
}

// Each is what the command line asks for, once for each workload of -f or -k in their
// order, where these are several and no name picks one, or for each subset of a
// UnitedDeployment; nil where one plan is for one workload. Workloads of one name in two
// namespaces are two.
func (o *Options) Each(ctx context.Context) ([]One, error) {
	switch {
	case o.united != "" && !o.againstFiles():
		return o.eachSubset(ctx)
	case o.name != nil, !o.manifests() && o.united == "":
		return nil, nil
	}
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	if o.united != "" {
		if err := o.loadPast(ctx); err != nil {
			return nil, err
		}
		if len(o.past.named) == 0 {
			return nil, &resource.Error{Err: fmt.Errorf("%s holds no uniteddeployment/%s", o.against, o.united), Hint: "check the name, and which file has the present state"}
		}
	}
	list := resourcearg.Workloads(o.loaded, o.Factory.Namespace())
	if !o.manifests() {
		list = resourcearg.Workloads(o.past.stream, o.Factory.Namespace())
	}
	if len(list) < 2 && o.git == "" && (o.past == nil || len(o.past.parts) == 0) { // a subset may be new, or gone
		return nil, nil
	}
	if err := o.readOnce(ctx); err != nil {
		return nil, err
	}
	out := make([]One, len(list)) // not nil: many, also where these are none
	for i, r := range list {
		n, err := resourcearg.Parse(resourcearg.FormatName(r))
		if err != nil {
			return nil, err
		}
		out[i] = One{Options: o.For(n), Name: n, Manifest: r}
		if o.manifests() {
			out[i].loaded = list[i : i+1]
		}
	}
	return out, nil
}

// readOnce reads what is the same for several workloads.
func (o *Options) readOnce(ctx context.Context) error {
	if o.policy.strategy == "-" {
		return command.Usagef("name a file for --strategy", "standard input can be read once only, and there are several workloads")
	}
	if !o.againstFiles() {
		return nil
	}
	return o.loadPast(ctx)
}

// CompleteSubsets checks the flags of a verb for the subsets of a UnitedDeployment, which may have
// nothing to change. Errors are of usage.
func (o *Options) CompleteSubsets() error {
	if o.manifests() {
		return command.Usagef("give --image CONTAINER=IMAGE; other changes: apply the manifest with partitions that hold its subsets, then run without --image", "-f and -k are not for a UnitedDeployment")
	}
	if o.changes() {
		if err := o.validate(); err != nil {
			return err
		}
	}
	return o.CompletePolicy()
}

// Images reports whether new images are given.
func (o *Options) Images() bool { return len(o.images) > 0 }

// SetImages is a workload with the new images.
func (o *Options) SetImages(r *resource.Resource) (*resource.Resource, error) {
	out := resource.Parsed(tree.Clone(r.Node()), nil, r.Origin)
	for _, image := range o.images {
		container, ref, _ := strings.Cut(image, "=")
		if err := setImage(out, container, ref); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Sources are the arguments of -f and -k.
func (o *Options) Sources() []string { return o.input.Sources() }

// CompleteUnited reads the flags of a plan for the UnitedDeployment of a name: its new state is in files, or new
// images come to its subsets, one after the other. Errors are of usage.
func (o *Options) CompleteUnited(name string) error {
	o.united = name
	o.Several = true
	switch {
	case o.FromFiles():
		return o.Complete(nil)
	case !o.Images():
		return command.Usagef("give --image CONTAINER=IMAGE", "nothing to plan")
	}
	if err := o.CompleteSubsets(); err != nil {
		return err
	}
	return o.input.Limits.Complete()
}

// eachSubset is what the command line asks for, once for the workload of each subset in the
// order in which they are rolled out.
func (o *Options) eachSubset(ctx context.Context) ([]One, error) {
	client, namespace, err := o.Factory.InNamespace()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, o.united)
	if err != nil {
		return nil, err
	}
	names, err := clusterread.SubsetWorkloads(ctx, client, u)
	if err != nil {
		return nil, err
	}
	out := make([]One, len(names))
	for i, n := range names {
		found, err := clusterread.FindWorkload(ctx, client, n, namespace)
		if err != nil {
			return nil, err
		}
		one := o.For(n)
		one.Counted, one.kept = true, new(u.Final(u.Subsets[i]))
		out[i] = One{Options: one, Name: n, Manifest: found}
	}
	return out, nil
}
