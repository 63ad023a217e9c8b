package set

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const accountExample = `  kubectl kruise set serviceaccount cloneset/web shop --explain

  kubectl kruise set sa -f web.yaml shop --local -o yaml`

func newServiceAccount(f *factory.Factory) *cobra.Command {
	s := newSetting(f, "serviceaccount updated")
	c := &cobra.Command{
		Use: "serviceaccount (-f FILENAME | TYPE NAME) SERVICEACCOUNT", Aliases: []string{"sa"},
		Short: "Set the service account of pods", Long: "Set the service account that pods run as. Running pods cannot change it: they are recreated.", Example: accountExample,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("for instance cloneset/web shop", "serviceaccount is required")
			}
			named, account := args[:len(args)-1], args[len(args)-1]
			if faults := validation.IsDNS1123Subdomain(account); len(faults) > 0 {
				return command.Usagef("it follows the objects: cloneset/web shop", "%q is not a name of a service account: %s", account, faults[0])
			}
			if err := s.complete(c, named); err != nil {
				return err
			}
			return s.Each(named, func(u *unstructured.Unstructured) error { return setAccount(u, account) })
		},
	}
	s.addFlags(c)
	return c
}

func setAccount(u *unstructured.Unstructured, account string) error {
	if isSidecarSet(u) {
		return &tree.Error{Msg: "sidecars run as the service account of the pod that they are in", Hint: "name the workloads"}
	}
	all, err := specs(u)
	if err != nil {
		return err
	}
	for _, spec := range all {
		spec["serviceAccountName"] = account
		// The older name of the field, which the API server keeps equal in native kinds only.
		if _, ok := spec["serviceAccount"]; ok {
			spec["serviceAccount"] = account
		}
	}
	return nil
}
