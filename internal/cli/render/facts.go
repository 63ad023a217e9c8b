package render

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// kubernetesVersion is that of the flag, 0 without it.
func (o *options) kubernetesVersion() (int, error) {
	if o.kubernetes == "" {
		return 0, nil
	}
	return stage.ParseKubernetes(o.kubernetes)
}

// facts are the objects of --with and those that --live reads. For --target auto
// a cluster is asked what it is, unless --with tells.
func (o *options) facts(ctx context.Context, stream []*resource.Resource, opt engine.Options) ([]*resource.Resource, error) {
	given, err := load.Context(ctx, o.with, o.factory.Streams.In)
	if err != nil {
		return nil, err
	}
	scope := clusterread.FactScope{Stream: slices.Concat(stream, given), Namespace: opt.Namespace, Now: true}
	if scope.Stream == nil {
		scope.Stream = []*resource.Resource{}
	}
	if !o.live {
		// What is wrong with the facts is said when they are used.
		known, _ := engine.ReadClusterFacts(given)
		if opt.Target != engine.Auto || len(known.APIVersions) > 0 {
			return given, nil
		}
		scope.Wanted = func(kind string) bool { return kind == engine.ClusterFactsKind }
	}
	read, err := o.ask(ctx, scope)
	return append(given, read...), err
}

// ask reads from the cluster, and says on stderr what it may not.
func (o *options) ask(ctx context.Context, scope clusterread.FactScope) ([]*resource.Resource, error) {
	cluster, err := clusterread.Connect(o.factory)
	if err != nil {
		return nil, err
	}
	res, err := clusterread.ReadFacts(ctx, cluster, scope)
	if err != nil {
		return nil, err
	}
	for _, s := range res.Skipped {
		_, _ = fmt.Fprintf(o.factory.Streams.Err, "warning: continuing without %s\n", s)
	}
	return res.Context, nil
}
