// Package planning has what the verbs that make a plan share: where the change comes from,
// what it is compared with, how it is rolled out, and which plans this user has approved on
// this machine. With --against FILE everything comes from files, and no kubeconfig is opened.
package planning

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// againstLive is the value of --against that means the cluster.
const againstLive = "live"

// Maker makes plans by the policy of flags: of what the flags of [Options] name, or of what a caller has.
type Maker struct {
	Factory *factory.Factory
	// Gates reads those of Kruise in the cluster, once for all that have it; nil reads them
	// for this one alone.
	Gates *installation.GateReader
	// Given are --feature-gates and --kruise-version.
	Given installation.GateFlags
	gates installation.Gates
	// Progress, when set, is told how much of the run of a plan is done.
	Progress resource.Progress
	// Counted indicates that steps stop at numbers of pods, whatever they are given in.
	Counted bool

	policy policyFlags
	// assumeReady is --assume-ready.
	assumeReady bool
}

// Options are the flags of a verb that makes a plan.
type Options struct {
	Maker

	// Several indicates that names come later, one by one (For).
	Several bool

	// Preview indicates that nothing is changed in a cluster.
	Preview bool

	name  *resourcearg.Name
	input input.ManifestFlags
	// git are the revisions of --git, paths those of the repository.
	git     string
	paths   []string
	against string
	with    []string
	images  []string
	pods    int
	// Nodes is how many nodes a made-up cluster has; 0 is one for ten pods,
	// and at least three.
	Nodes int
	// united is the UnitedDeployment whose subsets alone are planned; "" for all that is named. kept is how many pods
	// the partition of a subset in a cluster keeps in the end; nil where the new state says that.
	united string
	kept   *int64
	// loaded are the objects of -f or -k.
	loaded []*resource.Resource
	// past are the objects of --against and --with; nil before they are read.
	past *past
}

// Limits are those of what is written.
func (o *Options) Limits() stage.Limits { return o.input.Limits.Stage() }

// AddFlags adds the flags to a verb.
func (o *Options) AddFlags(c *cobra.Command) {
	fl := c.Flags()
	o.input.Add(c, "file or directory with the new state; - for standard input", "kustomization directory with the new state")
	fl.StringVar(&o.against, "against", "", "file with the current state, or live for the cluster (default)")
	fl.StringSliceVar(&o.with, "with", nil, "with --against FILE: file with other cluster objects (pods, nodes, budgets, revisions)")
	fl.StringArrayVar(&o.images, "image", nil, "new image, CONTAINER=IMAGE; * means every container")
	fl.IntVar(&o.pods, "pods", 0, "with --against FILE: number of ready pods to assume (default: spec.replicas)")
	o.AddPolicyFlags(c)
	o.input.Limits.Add(c)
	_ = c.MarkFlagFilename("with", "yaml", "yml", "json")
	_ = c.MarkFlagFilename("against", "yaml", "yml", "json")
}

// AddPolicyFlags adds only the flags that say how a change is rolled out.
func (o *Maker) AddPolicyFlags(c *cobra.Command) {
	o.Given.Add(c, "that of the cluster or of ClusterFacts in --with, else the newest")
	c.Flags().BoolVar(&o.assumeReady, "assume-ready", false, "assume that pods which are not ready now become ready (default: they stay so until they are replaced)")
	o.policy.addFlags(c.Flags())
	o.policy.complete(c)
}

// Complete reads the arguments, at most TYPE/NAME, and checks that the flags go
// together. Errors are of usage.
func (o *Options) Complete(args []string) error {
	if len(args) > 1 {
		return command.Usagef("one plan is for one workload", "unexpected argument %q", args[1])
	}
	if len(args) == 1 {
		n, err := resourcearg.Parse(args[0])
		if err != nil {
			return err
		}
		o.name = &n
	}
	if err := o.validate(); err != nil {
		return err
	}
	if err := o.input.Complete(); err != nil {
		return err
	}
	return o.CompletePolicy()
}

func (o *Options) validate() error {
	fromFiles := o.againstFiles()
	switch {
	case !o.changes():
		return command.Usagef("give the new state with -f FILE or -k DIR, or a new image with --image CONTAINER=IMAGE", "nothing to plan")
	case !o.manifests() && !fromFiles && o.name == nil && !o.Several:
		return command.Usagef("for instance cloneset/web --image app=web:2", "which workload?")
	case !fromFiles && (o.pods > 0 || len(o.with) > 0):
		return command.Usagef("a cluster has its own pods; give --against FILE to plan from files alone", "--pods and --with are for plans from files")
	case o.pods < 0:
		return command.Usagef("", "--pods: %d is not a number of pods", o.pods)
	}
	for _, image := range o.images {
		if container, ref, ok := strings.Cut(image, "="); !ok || container == "" || ref == "" {
			return command.Usagef("for instance --image app=registry.example.com/app:2", "--image: %q is not CONTAINER=IMAGE", image)
		}
	}
	return command.OneStdin(slices.Concat(o.input.Files, o.with, []string{o.against, o.policy.strategy})...)
}

// CompletePolicy checks the flags of the policy. Errors are of usage.
func (o *Maker) CompletePolicy() error {
	if err := o.Given.Complete(); err != nil {
		return err
	}
	var err error
	o.gates, err = o.Given.Of(kruise.Release{}) // a cluster tells more
	return err
}

// AddGit adds the flag that takes both states from Git.
func (o *Options) AddGit(c *cobra.Command) {
	c.Flags().StringVar(&o.git, "git", "", "revisions to plan between, with a PATH: A..B, A...B, or A for A against the working tree")
}

// CompleteGit reads the paths of --git in the place of a workload's name; ok is false without the
// flag. Errors are of usage.
func (o *Options) CompleteGit(paths []string) (ok bool, err error) {
	if o.git == "" {
		return false, nil
	}
	if o.input.Given() || o.against != "" || len(o.images) > 0 {
		return true, command.Usagef("", "--git has both states: it goes with none of -f, -k, --against and --image")
	}
	if err := input.CheckPaths(o.git, paths); err != nil {
		return true, err
	}
	o.paths = paths
	return true, o.Complete(nil)
}

// FromFiles reports whether the flags ask for a plan without a cluster.
func (o *Options) FromFiles() bool {
	return o.againstFiles() || len(o.with) > 0 || o.pods > 0
}

// againstFiles reports whether the present state is in files.
func (o *Options) againstFiles() bool {
	return o.git != "" || o.against != "" && o.against != againstLive
}

// changes reports whether a flag or manifest asks for a change.
func (o *Options) changes() bool { return o.manifests() || len(o.images) > 0 }

func (o *Options) manifests() bool { return o.input.Given() || o.git != "" }

// now is the time that a plan is made at.
func now() time.Time { return time.Now() }
