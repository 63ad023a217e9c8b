package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// present is the state that a change starts from.
type present struct {
	object   *resource.Resource
	snapshot plan.Snapshot
	at       time.Time
}

// readPresent finds the present state of the workload that the manifest, which may be
// nil, or the command line names.
func (o *Options) readPresent(ctx context.Context, manifest *resource.Resource) (present, error) {
	name := o.name
	if manifest != nil {
		n, err := resourcearg.Parse(resourcearg.FormatName(manifest))
		if err != nil {
			return present{}, err
		}
		name = &n
	}
	if o.against == "" || o.against == againstLive {
		return o.gated(ctx, name, manifest)
	}
	return o.recorded(ctx, name, manifest)
}

// gated asks the cluster, with the feature gates that Kruise has there.
func (o *Options) gated(ctx context.Context, name *resourcearg.Name, manifest *resource.Resource) (present, error) {
	cfg, err := o.Factory.Config()
	if err != nil {
		return present{}, err
	}
	reader := o.Gates
	if reader == nil {
		reader = &installation.GateReader{}
	}
	set, unread, err := reader.Live(ctx, cfg, o.Given)
	if err != nil {
		return present{}, err
	}
	o.gates = set
	p, err := o.live(ctx, name, manifest)
	p.snapshot.Gates, p.snapshot.GatesUnread = set.Gates, unread
	return p, err
}

// live asks the cluster.
func (o *Options) live(ctx context.Context, name *resourcearg.Name, manifest *resource.Resource) (present, error) {
	namespace, err := o.Factory.NamespaceOrDefault()
	if err != nil {
		return present{}, err
	}
	if manifest != nil && manifest.Namespace() != "" {
		namespace = manifest.Namespace()
	}
	if o.Present != nil {
		object, snapshot, err := o.Present(ctx, *name, namespace)
		return present{object, snapshot, now()}, err
	}
	client, err := o.Factory.Dynamic()
	if err != nil {
		return present{}, err
	}
	res, err := clusterread.ReadWorkload(ctx, client, *name, namespace)
	if err != nil {
		return present{}, fromFiles(err)
	}
	for _, s := range res.Skipped {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "warning: planning without %s\n", s)
	}
	at := now()
	snapshot, err := res.Snapshot(o.gates.Gates, at)
	return present{res.Object, snapshot, at}, err
}

// fromFiles adds to what can be done about an error the other way to plan.
func fromFiles(err error) error {
	known, ok := errors.AsType[*resource.Error](err)
	if !ok || known.Hint == "" {
		return err
	}
	out := *known
	out.Hint += "; --against FILE plans from files alone"
	return &out
}

// past is what the files of --against and --with hold.
type past struct {
	// stream is of --against, all of both.
	stream, all []*resource.Resource
	// named are the workloads of stream by their names: each of many workloads is looked up.
	named map[string][]*resource.Resource
	// pods reports whether there are pods in all.
	pods bool
}

func newPast(stream, more []*resource.Resource) *past {
	all := slices.Concat(stream, more)
	p := &past{stream: stream, all: all, named: map[string][]*resource.Resource{}, pods: clusterread.HasPods(all)}
	for _, r := range resourcearg.Workloads(stream, "") {
		p.named[r.Name()] = append(p.named[r.Name()], r)
	}
	return p
}

// workload returns the workload of --against that name means, as [resourcearg.Pick] does.
func (p *past) workload(name *resourcearg.Name, namespace, from string) (*resource.Resource, error) {
	if name != nil {
		if r, err := resourcearg.Pick(p.named[name.Name], name, namespace, from); err == nil {
			return r, nil
		}
	}
	return resourcearg.Pick(p.stream, name, namespace, from) // its error lists what there is
}

// loadPast reads --against and --with, once: stdin can be read no second time.
func (o *Options) loadPast(ctx context.Context) error {
	if o.past != nil {
		return nil
	}
	stream, err := load.Load(ctx, o.limits.Load(load.Options{Files: []string{o.against}, Recursive: true, Stdin: o.Factory.Streams.In, Namespace: o.Factory.Namespace()}))
	if err != nil {
		return err
	}
	more, err := load.Context(ctx, o.with, o.Factory.Streams.In)
	if err != nil {
		return err
	}
	facts, err := render.ReadClusterFacts(more)
	if err != nil {
		return err
	}
	if o.gates, err = o.Given.Of(facts.Kruise); err != nil {
		return err
	}
	installation.Warn(o.Factory.Streams.Err, o.gates.Release)
	o.past = newPast(stream, more)
	return nil
}

// recorded finds the workload in the files of --against and --with, in the namespace
// of the manifest where that has one. Pods are made up where the files hold none of
// the workload's.
func (o *Options) recorded(ctx context.Context, name *resourcearg.Name, manifest *resource.Resource) (present, error) {
	if err := o.loadPast(ctx); err != nil {
		return present{}, err
	}
	namespace := o.Factory.Namespace()
	if manifest != nil && manifest.Namespace() != "" {
		namespace = manifest.Namespace()
	}
	target, err := o.past.workload(name, namespace, o.against)
	if err != nil {
		return present{}, err
	}
	if o.pods == 0 && o.past.pods {
		return o.fromObjects(target, o.past.all)
	}
	s, err := clusterread.Invent(target, o.past.all, clusterread.Invention{Pods: cmp.Or(o.pods, o.replicas), Nodes: o.Nodes, Gates: o.gates})
	return present{target, s, time.Time{}}, err
}

// fromObjects takes what the files hold.
func (o *Options) fromObjects(target *resource.Resource, all []*resource.Resource) (present, error) {
	st, err := clusterread.ReadObjects(all)
	if err != nil {
		return present{}, err
	}
	ref := cluster.Ref{Group: target.Group(), Kind: target.Kind(), Namespace: target.Namespace(), Name: target.Name()}
	at := clusterread.RecordedAt(st.Pods)
	s, err := clusterread.Snapshot(st, ref, o.gates.Gates, at)
	return present{target, s, at}, target.Wrap(err, "")
}
