package rollout

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/writeback"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// sayOwners tells, before anybody is asked, that a GitOps controller writes the
// object, and what to agree with it.
func (c *common) sayOwners(object *resource.Resource) {
	var pointers []string
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		pointers = append(pointers, "/"+strings.Join(path, "/"))
	} else if object.Kind() == "Deployment" {
		pointers = append(pointers, "/spec/paused")
	}
	for _, o := range gitops.Owners(object) {
		_, _ = fmt.Fprintln(c.factory.Streams.Err, strings.TrimRight("warning: "+gitops.Advice(o, object, pointers), "\n"))
	}
}

// findManifest finds what --write-back writes to, before anything is changed.
func (o *runOptions) findManifest() (err error) {
	if o.into == "" {
		return nil
	}
	o.manifest, err = writeback.Find(o.into, o.session.target.Ref)
	return err
}

// writeBack writes into the manifest what is in the cluster now.
func (o *runOptions) writeBack(ctx context.Context) error {
	if o.manifest == nil {
		return nil
	}
	now, err := o.locate(ctx, o.called)
	if err != nil {
		return err
	}
	object := now.object
	change := writeback.Change{Before: o.session.object.Node(), After: o.desired.Node()}
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		change.Partition = tree.Get(object.Node(), path...)
	}
	switch changed, err := o.manifest.Write(change); {
	case err != nil:
		return err
	case changed:
		_, err = fmt.Fprintf(o.factory.Streams.Err, "%s has the new state of %s: commit it\n", o.manifest.Path, o.session.target)
		return err
	}
	_, err = fmt.Fprintf(o.factory.Streams.Err, "%s has that state already\n", o.manifest.Path)
	return err
}
