package lint

import (
	"context"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// problems are those of the cluster, or of the files.
func (o *options) problems(ctx context.Context) ([]engine.Problem, error) {
	if o.live.on {
		return o.inCluster(ctx)
	}
	q, faults := o.request(ctx)
	o.checked = len(q.Objects)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if faults == nil {
		return engine.Run(q), ctx.Err()
	}
	return append(engine.Unread(faults), partly(q)...), ctx.Err()
}

// partly answers a question of which a part could not be read: what is not known may
// exist.
func partly(q engine.Request) []engine.Problem {
	q.Known = false
	return slices.DeleteFunc(engine.Run(q), func(p engine.Problem) bool { return slices.Contains(finders, p.Rule) })
}

// request reads the files. With faults it holds what can be looked at without the rest.
func (o *options) request(ctx context.Context) (engine.Request, error) {
	q := engine.Request{Operation: check.Operation(o.operation), Namespace: o.factory.Namespace(), Disabled: o.disable, Known: o.known, Limits: o.limits.Stage(), Stop: ctx.Err}
	var faults resource.Errors
	var err error
	q.Objects, err = load.Readable(ctx, o.limits.Load(load.Options{
		Files: o.files, Recursive: o.recursive, Kustomize: o.kustomize, Root: o.root.Folder, Stdin: o.factory.Streams.In, Namespace: q.Namespace, Except: slices.Concat(o.with, o.old),
	}))
	faults.Add(err)
	q.Context, err = load.Context(ctx, o.with, o.factory.Streams.In)
	faults.Add(err)
	facts, err := render.ReadClusterFacts(q.Context)
	faults.Add(err)
	q.Kruise = o.kruise.Or(facts.Kruise)
	installation.Warn(o.factory.Streams.Err, q.Kruise)
	if len(o.old) == 0 {
		return q, faults.Err()
	}
	q.Old, err = load.Load(ctx, o.limits.Load(load.Options{Files: o.old, Recursive: true, Stdin: o.factory.Streams.In, Namespace: q.Namespace}))
	if err != nil {
		q.Objects = nil // nobody knows which of them are updates
	}
	faults.Add(err)
	return q, faults.Err()
}
