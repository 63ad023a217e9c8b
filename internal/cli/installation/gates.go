package installation

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Gates are the gates of the rules, and those that only a model of the cluster knows.
type Gates struct {
	cluster.Gates
	// ReadinessGate is KruisePodReadinessGate; see simulate.Options.
	ReadinessGate bool
}

// readinessGate is the name of the gate that only a model knows.
const readinessGate = "KruisePodReadinessGate"

// GatesOf are the gates as a release has them by default; one that is not known has those of
// the newest.
func GatesOf(r kruise.Release) Gates {
	return Gates{Gates: cluster.GatesOf(r), ReadinessGate: r.OrNewest().GateOn(readinessGate)}
}

// gate is the gate of a name; nil for one that changes no plan.
func (s *Gates) gate(name string) *bool {
	if name == readinessGate {
		return &s.ReadinessGate
	}
	return s.Gate(name)
}

// gateNames are those of all gates, in alphabetical order.
func gateNames() []string {
	out := append(cluster.GateNames(), readinessGate)
	slices.Sort(out)
	return out
}

// GateFlags are --feature-gates and --kruise-version. The zero value has neither.
type GateFlags struct {
	given  []string
	kruise Flag
}

// Add puts both flags onto a command; without says where the release comes from when it is
// not given.
func (f *GateFlags) Add(c *cobra.Command, without string) {
	f.AddGates(c)
	f.kruise.Add(c, without)
}

// AddGates puts --feature-gates onto a command whose release comes from elsewhere.
func (f *GateFlags) AddGates(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.given, "feature-gates", nil, "feature gates that differ from the defaults, NAME=true or NAME=false")
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("feature-gates", completeGates)
}

// completeGates completes the last gate of a list: its name, and then its value.
func completeGates(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(typed, ',') + 1
	before, last := typed[:at], typed[at:]
	name, _, valued := strings.Cut(last, "=")
	var out []string
	if valued {
		for _, value := range []string{"=true", "=false"} {
			out = append(out, before+name+value)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	for _, gate := range gateNames() {
		if !strings.Contains(","+before, ","+gate+"=") {
			out = append(out, before+gate+"=")
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// Complete reads what was given. Errors are of usage.
func (f *GateFlags) Complete() error {
	_, err := f.Of(kruise.Release{})
	return err
}

// Of are the gates that a release has by default, with what was given above them. The
// release is the one that was given, or else the one that is known. Errors are of usage.
func (f *GateFlags) Of(known kruise.Release) (Gates, error) { return f.above(known, nil) }

// above lays what was given over the flags of a manager of a release.
func (f *GateFlags) above(known kruise.Release, told []string) (Gates, error) {
	if err := f.kruise.Complete(); err != nil {
		return Gates{}, err
	}
	set := GatesOf(f.kruise.Or(known))
	set.start(told)
	for _, one := range f.given {
		if err := set.lay(one); err != nil {
			return set, err
		}
	}
	return set, nil
}

// lay switches a gate as a person says it, NAME=true or NAME=false.
func (s *Gates) lay(one string) error {
	name, value, ok := strings.Cut(one, "=")
	on, err := strconv.ParseBool(value)
	if !ok || err != nil {
		return command.Usagef("for instance --feature-gates "+gateNames()[0]+"=true", "--feature-gates: %q is not NAME=true or NAME=false", one)
	}
	gate := s.gate(name)
	if gate == nil {
		return command.Usagef("gates that change what is planned: "+strings.Join(gateNames(), ", "), "--feature-gates: unknown gate %q", name)
	}
	if r := s.Release; on && !r.IsZero() {
		if in, ok := kruise.GateIn(name); ok && !in.Has(r) {
			return command.Usagef("leave it out, or give another --"+Name, "--feature-gates: %s has no gate %s: it is there %s", r.Name(), name, in.Words())
		}
	}
	*gate = on
	return nil
}

// ManagerGates are the texts NAME=VALUE of --feature-gates of a manager.
func ManagerGates(manager corev1.Container) []string {
	return gateArguments(slices.Concat(manager.Command, manager.Args))
}

func gateArguments(args []string) []string {
	var out []string
	for i, a := range args {
		text, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "feature-gates")
		if !ok || !strings.HasPrefix(a, "-") {
			continue
		}
		if text == "" && i+1 < len(args) {
			text = args[i+1]
		}
		for one := range strings.SplitSeq(strings.TrimPrefix(text, "="), ",") {
			if one != "" {
				out = append(out, strings.TrimSpace(one))
			}
		}
	}
	return out
}

// GateReader reads what one cluster has installed, and asks it once. Its zero value is ready.
type GateReader struct {
	once    sync.Once
	manager Manager
	found   Found
	err     error
}

// Live returns the gates of a cluster: the defaults of the release of Kruise that it
// surely runs, else of the newest, what the arguments of its manager say and, above both,
// the flags. unread is why the manager could not be read; empty where it was, and where
// there is no Kruise. Errors are of usage.
func (r *GateReader) Live(ctx context.Context, cfg *rest.Config, flags GateFlags) (set Gates, unread string, err error) {
	r.once.Do(func() { r.read(ctx, cfg) })
	if r.err != nil {
		unread = r.err.Error()
	}
	var known kruise.Release
	if r.found.Sure { // a guess refuses nothing: where some definitions are missing, it is too old
		known = r.found.Release
	}
	set, err = flags.above(known, ManagerGates(r.manager.Container))
	return set, unread, err
}

// LiveGates is that of a new [GateReader].
func LiveGates(ctx context.Context, cfg *rest.Config, flags GateFlags) (set Gates, unread string, err error) {
	var r GateReader
	return r.Live(ctx, cfg, flags)
}

// read asks for the manager and, where its image does not tell the release, for what the
// server has of Kruise.
func (r *GateReader) read(ctx context.Context, cfg *rest.Config) {
	objects, err := dynamic.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		r.err = err
		return
	}
	server, err := discovery.NewDiscoveryClientForConfig(rest.CopyConfig(cfg))
	if err != nil {
		r.err = err
		return
	}
	r.manager, r.err = FindManager(ctx, objects)
	r.found = Tell(ctx, r.manager, objects, server)
}

// start switches gates by the flags of a manager; AllAlpha, AllBeta and gates that change no
// plan are not looked at.
func (s *Gates) start(given []string) {
	for _, one := range given {
		name, value, _ := strings.Cut(one, "=")
		on, err := strconv.ParseBool(value)
		if gate := s.gate(name); gate != nil && err == nil {
			*gate = on
		}
	}
}
