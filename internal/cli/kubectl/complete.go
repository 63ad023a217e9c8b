package kubectl

import (
	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// Names offers TYPE/NAME of these types to the shell; of none, of all that the cluster
// has.
func Names(f *factory.Factory, types ...string) cobra.CompletionFunc {
	if len(types) == 0 {
		return completion.ResourceTypeAndNameCompletionFunc(Factory(f))
	}
	return completion.SpecifiedResourceTypeAndNameCompletionFunc(Factory(f), types)
}
