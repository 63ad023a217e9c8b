package set

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// offerContainers lets the shell complete the flag --containers by those of the
// objects that are named.
func (s *setting) offerContainers(c *cobra.Command) {
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("containers", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return s.containersOf(args), cobra.ShellCompDirectiveNoFileComp
	})
}

// offerImages lets the shell complete CONTAINER= behind the objects that are named,
// beside further names.
func (s *setting) offerImages(c *cobra.Command) {
	names := c.ValidArgsFunction
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(typed, "=") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, name := range s.containersOf(args) {
			if strings.HasPrefix(name, typed) {
				out = append(out, name+"=")
			}
		}
		if len(out) > 0 {
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return names(c, args, typed)
	}
}

// containersOf are the containers of the objects that arguments name, none where that
// cannot be known yet.
func (s *setting) containersOf(args []string) []string {
	named, _, err := cmdutil.GetResourcesAndPairs(args, "image")
	if err != nil || len(named) == 0 || len(named) == 1 && !strings.Contains(named[0], "/") {
		return nil
	}
	var out []string
	// What cannot be read is not offered.
	_ = s.Look(named, func(u *unstructured.Unstructured) error {
		all, err := matching(u, "*")
		for _, c := range all {
			out = append(out, nameOf(c))
		}
		return err
	})
	slices.Sort(out)
	return slices.Compact(out)
}
