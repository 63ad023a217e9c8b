package change

import (
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
	c := kubectl.Wrap(patchcmd.NewCmdPatch(kubectl.Factory(f), kubectl.Streams(f)))
	patch := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := confirmPatch(c, f, args); err != nil {
			return err
		}
		return patch(c, args)
	}
	return c
}

var patchTypes = map[string]types.PatchType{"json": types.JSONPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType}

// confirmPatch finds out by a dry run what a patch changes of objects that have a rollout in progress. What is
// wrong with the patch is the error of the command itself.
func confirmPatch(c *cobra.Command, f *factory.Factory, args []string) error {
	flag := func(name string) string { return cmdutil.GetFlagString(c, name) }
	kind, known := patchTypes[flag("type")]
	dry, err := cmdutil.GetDryRunStrategy(c)
	if err != nil || dry != cmdutil.DryRunNone || !known || cmdutil.GetFlagBool(c, "local") || flag("subresource") != "" {
		return nil //nolint:nilerr // nothing is written
	}
	body := []byte(flag("patch"))
	if name := flag("patch-file"); name != "" {
		if body, err = load.File(name, f.Streams.In, 0); err != nil {
			return nil //nolint:nilerr // the command reports it
		}
	}
	if body, err = yaml.ToJSON(body); err != nil {
		return nil //nolint:nilerr // the command reports it
	}
	for _, info := range commandObjects(c, f, args) {
		before, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if at, err := findOngoing(c.Context(), f, before); err != nil || at == nil {
			continue // the command reports a server that does not answer
		}
		got, err := resource.NewHelper(info.Client, info.Mapping).DryRun(true).Patch(info.Namespace, info.Name, kind, body, nil)
		after, ok := got.(*unstructured.Unstructured)
		if err != nil || !ok {
			continue
		}
		if err := confirmBeside(c.Context(), f, before, after, "-f FILE"); err != nil {
			return errorWithObject(before, err)
		}
	}
	return nil
}

// commandObjects are the objects that a command of kubectl means, as far as they can be found; those on standard
// input are the command's to read.
func commandObjects(c *cobra.Command, f *factory.Factory, args []string) []*resource.Info {
	files, err := c.Flags().GetStringSlice("filename")
	if err != nil || slices.Contains(files, "-") {
		return nil
	}
	namespace, enforce, err := f.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil
	}
	from := resource.FilenameOptions{Filenames: files, Kustomize: cmdutil.GetFlagString(c, "kustomize"), Recursive: cmdutil.GetFlagBool(c, "recursive")}
	b := kubectl.Factory(f).NewBuilder().Unstructured().ContinueOnError().NamespaceParam(namespace).DefaultNamespace().FilenameParam(enforce, &from)
	all := false
	if c.Flags().Lookup("selector") != nil {
		b, all = b.LabelSelectorParam(cmdutil.GetFlagString(c, "selector")), cmdutil.GetFlagBool(c, "all")
	}
	infos, err := b.ResourceTypeOrNameArgs(all, args...).Flatten().Latest().Do().Infos()
	if err != nil {
		return nil
	}
	return infos
}
