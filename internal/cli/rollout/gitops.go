package rollout

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// warnOfOwners warns, before the confirmation, that a GitOps controller writes the
// object, and what to agree with it.
func (c *common) warnOfOwners(object *resource.Resource) {
	var pointers []string
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		pointers = append(pointers, "/"+strings.Join(path, "/"))
	} else if object.Kind() == kruise.KindDeployment {
		pointers = append(pointers, "/spec/paused")
	}
	for _, o := range gitops.Owners(object) {
		_, _ = fmt.Fprintln(c.factory.Streams.Err, strings.TrimRight("warning: "+gitops.Advice(o, object, pointers), "\n"))
	}
}

// warnOfStop warns that a GitOps controller would let the controller of a stopped rollout
// continue, and what to agree with it.
func (c *common) warnOfStop(object *resource.Resource, stop plan.ControllerStop) {
	path := stop.Field.Path(object.Group(), object.Kind(), object.Version())
	if path == nil {
		return
	}
	for _, o := range gitops.Owners(object) {
		_, _ = fmt.Fprintln(c.factory.Streams.Err, strings.TrimRight("warning: "+gitops.StopAdvice(o, object, "/"+strings.Join(path, "/")), "\n"))
	}
}

// findManifest finds what --write-back writes to, before anything is changed, and
// whether it could be.
func (o *runOptions) findManifest(m *member) (err error) {
	if o.into == "" {
		return nil
	}
	if m.manifest, err = gitops.FindManifest(o.into, m.session.target.Ref); err != nil {
		return err
	}
	trial, err := gitops.FindManifest(o.into, m.session.target.Ref)
	if err != nil {
		return err
	}
	return trial.Check(gitops.ManifestChange{Before: m.session.object.Node(), After: m.desired.Node()})
}

// writeBack writes into the manifest what is in the cluster now.
func (o *runOptions) writeBack(ctx context.Context, m *member) error {
	if m.manifest == nil {
		return nil
	}
	now, err := o.locateIn(ctx, m.called, m.ref().Namespace)
	if err != nil {
		return err
	}
	object := now.object
	// A rollout takes long: what was edited in the files meanwhile stays.
	if m.manifest, err = gitops.FindManifest(o.into, m.session.target.Ref); err != nil {
		return err
	}
	change := gitops.ManifestChange{Before: m.session.object.Node(), After: m.desired.Node()}
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		change.Partition = tree.Get(object.Node(), path...)
	}
	switch files, err := m.manifest.Write(change); {
	case err != nil:
		return err
	case len(files) > 0:
		_, err = fmt.Fprintf(o.factory.Streams.Err, "%s: the new state of %s is there; commit it\n", strings.Join(files, ", "), m.session.target)
		return err
	}
	_, err = fmt.Fprintf(o.factory.Streams.Err, "%s has that state already\n", m.manifest.Path)
	return err
}
