package change

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
	replacecmd "k8s.io/kubectl/pkg/cmd/replace"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

// NewReplace returns kubectl's verb, which asks before it replaces what a rollout in progress writes.
func NewReplace(f *factory.Factory) *cobra.Command {
	return guarded(f, kubectl.Wrap(replacecmd.NewCmdReplace(kubectl.Factory(f), kubectl.Streams(f))), confirmReplace)
}

// confirmReplace finds out by a dry run what manifests change of objects that have a rollout in progress. With --force they are
// deleted, which no dry run has to show; what --raw writes is the user's own request.
func confirmReplace(c *cobra.Command, f *factory.Factory, g given) error {
	if cmdutil.GetFlagString(c, "raw") != "" || cmdutil.GetFlagString(c, "subresource") != "" {
		return nil
	}
	for _, info := range commandObjects(c, f, g) {
		manifest, ok := info.Object.(*unstructured.Unstructured)
		if !ok || info.Get() != nil {
			continue // the command creates or reports it
		}
		var err error
		if cmdutil.GetFlagBool(c, "force") {
			err = confirmDeletion(c, f, info)
		} else {
			err = confirmDryRun(c, f, info, func(h *resource.Helper) (*unstructured.Unstructured, error) {
				got, err := h.Replace(info.Namespace, info.Name, true, manifest)
				after, _ := got.(*unstructured.Unstructured)
				return after, err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// confirmDeletion asks before an object is deleted and created again whose rollout is in progress.
func confirmDeletion(c *cobra.Command, f *factory.Factory, info *resource.Info) error {
	live, ok := info.Object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	at, err := findOngoing(c.Context(), f, live)
	if err != nil || at == nil {
		return nil //nolint:nilerr // the command reports a server that does not answer
	}
	why := fmt.Sprintf("%s has a rollout in progress: %s; --force deletes the object with all its pods, and fails the rollout", at.name, at.state)
	return errorWithObject(live, at.confirm(c.Context(), f, why, "-f FILE"))
}
