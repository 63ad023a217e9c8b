package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// formerNames are the names that flags had, with those that they have everywhere now. They are taken without a
// word, and without an end, wherever a command has the flag and none of the former name.
var formerNames = map[string]string{
	"base": "against", "old": "against",
	"output-dir": "out", "output-file": "out",
	"image-pull-secrets": "pull-secret", "pull-secrets": "pull-secret",
	"node-names": "node", "nodes": "node-selector", "containers": "container",
}

// takeFormerNames has all commands know former names of flags.
func takeFormerNames(c *cobra.Command) {
	for _, sub := range c.Commands() {
		takeFormerNames(sub)
	}
	if c.HasSubCommands() {
		return
	}
	fl := c.Flags()
	known := map[string]string{}
	for former, name := range formerNames {
		if fl.Lookup(former) == nil && fl.Lookup(name) != nil {
			known[former] = name
		}
	}
	before := fl.GetNormalizeFunc()
	fl.SetNormalizeFunc(func(fl *pflag.FlagSet, name string) pflag.NormalizedName {
		normal := before(fl, name)
		if now, ok := known[string(normal)]; ok {
			return pflag.NormalizedName(now)
		}
		return normal
	})
}
