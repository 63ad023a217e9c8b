package kubectl

import (
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// ChangedFactory is [Factory], with a change to how its clients reach the cluster.
func ChangedFactory(f *factory.Factory, change func(*rest.Config)) cmdutil.Factory {
	return cmdutil.NewFactory(changed{getter{f.Flags, f}, change})
}

type changed struct {
	getter
	change func(*rest.Config)
}

// ToRESTConfig is how to reach the cluster.
func (c changed) ToRESTConfig() (*rest.Config, error) {
	cfg, err := c.getter.ToRESTConfig()
	if err == nil {
		c.change(cfg)
	}
	return cfg, err
}
