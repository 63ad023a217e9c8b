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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
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

// Which is the workload of a cluster that the manifest of -f or -k, nil without them, or the command
// line names, and its namespace.
func (o *Options) Which(ctx context.Context) (manifest *resource.Resource, name resourcearg.Name, namespace string, err error) {
	manifest, of, namespace, err := o.which(ctx)
	if err == nil {
		name = *of // of files alone there may be none
	}
	return manifest, name, namespace, err
}

func (o *Options) which(ctx context.Context) (manifest *resource.Resource, name *resourcearg.Name, namespace string, err error) {
	if namespace = o.Factory.Namespace(); !o.againstFiles() {
		if namespace, err = o.Factory.NamespaceOrDefault(); err != nil {
			return nil, nil, "", err
		}
	}
	if manifest, err = o.manifest(ctx); err != nil || manifest == nil {
		return nil, o.name, namespace, err
	}
	n, err := resourcearg.Parse(resourcearg.FormatName(manifest))
	return manifest, &n, cmp.Or(manifest.Namespace(), namespace), err
}

// readPresent finds the present state of a workload.
func (o *Options) readPresent(ctx context.Context, name *resourcearg.Name, namespace string) (present, error) {
	if o.againstFiles() {
		return o.recorded(ctx, name, namespace)
	}
	return o.live(ctx, *name, namespace)
}

// readGates are the feature gates that Kruise has in the cluster; unread is why they are assumed.
func (o *Maker) readGates(ctx context.Context) (unread string, err error) {
	cfg, err := o.Factory.Config()
	if err != nil {
		return "", err
	}
	reader := o.Gates
	if reader == nil {
		reader = &installation.GateReader{}
	}
	o.gates, unread, err = reader.Live(ctx, cfg, o.Given)
	return unread, err
}

// live asks the cluster.
func (o *Options) live(ctx context.Context, name resourcearg.Name, namespace string) (present, error) {
	unread, err := o.readGates(ctx)
	if err != nil {
		return present{}, err
	}
	client, err := o.Factory.Dynamic()
	if err != nil {
		return present{}, err
	}
	res, err := clusterread.ReadWorkload(ctx, client, name, namespace)
	if err != nil {
		return present{}, fromFiles(err)
	}
	for _, s := range res.Skipped {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "warning: planning without %s\n", s)
	}
	at := now()
	snapshot, err := res.Snapshot(o.gates.Gates, at)
	snapshot.Gates, snapshot.GatesUnread = o.gates.Gates, unread
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
	// parts are the workloads of stream that UnitedDeployments were made into.
	parts map[resource.ID][]*resource.Resource
	// named are the workloads of stream by their names: each of many workloads is looked up.
	named map[string][]*resource.Resource
	// around finds what of all matters to one workload.
	around *clusterread.Surroundings
	// pods reports whether there are pods in all.
	pods bool
	// recording is what all hold, read when the first workload is looked up: of many workloads,
	// each has its share of the same pods.
	recording *fileCluster
}

// fileCluster is the cluster that files show.
type fileCluster struct {
	world *simulate.World
	at    time.Time
	// unread is the error of reading the objects, unloaded that of the model that they go into.
	unread, unloaded error
}

// recorded returns the cluster that the files show; the gates are the same for all workloads.
func (p *past) recorded(gates cluster.Gates) *fileCluster {
	if p.recording != nil {
		return p.recording
	}
	p.recording = &fileCluster{}
	st, err := clusterread.ReadObjects(p.all)
	if err != nil {
		p.recording.unread = err
		return p.recording
	}
	p.recording.at = simulate.RecordedAt(st.Pods)
	p.recording.world, p.recording.unloaded = clusterread.Load(st, gates, p.recording.at)
	return p.recording
}

// present returns the state of one workload of the recording.
func (r *fileCluster) present(target *resource.Resource) (present, error) {
	if r.unread != nil {
		return present{}, r.unread
	}
	if r.unloaded != nil {
		return present{target, plan.Snapshot{}, r.at}, target.Wrap(r.unloaded, "")
	}
	s, err := r.world.Snapshot(cluster.Ref{Group: target.Group(), Kind: target.Kind(), Namespace: target.Namespace(), Name: target.Name()})
	return present{target, s, r.at}, target.Wrap(err, "")
}

func newPast(stream, more []*resource.Resource) *past {
	all := slices.Concat(stream, more)
	p := &past{stream: stream, all: all, named: map[string][]*resource.Resource{}, around: clusterread.NewSurroundings(all), pods: clusterread.HasPods(all)}
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
	stream, err := load.Load(ctx, o.input.Limits.Load(load.Options{Files: []string{o.against}, Recursive: true, Stdin: o.Factory.Streams.In, Namespace: o.Factory.Namespace()}))
	if err != nil {
		return err
	}
	return o.setPast(ctx, stream)
}

// setPast keeps the present state, with what is beside it.
func (o *Options) setPast(ctx context.Context, stream []*resource.Resource) error {
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
	var parts map[resource.ID][]*resource.Resource
	if o.Preview {
		// What is there was accepted once: a release that refuses it now hinders no plan of other workloads.
		if stream, parts, err = o.inSubsets(ctx, stream); err != nil && o.united != "" {
			return err
		}
	}
	o.past = newPast(stream, more)
	o.past.parts = parts
	return nil
}

// recorded finds the workload in the files of --against and --with. Pods are made up where the files
// hold none of the workload's.
func (o *Options) recorded(ctx context.Context, name *resourcearg.Name, namespace string) (present, error) {
	if err := o.loadPast(ctx); err != nil {
		return present{}, err
	}
	target, err := o.past.workload(name, namespace, cmp.Or(o.against, o.git))
	if err != nil {
		return present{}, err
	}
	if o.pods == 0 && o.past.pods {
		return o.past.recorded(o.gates.Gates).present(target)
	}
	s, err := clusterread.Populate(target, o.past.around.Of(target), simulate.Population{Pods: o.pods, Nodes: o.Nodes, Gates: o.gates.Gates, ReadinessGate: o.gates.ReadinessGate})
	return present{target, s, simulate.RecordedAt(s.Pods)}, err
}
