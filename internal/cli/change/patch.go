package change

import (
	"bytes"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/resource"
	patchcmd "k8s.io/kubectl/pkg/cmd/patch"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// NewPatch returns kubectl's verb, which asks before it changes what a rollout in progress writes.
func NewPatch(f *factory.Factory) *cobra.Command {
	return guarded(f, kubectl.Wrap(patchcmd.NewCmdPatch(kubectl.Factory(f), kubectl.Streams(f))), confirmPatch)
}

// guarded is a command of kubectl before which another function looks at what it is about to write. Objects on standard input are read once, for both; what is wrong
// with the command line, or with the objects, is the error of the command itself.
func guarded(f *factory.Factory, c *cobra.Command, confirm func(*cobra.Command, *factory.Factory, given) error) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if dry, err := cmdutil.GetDryRunStrategy(c); err != nil || dry != cmdutil.DryRunNone {
			return run(c, args) // nothing is written
		}
		in, err := kubectl.ReadStdin(c, f)
		if err != nil {
			return err
		}
		if err := confirm(c, f, given{args, in}); err != nil {
			return err
		}
		return kubectl.WithStdin(in, func() error { return run(c, args) })
	}
	return c
}

// given is what the command line of a command of kubectl names objects by, and what is on standard input where some of them are
// there.
type given struct {
	args  []string
	stdin []byte
}

var patchTypes = map[string]types.PatchType{"json": types.JSONPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType}

// confirmPatch finds out by a dry run what a patch changes of objects that have a rollout in progress.
func confirmPatch(c *cobra.Command, f *factory.Factory, g given) error {
	flag := func(name string) string { return cmdutil.GetFlagString(c, name) }
	kind, known := patchTypes[flag("type")]
	if !known || cmdutil.GetFlagBool(c, "local") || flag("subresource") != "" {
		return nil
	}
	body := []byte(flag("patch"))
	var err error
	if name := flag("patch-file"); name != "" {
		if body, err = load.File(name, bytes.NewReader(nil), 0); err != nil {
			return nil //nolint:nilerr // the command reports it
		}
	}
	if body, err = yaml.ToJSON(body); err != nil {
		return nil //nolint:nilerr // the command reports it
	}
	for _, info := range commandObjects(c, f, g) {
		if err := info.Get(); err != nil {
			continue // the command reports it
		}
		err := confirmDryRun(c, f, info, func(h *resource.Helper) (*unstructured.Unstructured, error) {
			got, err := h.Patch(info.Namespace, info.Name, kind, body, nil)
			after, _ := got.(*unstructured.Unstructured)
			return after, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// confirmDryRun asks about a write of an object that has a rollout in progress, where a dry run of it shows that it changes
// what the rollout writes.
func confirmDryRun(c *cobra.Command, f *factory.Factory, info *resource.Info, write func(*resource.Helper) (*unstructured.Unstructured, error)) error {
	before, ok := info.Object.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	if at, err := findOngoing(c.Context(), f, before); err != nil || at == nil {
		return nil //nolint:nilerr // the command reports a server that does not answer
	}
	after, err := write(resource.NewHelper(info.Client, info.Mapping).DryRun(true))
	if err != nil || after == nil {
		return nil //nolint:nilerr // the command reports it
	}
	return errorWithObject(before, confirmBeside(c.Context(), f, before, after, "-f FILE"))
}

// commandObjects are the objects that a command of kubectl means, as they are in its files, or in the cluster where they are
// named, as far as they can be found.
func commandObjects(c *cobra.Command, f *factory.Factory, g given) []*resource.Info {
	files, err := c.Flags().GetStringSlice("filename")
	if err != nil || g.stdin == nil && slices.Contains(files, "-") {
		return nil
	}
	files = slices.DeleteFunc(slices.Clone(files), func(name string) bool { return name == "-" })
	namespace, enforce, err := f.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil
	}
	from := resource.FilenameOptions{Filenames: files, Kustomize: cmdutil.GetFlagString(c, "kustomize"), Recursive: cmdutil.GetFlagBool(c, "recursive")}
	b := kubectl.Factory(f).NewBuilder().Unstructured().ContinueOnError().NamespaceParam(namespace).DefaultNamespace().FilenameParam(enforce, &from)
	if g.stdin != nil {
		b = b.Stream(bytes.NewReader(g.stdin), "STDIN")
	}
	all := false
	if c.Flags().Lookup("selector") != nil {
		b, all = b.LabelSelectorParam(cmdutil.GetFlagString(c, "selector")), cmdutil.GetFlagBool(c, "all")
	}
	infos, err := b.ResourceTypeOrNameArgs(all, g.args...).Flatten().Do().Infos()
	if err != nil && len(infos) == 0 {
		return nil
	}
	return infos
}
