package change

import (
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const selectorLong = `Replace the selector of Services. Selectors of workloads cannot change.`

const selectorExample = `  kubectl kruise set selector service/web app=web,track=stable

  # only if it has not changed since
  kubectl kruise set selector service/web app=web --resource-version=4711`

func newSelector(f *factory.Factory) *cobra.Command {
	v := &edit{Factory: f, Done: "selector updated", Types: []string{"service"}}
	var version string
	c := &cobra.Command{
		Use: "selector (-f FILENAME | TYPE NAME) EXPRESSION", Short: "Set the selector of a Service", Long: selectorLong, Example: selectorExample,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef("for instance service/web app=web", "one selector is required")
			}
			named, labels, err := parseSelector(args)
			if err != nil {
				return err
			}
			if err := v.Complete(c, named); err != nil {
				return err
			}
			v.Pinned = version != ""
			return v.Each(named, func(u *unstructured.Unstructured) error {
				if version != "" {
					u.SetResourceVersion(version)
				}
				return setSelector(u, labels)
			})
		},
	}
	v.AddFlags(c)
	c.Flags().StringVar(&version, "resource-version", "", "resource version that the object must still have; for one object")
	return c
}

// parseSelector takes the last argument for the labels to select by.
func parseSelector(args []string) (named []string, labels map[string]any, err error) {
	last := args[len(args)-1]
	s, err := metav1.ParseToLabelSelector(last)
	if err != nil {
		return nil, nil, command.Usagef("for instance app=web,track=stable", "%q is not a selector: %w", last, err)
	}
	if len(s.MatchExpressions) > 0 || len(s.MatchLabels) == 0 {
		return nil, nil, command.Usagef("for instance app=web,track=stable", "a Service selects by equal labels, and %q is something else", last)
	}
	labels = map[string]any{}
	for k, v := range s.MatchLabels {
		labels[k] = v
	}
	return args[:len(args)-1], labels, nil
}

func setSelector(u *unstructured.Unstructured, labels map[string]any) error {
	if u.GetKind() != "Service" || u.GroupVersionKind().Group != "" {
		return &tree.Error{Msg: "setting a selector is only supported for Services", Hint: "selectors of workloads cannot change: make a new one"}
	}
	ensure(u.Object, "spec")["selector"] = labels
	return nil
}
