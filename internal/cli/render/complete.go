package render

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

// choices are the flags with a closed set of values; the first is the default.
func choices() map[string][]string {
	return map[string][]string{
		"target": {"native", "kruise", "auto"},
		"driver": {"native", "client"},
		"order":  {"input", "apply"},
		"output": {"yaml", "json"},

		"split-by": {"subset"},

		"sidecarset-as": {"inject", "admission"},
		"spread-as":     {"split", "constraints"},
	}
}

// complete registers what the shell may offer for the values of flags.
func complete(c *cobra.Command) {
	offers := choices()
	offers["expand"] = engine.Expandable
	for flag, values := range offers {
		command.Offer(c, flag, values...)
	}
	_ = c.MarkFlagDirname("kustomize")
	_ = c.MarkFlagDirname("output-dir")
	_ = c.MarkFlagDirname("patches-dir")
	_ = c.MarkFlagFilename("base", "yaml", "yml", "json")
	_ = c.MarkFlagFilename("filename", "yaml", "yml", "json")
	_ = c.MarkFlagFilename("with", "yaml", "yml", "json")
}
