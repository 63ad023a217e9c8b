package rollout

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// findManifest finds what --write-back writes to, before anything is changed, and
// whether it could be.
func (o *runOptions) findManifest(m *execute.Member) (err error) {
	if o.into == "" {
		return nil
	}
	if m.Manifest, err = gitops.FindManifest(o.into, m.Session.Target.Ref); err != nil {
		return err
	}
	trial, err := gitops.FindManifest(o.into, m.Session.Target.Ref)
	if err != nil {
		return err
	}
	return trial.Check(gitops.ManifestChange{Before: m.Session.Object.Node(), After: m.Desired.Node()})
}

// writeBack writes into the manifest what is in the cluster now.
func (o *runOptions) writeBack(ctx context.Context, m *execute.Member) error {
	if m.Manifest == nil {
		return nil
	}
	now, err := o.LocateIn(ctx, m.Called, m.Ref().Namespace)
	if err != nil {
		return err
	}
	object := now.Object
	// A rollout takes long: what was edited in the files meanwhile stays.
	if m.Manifest, err = gitops.FindManifest(o.into, m.Session.Target.Ref); err != nil {
		return err
	}
	change := gitops.ManifestChange{Before: m.Session.Object.Node(), After: m.Desired.Node()}
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		change.Partition = tree.Get(object.Node(), path...)
	}
	switch files, err := m.Manifest.Write(change); {
	case err != nil:
		return err
	case len(files) > 0:
		_, err = fmt.Fprintf(o.Client.Factory.Streams.Err, "%s: the new state of %s is there; commit it\n", strings.Join(files, ", "), m.Session.Target)
		return err
	}
	_, err = fmt.Fprintf(o.Client.Factory.Streams.Err, "%s has that state already\n", m.Manifest.Path)
	return err
}
