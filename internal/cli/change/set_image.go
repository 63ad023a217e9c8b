package change

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const imageLong = `Set images of containers, including init containers. * means all containers. An object
that does not have one of the containers is not changed.

Where images can be updated in place, only the containers restart: --explain says so
before anything is written. To change pods in steps, use "kubectl kruise rollout run".`

const imageExample = `  # one container of a workload
  kubectl kruise set image cloneset/web app=registry.example.com/web:2

  # all containers of all Deployments with a label; nothing is written
  kubectl kruise set image deployments '*=registry.example.com/web:2' -l team=shop --dry-run=server

  # the sidecar that a SidecarSet injects
  kubectl kruise set image sidecarset/log agent=registry.example.com/agent:2 --explain

  # in a file
  kubectl kruise set image -f web.yaml app=registry.example.com/web:2 --local -o yaml`

func newImage(f *factory.Factory) *cobra.Command {
	s := newSetting(f, "image updated")
	c := &cobra.Command{
		Use: "image (-f FILENAME | TYPE NAME) CONTAINER=IMAGE…", Short: "Set images of containers", Long: imageLong, Example: imageExample,
		RunE: func(c *cobra.Command, args []string) error {
			named, images, err := parseImages(args)
			if err != nil {
				return err
			}
			s.again = rolloutImages(images)
			if err := s.complete(c, named); err != nil {
				return err
			}
			return s.Each(named, func(u *unstructured.Unstructured) error { return setImages(u, images) })
		},
	}
	s.addFlags(c)
	s.offerImages(c)
	return c
}

// parseImages takes the arguments apart into those that name objects, and images by
// container.
func parseImages(args []string) (named []string, images map[string]string, err error) {
	named, pairs, err := cmdutil.GetResourcesAndPairs(args, "image")
	if err != nil {
		return nil, nil, command.Usagef("for instance cloneset/web app=registry.example.com/web:2", "%w", err)
	}
	if images, _, err = cmdutil.ParsePairs(pairs, "image", false); err != nil {
		return nil, nil, command.Usagef("for instance app=registry.example.com/web:2", "%w", err)
	}
	if len(images) == 0 {
		return nil, nil, command.Usagef("for instance app=registry.example.com/web:2", "at least one image update is required")
	}
	if _, all := images["*"]; all && len(images) > 1 {
		return nil, nil, command.Usagef("", "all containers are already specified by *, but saw more than one container_name=container_image pairs")
	}
	for _, name := range slices.Sorted(maps.Keys(images)) {
		if err := kruise.CheckImage(images[name]); err != nil {
			return nil, nil, command.Usagef("for instance registry.example.com/web:2", "%s: %q is not an image: %w", name, images[name], err)
		}
	}
	return named, images, nil
}

// rolloutImages are the flags of `rollout run` for images by container; "" where it has none for them.
func rolloutImages(images map[string]string) string {
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(images)) {
		if strings.Contains(name, "*") {
			return ""
		}
		flags = append(flags, "--image "+name+"="+images[name])
	}
	return strings.Join(flags, " ")
}

func setImages(u *unstructured.Unstructured, images map[string]string) error {
	var errs resource.Errors
	for _, name := range slices.Sorted(maps.Keys(images)) {
		containers, err := matching(u, name)
		errs.Add(err)
		for _, c := range containers {
			c["image"] = images[name]
		}
	}
	return errs.Err()
}
