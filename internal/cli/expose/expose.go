// Package expose has the verb that makes a Service for a workload: kubectl's, which
// does the work, made to see the pods of Kruise's kinds.
package expose

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	cli "k8s.io/cli-runtime/pkg/resource"
	native "k8s.io/kubectl/pkg/cmd/expose"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

const long = `Make a Service for the pods of a workload, pod, Service or SidecarSet. Selector, ports,
protocols and labels are those of the object unless flags say otherwise: of a
UnitedDeployment those of its template, of a SidecarSet the ports of its containers.`

const example = `  # the ports of the CloneSet's containers
  kubectl kruise expose cloneset web

  # port 80 of the Service, 8080 of the pods
  kubectl kruise expose clone/web --port 80 --target-port 8080 --name web-public --type LoadBalancer

  # a manifest for Git
  kubectl kruise expose -f cloneset.yaml --cluster-ip None --dry-run=client -o yaml`

type options struct {
	factory   *factory.Factory
	flags     *native.ExposeServiceFlags
	generator string
	// container is the older name of --target-port.
	container string
}

// operation is what the line of each object says.
const operation = "exposed"

const (
	serviceV1 = "service/v1"
	serviceV2 = "service/v2"
)

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f, flags: native.NewExposeFlags(kubectl.Streams(f))}
	c := &cobra.Command{
		Use:                   "expose (-f FILE | TYPE NAME | TYPE/NAME) [--port PORT] [--target-port PORT]",
		DisableFlagsInUseLine: true,
		Short:                 "Create a Service for a workload", Long: long, Example: example,
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

func (o *options) run(c *cobra.Command, args []string) error {
	if err := command.OneOf("generator", o.generator, serviceV1, serviceV2); err != nil {
		return err
	}
	if o.flags.TargetPort == "" {
		o.flags.TargetPort = o.container
	}
	files := o.flags.FilenameOptions
	if len(args) == 0 && cmdutil.IsFilenameSliceEmpty(files.Filenames, files.Kustomize) {
		return command.Usagef("for instance cloneset/web, or -f FILE", "nothing to expose")
	}
	objects, err := o.read(args)
	if err != nil {
		return err
	}
	for _, object := range objects {
		// One after the other: kubectl keeps what it found out of the first for the rest.
		if err := o.one(c, object); err != nil {
			return err
		}
	}
	return nil
}

// one has kubectl expose a single object.
func (o *options) one(c *cobra.Command, object []byte) error {
	o.flags.PrintFlags.NamePrintFlags.Operation = operation // kubectl adds to it what a dry run is
	e, err := o.flags.ToOptions(c, nil)
	if err != nil {
		return command.Usagef("", "%w", err)
	}
	file, err := written(object)
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

// written is a file with the object, since kubectl reads it from files or the cluster
// alone. Nobody else may read it.
func written(object []byte) (path string, err error) {
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
func (o *options) read(args []string) ([][]byte, error) {
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
		text, err := json.Marshal(plain(unlabelled(fields)))
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}
