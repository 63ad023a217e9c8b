// Package kubectl takes commands of kubectl over as they are: it hands them this
// program's streams and connection, and turns the way in which they end a process into
// errors.
package kubectl

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// Factory makes kubectl's clients from our flags. It opens nothing.
func Factory(f *factory.Factory) cmdutil.Factory { return cmdutil.NewFactory(Getter(f)) }

// Getter is what cli-runtime's builders start from.
func Getter(f *factory.Factory) genericclioptions.RESTClientGetter { return getter{f.Flags, f} }

// Streams are the three streams in kubectl's type.
func Streams(f *factory.Factory) genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: f.Streams.In, Out: f.Streams.Out, ErrOut: f.Streams.Err}
}

// getter connects as all our commands do: with their limits, and each warning of the
// server once.
type getter struct {
	*genericclioptions.ConfigFlags
	factory *factory.Factory
}

// ToRESTConfig is how to reach the cluster. Some of kubectl's commands make a client of
// it as it is: it names the API of pods.
func (g getter) ToRESTConfig() (*rest.Config, error) {
	cfg, err := g.factory.Config()
	if err != nil {
		return nil, err
	}
	cfg.GroupVersion, cfg.APIPath = &corev1.SchemeGroupVersion, "/api"
	cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return cfg, rest.SetKubernetesDefaults(cfg)
}
