package render

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// What -f and -k are for the verbs of this package.
const (
	filesText         = "file or directory with manifests; - is standard input"
	kustomizationText = "directory with a kustomization, built in process"
)

// streamOptions are what the verbs share that read manifests and write others.
type streamOptions struct {
	factory *factory.Factory
	input.ManifestFlags

	with      []string
	kruise    installation.Flag
	output    string
	outputDir string
	report    string
	strict    bool
	quiet     bool
	verbose   int
}

// addFlags adds their flags. release describes which release of Kruise counts without a flag, verbose
// what -v does.
func (o *streamOptions) addFlags(c *cobra.Command, release, verbose string) {
	fl := c.Flags()
	o.Add(c, filesText, kustomizationText)
	o.Limits.Add(c)
	fl.StringSliceVar(&o.with, "with", nil, "file with context objects, which exist in the cluster and are not rendered; - is standard input")
	o.kruise.Add(c, release)
	fl.StringVarP(&o.output, "output", "o", "yaml", "output format: yaml or json")
	fl.StringVar(&o.outputDir, "out", "", "write one file per object into this directory")
	fl.StringVar(&o.report, "report", "", "write all findings as JSON into this file")
	fl.BoolVar(&o.strict, "strict", false, "fail if anything is lost")
	fl.BoolVarP(&o.quiet, "quiet", "q", false, "do not print findings")
	fl.CountVarP(&o.verbose, "verbose", "v", verbose)
	command.Offer(c, "output", "yaml", "json")
	_ = c.MarkFlagFilename("with", "yaml", "yml", "json")
	_ = c.MarkFlagDirname("out")
}

// validate refuses flags that do not go together; more are files of other flags. Errors are of usage.
func (o *streamOptions) validate(more ...string) error {
	if !o.Given() {
		return command.Usagef("give -f FILE, -f DIRECTORY, -f - or -k DIRECTORY", "must specify one of -f and -k")
	}
	for _, check := range []func() error{o.Complete, o.kruise.Complete} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := command.OneOf("output", o.output, "yaml", "json"); err != nil {
		return err
	}
	return command.OneStdin(slices.Concat(o.Files, o.with, more)...)
}

// noted is where notes about the input go.
func (o *streamOptions) noted() io.Writer {
	if o.quiet {
		return io.Discard
	}
	return o.factory.Streams.Err
}

// writeReport writes what --report asks for.
func (o *streamOptions) writeReport(in, out int, found []finding.Finding, why []stage.Explanation) error {
	if o.report == "" {
		return nil
	}
	b, err := view.NewReport(in, out, found, why).JSON()
	if err != nil {
		return err
	}
	return emit.File(o.report, b)
}

// dirOptions are those of --out.
func (o *streamOptions) dirOptions() emit.DirOptions {
	opt := emit.DirOptions{Format: emit.YAML, Limits: o.Limits.Stage()}
	if o.output == "json" {
		opt.Format = emit.JSON
	}
	return opt
}

// print writes the stream to standard output.
func (o *streamOptions) print(ctx context.Context, list []*resource.Resource) error {
	out := emit.Unless(ctx, o.factory.Streams.Out)
	if o.output == "json" {
		return emit.JSONStream(out, list, o.Limits.Stage())
	}
	return emit.Drain(out, list, o.Limits.Stage())
}
