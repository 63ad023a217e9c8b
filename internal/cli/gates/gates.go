// Package gates says what of a Kruise installation changes what is planned: its release
// and which feature gates of Kruise, and of Kubernetes, are on. It is read from the image
// and the arguments of Kruise's manager, and from the flags --kruise-version and
// --feature-gates. No cluster tells the gates of Kubernetes.
package gates

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/release"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Set are the gates of the rules, and those that only a model of the cluster knows.
type Set struct {
	cluster.Gates
	// ReadinessGate is KruisePodReadinessGate; see simulate.Options.
	ReadinessGate bool
}

// readinessGate is the name of the gate that only a model knows.
const readinessGate = "KruisePodReadinessGate"

// Of are the gates as a release has them by default; one that is not known has those of
// the newest.
func Of(r kruise.Release) Set {
	return Set{Gates: cluster.GatesOf(r), ReadinessGate: r.OrNewest().GateOn(readinessGate)}
}

// gate is the gate of a name; nil for one that changes no plan.
func (s *Set) gate(name string) *bool {
	if name == readinessGate {
		return &s.ReadinessGate
	}
	return s.Gate(name)
}

// names are those of all gates, in alphabetical order.
func names() []string {
	out := append(cluster.GateNames(), readinessGate)
	slices.Sort(out)
	return out
}

// Flags are --feature-gates and --kruise-version. The zero value has neither.
type Flags struct {
	given  []string
	kruise release.Flag
}

// Add puts both flags onto a command; without says where the release comes from when it is
// not given.
func (f *Flags) Add(c *cobra.Command, without string) {
	f.AddGates(c)
	f.kruise.Add(c, without)
}

// AddGates puts --feature-gates onto a command whose release comes from elsewhere.
func (f *Flags) AddGates(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.given, "feature-gates", nil, "feature gates that differ from the defaults, NAME=true or NAME=false")
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("feature-gates", offer)
}

// offer completes the last gate of a list: its name, and then its value.
func offer(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
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
	for _, gate := range names() {
		if !strings.Contains(","+before, ","+gate+"=") {
			out = append(out, before+gate+"=")
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// Complete reads what was given. Errors are of usage.
func (f *Flags) Complete() error {
	_, err := f.Of(kruise.Release{})
	return err
}

// Of are the gates that a release has by default, with what was given above them. The
// release is the one that was given, or else the one that is known. Errors are of usage.
func (f *Flags) Of(known kruise.Release) (Set, error) { return f.above(known, nil) }

// above lays what was given above what a manager of a release is told.
func (f *Flags) above(known kruise.Release, told []string) (Set, error) {
	if err := f.kruise.Complete(); err != nil {
		return Set{}, err
	}
	set := Of(f.kruise.Or(known))
	set.start(told)
	for _, one := range f.given {
		if err := set.lay(one); err != nil {
			return set, err
		}
	}
	return set, nil
}

// lay switches a gate as a person says it, NAME=true or NAME=false.
func (s *Set) lay(one string) error {
	name, value, ok := strings.Cut(one, "=")
	on, err := strconv.ParseBool(value)
	if !ok || err != nil {
		return usage.Errorf("for instance --feature-gates "+names()[0]+"=true", "--feature-gates: %q is not NAME=true or NAME=false", one)
	}
	gate := s.gate(name)
	if gate == nil {
		return usage.Errorf("gates that change what is planned: "+strings.Join(names(), ", "), "--feature-gates: unknown gate %q", name)
	}
	if r := s.Release; on && !r.IsZero() {
		if in, ok := kruise.GateIn(name); ok && !in.Has(r) {
			return usage.Errorf("leave it out, or give another --"+release.Name, "--feature-gates: %s has no gate %s: it is there %s", r.Name(), name, in.Words())
		}
	}
	*gate = on
	return nil
}
