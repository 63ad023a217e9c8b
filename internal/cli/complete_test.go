package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

// completed is the command tree as the shell asks it.
func completed() *cobra.Command {
	f := factory.New(factory.Streams{})
	root := newRoot(f, "kubectl-kruise")
	each(root, func(c *cobra.Command) {
		resourcearg.CompleteFlags(root, f, append(strings.Fields(strings.TrimPrefix(c.CommandPath(), root.CommandPath())), ""))
	})
	return root
}

var (
	// takesObject indicates that something in the cluster is named.
	takesObject = regexp.MustCompile(`TYPE|\bPOD\b|rollout/NAME`)
	flagValue   = regexp.MustCompile(`--[a-z-]+ \S+`)
)

// TestCompletion_OffersObjectsForArguments: each command whose arguments name objects has the shell offer
// them.
func TestCompletion_OffersObjectsForArguments(t *testing.T) {
	count := 0
	each(completed(), func(c *cobra.Command) {
		// Files come first in two of them, which shells know themselves.
		if !takesObject.MatchString(flagValue.ReplaceAllString(c.Use, "")) || c.Name() == "inplace" || c.Name() == "simulate" {
			return
		}
		if count++; c.ValidArgsFunction == nil {
			t.Errorf("%s: nothing is offered for %s", c.CommandPath(), c.Use)
		}
	})
	if count < 30 {
		t.Errorf("only %d commands take objects", count)
	}
}

// offered are flags whose values the cluster knows.
var offered = strings.Fields("namespace state-namespace context cluster user container containers sidecar pod pods to-revision node node-selector dry-run color steps driver feature-gates kruise-version output")

// TestCompletion_OffersValuesOfTheClusterForFlags: each flag whose values the cluster knows has the shell offer them.
func TestCompletion_OffersValuesOfTheClusterForFlags(t *testing.T) {
	seen := map[string]int{}
	each(completed(), func(c *cobra.Command) {
		check := func(flag *pflag.Flag) {
			if !slices.Contains(offered, flag.Name) || flag.Value.Type() == "bool" || counts(c, flag.Name) {
				return
			}
			if seen[flag.Name]++; !offers(c, flag.Name) {
				t.Errorf("%s: nothing is offered for --%s", c.CommandPath(), flag.Name)
			}
		}
		c.Flags().VisitAll(check)
		c.InheritedFlags().VisitAll(check)
	})
	for _, name := range offered {
		if seen[name] == 0 {
			t.Errorf("no command has --%s", name)
		}
	}
}

// counts reports whether the flag of this command is a number of things, or what it
// takes is made up.
func counts(c *cobra.Command, flag string) bool {
	path := strings.TrimPrefix(c.CommandPath(), "kubectl kruise ")
	return slices.Contains([]string{"plan pods", "rollout run pods", "simulate pods", "simulate nodes"}, path+" "+flag)
}

func offers(c *cobra.Command, flag string) bool {
	_, ok := c.GetFlagCompletionFunc(flag)
	return ok
}

// TestCompletes_Values: what the shell is offered for values that no cluster knows.
func TestCompletes_Values(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"render", "--color", "a"}, "auto always never :4"},
		{[]string{"restart", "cloneset/web", "--steps", ""}, "1,100% 1,50%,100% 1,10%,50%,100% :4"},
		{[]string{"rollout", "promote", "cloneset/web", "--to", ""}, "10% 50% 100% :4"},
		{[]string{"plan", "--driver", ""}, "auto kruise native client :4"},
		{[]string{"plan", "--feature-gates", "PodUnavailableBudgetDeleteGate="}, "PodUnavailableBudgetDeleteGate=true PodUnavailableBudgetDeleteGate=false :4"},
		{[]string{"patch", "--output", ""}, "json yaml kyaml name go-template go-template-file template templatefile jsonpath jsonpath-as-json jsonpath-file :4"},
		{[]string{"kustomize", "--output", ""}, ":0"},
	} {
		_, out, _ := call(t.Context(), t, "", append([]string{"__complete"}, c.args...)...)
		if got := strings.Join(strings.Fields(out), " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.args, got, c.want)
		}
	}
	_, out, _ := call(t.Context(), t, "", "__complete", "plan", "--feature-gates", "PodUnavailableBudgetDeleteGate=true,")
	if !strings.Contains(out, "PodUnavailableBudgetDeleteGate=true,KruisePodReadinessGate=") || strings.Contains(out, "true,PodUnavailableBudgetDeleteGate") || !strings.HasSuffix(out, ":6\n") {
		t.Errorf("a second gate:\n%s", out)
	}
}
