package kubectl

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubectl/pkg/cmd/apiresources"
	"k8s.io/kubectl/pkg/cmd/config"
	"k8s.io/kubectl/pkg/cmd/kustomize"
	"k8s.io/kubectl/pkg/cmd/patch"
	"k8s.io/kubectl/pkg/cmd/replace"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	_ "github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl/english" // before any of kubectl
)

// Commands are kubectl's own that the older plugin offered unchanged: scripts may call
// them here.
func Commands(f *factory.Factory) []*cobra.Command {
	tools, get, streams := Factory(f), Getter(f), Streams(f)
	all := []*cobra.Command{
		patch.NewCmdPatch(tools, streams),
		replace.NewCmdReplace(tools, streams),
		waiting(get, streams),
		kustomize.NewCmdKustomize(streams),
		config.NewCmdConfig(get, clientcmd.NewDefaultPathOptions(), streams),
		apiresources.NewCmdAPIResources(get, streams),
		apiresources.NewCmdAPIVersions(get, streams),
		plugins(f),
	}
	for _, c := range all {
		Wrap(c)
		if c.Name() == "wait" {
			c.ValidArgsFunction = Names(f)
			c.Example = strings.ReplaceAll(c.Example, "create secret generic busybox1", "create -f busybox1.yaml")
		}
	}
	return append(all, options(f))
}
