package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFormerNames_StayKnown: what was typed with a former name works as with the present one, and a flag that
// has a former name of another is itself.
func TestFormerNames_StayKnown(t *testing.T) {
	for _, args := range [][]string{
		{"render", "--base", "a", "--output-dir", "a"},
		{"lint", "--old", "a"},
		{"convert", "--output-dir", "a"},
		{"inventory", "--output-file", "a"},
		{"schema", "json", "--output-dir", "a"},
		{"schema", "kustomize", "--output-dir=a"},
		{"create", "job", "--image-pull-secrets", "a"},
		{"create", "imagepulljob", "--pull-secrets", "a", "--node-names", "a"},
		{"create", "sidecarset", "--image-pull-secrets", "a"},
		{"pull", "--nodes", "a"},
		{"create", "containerrecreaterequest", "--containers", "a"},
		{"simulate", "--nodes", "3"},
		{"set", "env", "--containers", "a"},
	} {
		c, rest, err := whole().Find(args)
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		set := 0
		c.Flags().Visit(func(f *pflag.Flag) {
			if set++; f.Hidden {
				t.Errorf("%q sets --%s, which is hidden", args, f.Name)
			}
		})
		if set == 0 {
			t.Errorf("%q sets nothing", args)
		}
	}
}

// TestFlagNames_AreInTheTable: the flags of the table in CONTRIBUTING.md exist, and none is a former name.
func TestFlagNames_AreInTheTable(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	each(whole(), func(c *cobra.Command) { c.LocalFlags().VisitAll(func(f *pflag.Flag) { there[f.Name] = true }) })
	table := regexp.MustCompile("(?m)^\\| `--.*$").FindAllString(string(text), -1)
	if len(table) < 10 {
		t.Fatalf("%d lines", len(table))
	}
	for _, m := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(strings.Join(table, "\n"), -1) {
		if _, former := formerNames[m[1]]; !there[m[1]] || former && m[1] != "containers" {
			t.Errorf("--%s is no flag of today", m[1])
		}
	}
}

// TestFlagDefaults_AreOfOneMind: where the default of a flag differs between our verbs, the help of the flag says so.
func TestFlagDefaults_AreOfOneMind(t *testing.T) {
	known := map[string]string{
		"driver": "what rendering writes for, and what a rollout may use, are two questions", "field-manager": "kubectl's own verbs have kubectl's", "output": "of each verb",
		"target": "what is rendered for files is native, and apply asks the cluster", "name": "of each object", "active-deadline-seconds": "the defaults of Kruise's kinds",
		"ttl-seconds-after-finished": "the defaults of Kruise's kinds", "completion-policy": "the defaults of Kruise's kinds", "failure-policy": "the defaults of Kruise's kinds",
		"pod-running-timeout": "kubectl's", "all-namespaces": "true or false in the object, or in the list",
	}
	first := map[string]*pflag.Flag{}
	each(whole(), func(c *cobra.Command) {
		if slices.Contains(passed, strings.Fields(c.CommandPath())[2]) {
			return
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			before := first[f.Name]
			if first[f.Name] = f; before == nil || f.Hidden || before.Hidden || before.DefValue == f.DefValue || before.Value.Type() != f.Value.Type() || known[f.Name] != "" {
				return
			}
			if !strings.Contains(f.Usage+before.Usage, "default") {
				t.Errorf("%s --%s: the default is %q, elsewhere %q", c.CommandPath(), f.Name, f.DefValue, before.DefValue)
			}
		})
	})
}

// TestFlagNames_AreThoseOfToday: no flag has a former name, but for those for which the name means something else.
func TestFlagNames_AreThoseOfToday(t *testing.T) {
	other := map[string]string{"simulate --nodes": "a number", "set env --containers": "kubectl's", "set resources --containers": "kubectl's"}
	each(whole(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, former := formerNames[f.Name]
			name := c.CommandPath()[len("kubectl kruise "):] + " --" + f.Name
			if _, meant := other[name]; former && !meant {
				t.Errorf("%s is called %s now", name, formerNames[f.Name])
			}
			delete(other, name)
		})
	})
	if len(other) > 0 {
		t.Errorf("no flag: %v", other)
	}
}
