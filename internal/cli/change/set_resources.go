package change

import (
	"strings"

	"github.com/spf13/cobra"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const resourcesLong = `Set requests and limits of containers, including init containers. Resources that are not
named keep their values; 0 removes the limit or request.`

const resourcesExample = `  # one container
  kubectl kruise set resources cloneset/web -c app --limits=cpu=200m,memory=512Mi --requests=cpu=100m

  # what it would do to running pods
  kubectl kruise set resources cloneset/web --limits=memory=1Gi --explain --dry-run=server

  # in a file
  kubectl kruise set resources -f web.yaml --limits=cpu=200m --local -o yaml`

func newResources(f *factory.Factory) *cobra.Command {
	s := newSetting(f, "resource requirements updated")
	var limits, requests, containers string
	c := &cobra.Command{
		Use: "resources (-f FILENAME | TYPE NAME) [--limits=LIMITS] [--requests=REQUESTS]", Short: "Set requests and limits of containers",
		Long: resourcesLong, Example: resourcesExample,
		RunE: func(c *cobra.Command, args []string) error {
			wanted, err := parseResources(limits, requests)
			if err != nil {
				return err
			}
			if err := s.complete(c, args); err != nil {
				return err
			}
			return s.Each(args, func(u *unstructured.Unstructured) error { return setResources(u, containers, wanted) })
		},
	}
	s.addFlags(c)
	fl := c.Flags()
	fl.StringVarP(&containers, "containers", "c", "*", "names of the containers to change; * matches any text")
	fl.StringVar(&limits, "limits", "", "limits, such as cpu=100m,memory=256Mi")
	fl.StringVar(&requests, "requests", "", "requests, such as cpu=100m,memory=256Mi")
	s.offerContainers(c)
	return c
}

// amounts are quantities by resource.
type amounts map[string]apiresource.Quantity

// parseResources reads limits and requests, by the field that has them.
func parseResources(limits, requests string) (map[string]amounts, error) {
	if limits == "" && requests == "" {
		return nil, command.Usagef("for instance --limits=cpu=200m", "you must specify an update to requests or limits (in the form of --requests/--limits)")
	}
	out := map[string]amounts{}
	for field, text := range map[string]string{"limits": limits, "requests": requests} {
		if text == "" {
			continue
		}
		list, err := parseAmounts(field, text)
		if err != nil {
			return nil, err
		}
		out[field] = list
	}
	return out, nil
}

func parseAmounts(flag, text string) (amounts, error) {
	out := amounts{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" || strings.Contains(value, "=") {
			return nil, command.Usagef("for instance cpu=200m,memory=512Mi", "--%s: invalid argument syntax %s, expected <resource>=<value>", flag, pair)
		}
		q, err := tree.Quantity(value)
		if err != nil {
			return nil, command.Usagef("for instance 200m, 2 or 512Mi", "--%s: %s: %q is not a quantity", flag, name, value)
		}
		out[name] = q
	}
	return out, nil
}

func setResources(u *unstructured.Unstructured, containers string, wanted map[string]amounts) error {
	found, err := matching(u, containers)
	if err != nil {
		return err
	}
	for _, c := range found {
		for field, list := range wanted {
			into := ensure(ensure(c, "resources"), field)
			for name, q := range list {
				if !sameQuantity(into[name], q) {
					into[name] = q.String()
				}
			}
		}
	}
	return nil
}

// sameQuantity reports whether a quantity is there already, written in this way or another.
func sameQuantity(have any, want apiresource.Quantity) bool {
	text, ok := have.(string)
	if !ok {
		return false
	}
	q, err := tree.Quantity(text)
	return err == nil && q.Cmp(want) == 0
}
