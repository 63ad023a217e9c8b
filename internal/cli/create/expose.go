package create

import (
	"encoding/json"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	cli "k8s.io/cli-runtime/pkg/resource"
	native "k8s.io/kubectl/pkg/cmd/expose"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const exposeLong = `Create a Service for the pods of a workload, pod, Service or SidecarSet. Selector, ports,
protocols and labels are taken from the object unless flags set them: for a
UnitedDeployment from its template, for a SidecarSet from its containers.`

const exposeExample = `  # the ports of the CloneSet's containers
  kubectl kruise expose cloneset web

  # port 80 of the Service, 8080 of the pods
  kubectl kruise expose clone/web --port 80 --target-port 8080 --name web-public --type LoadBalancer

  # a manifest for Git
  kubectl kruise expose -f cloneset.yaml --cluster-ip None --dry-run=client -o yaml`

type exposeOptions struct {
	factory   *factory.Factory
	flags     *native.ExposeServiceFlags
	generator string
	// container is the older name of --target-port.
	container string
}

// exposedOperation is what the line of each object says.
const exposedOperation = "exposed"

const (
	serviceV1 = "service/v1"
	serviceV2 = "service/v2"
)

// NewExpose returns the verb.
func NewExpose(f *factory.Factory) *cobra.Command {
	o := &exposeOptions{factory: f, flags: native.NewExposeFlags(kubectl.Streams(f))}
	c := &cobra.Command{
		Use:                   "expose (-f FILE | TYPE NAME | TYPE/NAME) [--port PORT] [--target-port PORT]",
		DisableFlagsInUseLine: true,
		Short:                 "Create a Service for a workload", Long: exposeLong, Example: exposeExample,
		RunE:              o.run,
		ValidArgsFunction: kubectl.Names(f, "cloneset", "deployment", "pod", "service", "replicaset", "sidecarset", "uniteddeployment"),
	}
	o.flags.AddFlags(c)
	fl := c.Flags()
	fl.StringVar(&o.generator, "generator", serviceV2, serviceV2+", or "+serviceV1+" for a port that is called default")
	fl.StringVar(&o.container, "container-port", "", "the older name of --target-port")
	_ = fl.MarkHidden("generator")
	command.DeprecateFlag(c, "container-port", command.Deprecation{Instead: "--target-port", Gone: "v2.0.0"})
	return c
}

func (o *exposeOptions) run(c *cobra.Command, args []string) error {
	if err := command.OneOf("generator", o.generator, serviceV1, serviceV2); err != nil {
		return err
	}
	if o.flags.TargetPort == "" {
		o.flags.TargetPort = o.container
	}
	files := o.flags.FilenameOptions
	if len(args) == 0 && cmdutil.IsFilenameSliceEmpty(files.Filenames, files.Kustomize) {
		return command.Usagef("for instance cloneset/web, or -f FILE", "You must provide one or more resources by argument or filename")
	}
	objects, err := o.read(args)
	if err != nil {
		return err
	}
	for _, object := range objects {
		// One after the other: kubectl keeps what it found out of the first for the rest.
		if err := o.exposeObject(c, object); err != nil {
			return err
		}
	}
	return nil
}

// exposeObject has kubectl expose a single object.
func (o *exposeOptions) exposeObject(c *cobra.Command, object []byte) error {
	o.flags.PrintFlags.NamePrintFlags.Operation = exposedOperation // kubectl adds to it what a dry run is
	e, err := o.flags.ToOptions(c, nil)
	if err != nil {
		return command.Usagef("", "%w", err)
	}
	file, err := pathWritten(object)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	e.FilenameOptions = cli.FilenameOptions{Filenames: []string{file}}
	if o.generator == serviceV1 {
		e.PortName = "default"
	}
	if err := e.Complete(kubectl.Factory(o.factory)); err != nil {
		return err
	}
	return e.RunExpose(c, nil)
}

// pathWritten is a file with the object, since kubectl reads it from files or the cluster
// alone. Other users may not read it.
func pathWritten(object []byte) (path string, err error) {
	f, err := os.CreateTemp("", "expose-*.json")
	if err != nil {
		return "", err
	}
	if _, err = f.Write(object); err == nil {
		err = f.Close()
	}
	return f.Name(), err
}

// read reads the objects that are named, as JSON that kubectl can expose.
func (o *exposeOptions) read(args []string) ([][]byte, error) {
	namespace, explicit, err := o.factory.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	found := cli.NewBuilder(kubectl.Getter(o.factory)).Unstructured().ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace().FilenameParam(explicit, &o.flags.FilenameOptions).
		ResourceTypeOrNameArgs(false, args...).Flatten().Do()
	infos, err := found.Infos()
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, info := range infos {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(info.Object)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(plainObject(withoutOwnLabels(fields)))
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// unexposedLabels are labels that say something of an object alone: a Service gets the others.
var unexposedLabels = []string{kruise.DeleteProtectionLabel, kruise.SourceLabel}

// withoutOwnLabels is an object without such labels.
func withoutOwnLabels(object map[string]any) map[string]any {
	n := tree.Clone(tree.FromValue(object))
	for _, label := range unexposedLabels {
		tree.DeleteAt(n, "metadata", "labels", label)
	}
	out, ok := tree.Value(n).(map[string]any)
	if !ok {
		return object
	}
	return out
}

// plainObject gives kubectl an object that it can expose. A Service sees labels and ports of
// pods, and in these all workloads are alike: those that kubectl does not know are
// handed over as a ReplicaSet with their name, labels, selector and template.
func plainObject(object map[string]any) map[string]any {
	n := tree.FromValue(object)
	group, kind := resource.GroupOf(tree.StrAt(n, "apiVersion")), tree.StrAt(n, "kind")
	native := group == "apps" && (kind == kruise.KindStatefulSet || kind == kruise.KindDaemonSet)
	if group != kruise.Group && !native {
		return object
	}
	template := podTemplateOf(n, kind)
	if template == nil {
		return object
	}
	selector := tree.Get(n, "spec", "selector")
	if selector == nil {
		selector = tree.Map("matchLabels", tree.FromValue(tree.Value(tree.Get(template, "metadata", "labels"))))
	}
	meta := tree.Map()
	for _, field := range []string{"name", "namespace", "labels"} {
		if v := tree.Get(n, "metadata", field); v != nil {
			tree.Set(meta, field, v)
		}
	}
	out := tree.Map("apiVersion", "apps/v1", "kind", kruise.KindReplicaSet, "metadata", meta,
		"spec", tree.Map("selector", singleLabel(selector), "template", template))
	return tree.Value(out).(map[string]any)
}

// podTemplateOf is the template of a kind's pods, nil where it has none: of a SidecarSet what
// it adds to pods.
func podTemplateOf(n *tree.Node, kind string) *tree.Node {
	switch kind {
	case kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindBroadcastJob:
		return tree.Get(n, "spec", "template")
	case kruise.KindUnitedDeployment:
		for _, field := range []string{"cloneSetTemplate", "advancedStatefulSetTemplate", "statefulSetTemplate", "deploymentTemplate"} {
			if t := tree.Get(n, "spec", "template", field, "spec", "template"); t != nil {
				return t
			}
		}
	case kruise.KindSidecarSet:
		containers := slices.Concat(tree.Items(tree.Get(n, "spec", "containers")), tree.Items(tree.Get(n, "spec", "initContainers")))
		list := tree.Seq()
		for _, c := range containers {
			tree.Append(list, []*tree.Node{tree.Map("name", tree.StrAt(c, "name"), "ports", tree.Seq(tree.Items(tree.Get(c, "ports"))...))})
		}
		return tree.Map("metadata", tree.Map(), "spec", tree.Map("containers", list))
	}
	return nil
}

// singleLabel writes expressions that ask for one value as labels, which a Service can
// select by; kubectl refuses the others.
func singleLabel(selector *tree.Node) *tree.Node {
	out := tree.Shallow(selector)
	if !tree.IsMap(out) {
		return tree.Map()
	}
	rest := tree.Seq()
	labels := tree.Map()
	tree.Each(tree.Get(selector, "matchLabels"), func(k, v *tree.Node) { tree.Set(labels, k.Value, v) })
	for _, e := range tree.Items(tree.Get(selector, "matchExpressions")) {
		values := tree.Items(tree.Get(e, "values"))
		key := tree.StrAt(e, "key")
		if have := tree.Get(labels, key); tree.StrAt(e, "operator") == "In" && len(values) == 1 && (have == nil || tree.Equal(have, values[0])) {
			tree.Set(labels, key, values[0])
			continue
		}
		tree.Append(rest, []*tree.Node{e})
	}
	tree.Delete(out, "matchExpressions")
	if len(rest.Content) > 0 {
		tree.Set(out, "matchExpressions", rest)
	}
	tree.Set(out, "matchLabels", labels)
	return out
}
