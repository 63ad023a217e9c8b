package ui

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// find is the workload that a command line names, by the kind that it has there.
func find(ctx context.Context, f *factory.Factory, arg string) (cluster.Ref, error) {
	name, err := resourcearg.Parse(arg)
	if err != nil {
		return cluster.Ref{}, err
	}
	client, namespace, err := f.InNamespace()
	if err != nil {
		return cluster.Ref{}, err
	}
	r, err := clusterread.FindWorkload(ctx, client, name, namespace)
	if err != nil {
		return cluster.Ref{}, err
	}
	ref := cluster.Ref{Group: r.Group(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()}
	if !name.Means(ref.Group, ref.Kind, ref.Name) {
		ref.Group, ref.Kind, ref.Name = name.Kinds[0].Group, name.Kinds[0].Kind, name.Name
	}
	return ref, nil
}

// Over shows the screens over a rollout that `rollout run --ui` carries out at a desk.
func Over(ctx context.Context, f *factory.Factory, d *rollout.Desk, ref cluster.Ref) error {
	where, err := place(f, f.Streams.Getenv(productionVariable), false)
	if err != nil {
		return err
	}
	where.Namespace = ref.Namespace
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l, err := connect(ctx, f, where, look{stateNamespace: d.StateNamespace()}, d)
	if err != nil {
		return err
	}
	_, err = l.show(ctx, f, tui.Options{First: screen.Open{Screen: screen.Rollout, Ref: ref}, Notify: tui.Bell})
	return err
}
