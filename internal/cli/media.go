package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

// Manifests, clusters and file names hold text of others, which must not act where it is
// shown: on a terminal, in the log of a CI job. So verbs do not get the process's own
// streams, but writers through which nothing acts; this file is the one place that decides
// which.

var (
	// passing are verbs that pass on the streams of a container, or draw on the terminal.
	passing = []string{"attach", "completion", "debug", "demo", "exec", "logs", "ui", "__complete", "__completeNoDesc"}
	// emitting are verbs whose standard output is objects, for programs: bytes count there.
	emitting = []string{"argocd", "convert", "create", "fn", "generate-docs", "inventory", "kustomize", "render", "schema"}
	// programs are formats in which all verbs print what is for programs.
	programs = []string{"go-template", "go-template-file", "jsonpath", "jsonpath-as-json", "jsonpath-file", "template", "templatefile", "yaml", "github"}
	// copied are verbs, and files formats, of which people copy lines, or whose columns are aligned by the
	// terminal's own way to break lines: none is broken here.
	copied = []string{"api-resources", "config", "get", "rbac"}
	files  = []string{"custom-columns", "custom-columns-file", "html", "kyaml", "markdown", "name", "svg"}
	// documents are formats of JSON.
	documents = []string{"events", "json", "sarif"}
)

// media returns the streams of a verb.
func media(c *cobra.Command, s factory.Streams) (out, errs io.Writer) {
	verb, _, _ := strings.Cut(strings.TrimPrefix(c.CommandPath(), c.Root().CommandPath()+" "), " ")
	if slices.Contains(passing, verb) {
		return s.Out, s.Err
	}
	format := ""
	if o := c.Flags().Lookup("output"); o != nil {
		format, _, _ = strings.Cut(o.Value.String(), "=")
	}
	errs = text.Folding(s.Err, s.ErrWidth)
	switch {
	case slices.Contains(documents, format):
		return text.JSON(s.Out), errs
	case slices.Contains(emitting, verb) || slices.Contains(programs, format):
		if !s.OutTTY {
			return s.Out, errs
		}
		return text.Writer(s.Out), errs
	case slices.Contains(copied, verb) || slices.Contains(files, format) || prints(c, "manifest") || verb == "diff" && prints(c, "filename", "kustomize"):
		return text.Writer(s.Out), errs
	}
	return text.Folding(s.Out, s.Width), errs
}

// prints reports whether one of the flags is given, by which a verb prints manifests or differences of them.
func prints(c *cobra.Command, flags ...string) bool {
	return slices.ContainsFunc(flags, func(name string) bool { f := c.Flags().Lookup(name); return f != nil && f.Changed })
}
