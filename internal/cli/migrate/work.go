package migrate

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	kube "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// work is a migration with all that is known before it begins.
type work struct {
	*options

	client *kube.Client
	// old and now are the two workloads; now is nil where it has to be made.
	old, now *unstructured.Unstructured
	made     *made
	record   migrate.Record
	// resumed indicates that the record was there already, turned that it is the way back
	// from one.
	resumed, turned bool
	around          *kube.Surroundings
}

// readState reads everything, and refuses what cannot be done. Nothing is written.
func (o *options) readState(ctx context.Context) (*work, error) {
	client, namespace, err := o.connect()
	if err != nil {
		return nil, err
	}
	w := &work{options: o, client: client}
	w.client.DryRun = o.dryRun == "server"
	if w.old, err = w.client.Get(ctx, o.from, o.source); err != nil {
		return nil, err
	}
	if w.old == nil {
		return nil, resourcearg.NotFound(schema.GroupResource{Group: o.from.Group, Resource: o.from.Resource()}, o.source, namespace)
	}
	if w.now, err = w.client.Get(ctx, o.to, o.destination); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{w.make, w.plan, w.surroundings} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// connect returns a client for the namespace of both sides.
func (o *options) connect() (client *kube.Client, namespace string, err error) {
	namespace, err = o.factory.NamespaceOrDefault()
	if err != nil {
		return nil, "", err
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return nil, "", err
	}
	client, err = kube.New(cfg, namespace)
	return client, namespace, err
}

// make makes the new workload, where there is none.
func (w *work) make(ctx context.Context) error {
	switch {
	case w.now != nil && w.create:
		return &resource.Error{Err: fmt.Errorf("%s exists already", w.title()), Hint: "without --create, replicas move to it"}
	case w.now != nil:
		return nil
	case w.older && !w.create:
		return &resource.Error{Err: fmt.Errorf("%s does not exist", w.title()), Hint: "make it first, with --create"}
	}
	gvr, err := w.client.Version(w.to)
	if err != nil {
		return err
	}
	replicas := int32(0)
	if w.copied {
		replicas = kube.SideOf(w.old).Replicas
	}
	takes, err := w.takes(ctx)
	if err != nil {
		return err
	}
	w.made, err = counterpart(ctx, w.old, w.to, gvr.Version, w.destination, replicas, takes)
	return err
}

// takes is the release of Kruise that was given, else the one that the cluster runs, as far
// as it tells.
func (o *options) takes(ctx context.Context) (kruise.Release, error) {
	if given := o.kruise.Given(); !given.IsZero() {
		return given, nil
	}
	server, err := o.factory.Discovery()
	if err != nil {
		return kruise.Release{}, err
	}
	objects, err := o.factory.Dynamic()
	if err != nil {
		return kruise.Release{}, err
	}
	return installation.Read(ctx, objects, server).Release, nil
}

// plan decides how many move. A recorded migration continues, or is reversed.
func (w *work) plan(context.Context) error {
	old := kube.SideOf(w.old)
	w.record = migrate.Record{From: kube.WorkloadOf(w.old), UID: old.UID, Replicas: w.replicas, Source: old.Replicas, Surge: w.surge, First: first(w.old)}
	if w.now != nil {
		w.record.Destination = kube.SideOf(w.now).Replicas
		if known, err := w.recorded(); known || err != nil {
			return err
		}
	}
	if w.replicas < 0 {
		w.record.Replicas = old.Replicas
	}
	if w.record.Replicas > old.Replicas {
		return command.Usagef("-1 is all", "invalid replicas %d: %s has %d", w.replicas, w.record.From, old.Replicas)
	}
	if w.from.Keeps {
		return w.identity()
	}
	return nil
}

// recorded finds a recorded migration between the two.
func (w *work) recorded() (known bool, err error) {
	there, err := kube.RecordOf(w.now)
	if err != nil {
		return false, err
	}
	back, err := kube.RecordOf(w.old)
	if err != nil {
		return false, err
	}
	switch {
	case there != nil && there.From != w.record.From:
		return false, &resource.Error{Err: fmt.Errorf("replicas of %s move to %s already", there.From, w.title()), Hint: "end that migration first"}
	case back != nil && back.From != w.target():
		return false, &resource.Error{Err: fmt.Errorf("replicas of %s move to %s at present", back.From, w.record.From), Hint: "end that migration first"}
	case there != nil:
		w.record, w.resumed = *there, true
	case back != nil:
		w.record, w.turned = back.Back(w.record.From, kube.SideOf(w.now), kube.SideOf(w.old)), true
	}
	if w.replicas > 0 && (w.resumed || w.turned) && w.replicas != w.record.Replicas {
		return false, command.Usagef("leave out --replicas to continue it", "a migration of %s is in progress", replicas(w.record.Replicas))
	}
	return w.resumed || w.turned, nil
}

// first is the lowest ordinal of a workload's pods.
func first(u *unstructured.Unstructured) int32 {
	n, _, _ := unstructured.NestedInt64(u.Object, "spec", "ordinals", "start")
	return int32(n)
}

// identity refuses sets whose claims would not outlive the move, or whose ordinals
// the other side does not have.
func (w *work) identity() error {
	for _, field := range []string{"whenScaled", "whenDeleted"} {
		if v, _, _ := unstructured.NestedString(w.old.Object, "spec", "persistentVolumeClaimRetentionPolicy", field); v == "Delete" {
			return &resource.Error{
				Err:  fmt.Errorf("%s: spec.persistentVolumeClaimRetentionPolicy.%s is Delete: claims would go with the pods that move", w.record.From, field),
				Hint: "set it to Retain first",
			}
		}
	}
	reserved, _, _ := unstructured.NestedSlice(w.old.Object, "spec", "reserveOrdinals")
	if w.to.Native() && len(reserved) > 0 && (w.now == nil || len(reserved) != int(w.record.Destination)) {
		return &resource.Error{Err: errors.New("a StatefulSet of Kubernetes has no reserveOrdinals"), Hint: "scale in to where no ordinal is reserved"}
	}
	return nil
}

// title names the new workload.
func (w *work) title() string { return w.to.Kind + "/" + w.destination }

// target is the new workload.
func (w *work) target() migrate.Workload {
	return migrate.Workload{Group: w.to.Group, Kind: w.to.Kind, Name: w.destination}
}

// next is the new workload as it is, or will be.
func (w *work) next() *unstructured.Unstructured {
	if w.now != nil {
		return w.now
	}
	return w.made.object
}

// surroundings reads what refers to both sides, and refuses autoscalers that would
// scale against the migration.
func (w *work) surroundings(ctx context.Context) (err error) {
	w.around, err = w.client.Surroundings(ctx, w.record.From, w.target(), kube.Labels(w.old), kube.Labels(w.next()))
	if err != nil || w.create {
		return err
	}
	for _, s := range w.around.Scalers {
		switch name := s.String(); {
		case s.ByKEDA():
		case s.Controller != "":
			return &resource.Error{Err: fmt.Errorf("%s scales %s, and %s looks after it", name, s.Of, s.Controller), Hint: "pause " + s.Controller + ", and point it at " + w.title() + " afterwards"}
		case !w.resumed && !w.turned && w.record.Replicas < w.record.Source:
			return &resource.Error{Err: fmt.Errorf("%s scales %s: it can follow all replicas, not %d of %d", name, s.Of, w.record.Replicas, w.record.Source), Hint: "leave --replicas away, or take the autoscaler away first"}
		}
	}
	return nil
}

// made is the new workload before it is created.
type made struct {
	object   *unstructured.Unstructured
	findings []finding.Finding
}

// counterpart makes the new workload of the old one: what convert makes of it, under
// its own name, with a selector that no pod of the old one matches, and so many
// replicas.
func counterpart(ctx context.Context, source *unstructured.Unstructured, to *migrate.Kind, version, name string, replicas int32, takes kruise.Release) (*made, error) {
	m, err := become(ctx, source, to, version, takes)
	if err != nil {
		return nil, err
	}
	m.object.SetName(name)
	if err := apart(m.object, kruise.SourceValue(to.Word, name)); err != nil {
		return nil, err
	}
	return m, unstructured.SetNestedField(m.object.Object, int64(replicas), "spec", "replicas")
}

// become is what convert makes of a workload, without what belongs to the old one
// alone, and without what the release of Kruise does not have, which is a finding.
func become(ctx context.Context, source *unstructured.Unstructured, to *migrate.Kind, version string, takes kruise.Release) (*made, error) {
	targets, err := convert.ParseTargets([]string{to.Word})
	if err != nil {
		return nil, err
	}
	in := resource.Parsed(tree.FromValue(source.Object), nil, resource.Origin{File: "(cluster)"})
	res, err := convert.ToKinds(ctx, []*resource.Resource{in}, convert.Options{Targets: targets, Namespace: source.GetNamespace()})
	if err != nil {
		return nil, err
	}
	if len(res.Resources) != 1 || res.Converted != 1 {
		return nil, fmt.Errorf("%s/%s becomes no %s", source.GetKind(), source.GetName(), to.Word)
	}
	if !takes.Serves(to.Group, to.Kind, version) {
		takes = kruise.Release{} // the cluster serves it, whatever release it is
	}
	written, err := convert.ForRelease(res.Resources, convert.Writing{Version: version, Release: takes})
	if err != nil {
		return nil, err
	}
	for _, l := range written.Lost {
		res.Findings = append(res.Findings, l.Finding())
	}
	object, _ := tree.Value(res.Resources[0].Node()).(map[string]any)
	u := &unstructured.Unstructured{Object: object}
	u.SetNamespace(source.GetNamespace())
	u.SetFinalizers(nil) // they would wait for the controller of the old one
	return &made{u, res.Findings}, nil
}

// apart writes the label that tells pods of both sides from each other.
func apart(u *unstructured.Unstructured, value string) error {
	for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
		if err := unstructured.SetNestedField(u.Object, value, append(path, kruise.WorkloadLabel)...); err != nil {
			return fmt.Errorf("%s/%s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return nil
}
