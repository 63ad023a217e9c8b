// Package set has the verbs that set one thing in objects: images, environment and
// resources of containers, a service account, a Service's selector, a binding's
// subjects. They read and write objects as they are, so that what they do not know
// stays.
package set

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/edit"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
)

const long = `Set one thing in objects, of the cluster or of files: Kruise's workloads and
Kubernetes' own, and whatever else has a pod template (CronJobs, AdvancedCronJobs,
BroadcastJobs, UnitedDeployments), and the containers of SidecarSets.`

// New returns the verb with all that can be set.
func New(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use: "set SUBCOMMAND", Short: "Set images, environment and other fields of objects", Long: long,
		Example: "  kubectl kruise set image cloneset/web app=registry.example.com/web:2 --explain",
		Args:    command.NoSuchCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newImage(f), newEnv(f), newResources(f), newSelector(f), newServiceAccount(f), newSubject(f))
	return c
}

// templated are the types with pod templates, for completion.
var templated = []string{
	"cloneset", "statefulset.apps.kruise.io", "daemonset.apps.kruise.io", "uniteddeployment", "sidecarset", "broadcastjob", "advancedcronjob",
	"deployment", "statefulset", "daemonset", "replicaset", "cronjob", "job", "pod",
}

// setting is a verb below set that changes pod templates.
type setting struct {
	edit.Verb

	explain bool
	gates   installation.GateFlags
}

func newSetting(f *factory.Factory, done string) *setting {
	return &setting{Verb: edit.Verb{Factory: f, Done: done, Types: templated}}
}

// addFlags adds the flags of all that change pod templates.
func (s *setting) addFlags(c *cobra.Command) {
	s.AddFlags(c)
	c.Flags().BoolVar(&s.explain, "explain", false, "say what the change does to running pods, before it is written")
	s.gates.Add(c, "that of the cluster, else the newest")
}

func (s *setting) complete(c *cobra.Command, named []string) error {
	if err := s.gates.Complete(); err != nil {
		return err
	}
	e := &explainer{Verb: &s.Verb, wanted: s.explain, given: s.gates, ctx: c.Context()}
	s.Tell = e.tell
	return s.Complete(c, named)
}
