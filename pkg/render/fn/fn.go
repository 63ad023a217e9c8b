// Package fn is the engine as a KRM function: a ResourceList comes in, a ResourceList goes out
// (KRM Functions Specification v1; docs/facts/kustomize.md#functions describes what kustomize and
// kpt really do). The function config is a RenderConfig, a ConfigMap, a Kruise object itself, or the
// older plugin's ResourceDistributionGenerator.
//
// The package opens no file. On an error the output is the input with the
// faults as results: an orchestrator that ignores exit codes deletes nothing.
package fn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// input names the ResourceList in messages.
const input = "ResourceList"

// Run reads one ResourceList from in and writes one to out: rendered, or, when
// it returns an error, as it came in. Nothing is written when in holds no
// ResourceList. Findings go to results and, one a line, to errOut; the error
// holds all faults, joined, and is for the caller to print. readFile reads files that
// the function config names, relative to the working directory. It is asked for local
// paths only and must itself refuse symlinks that lead out of there, as load.Below does.
// nil refuses all files.
func Run(ctx context.Context, in io.Reader, out, errOut io.Writer, readFile func(path string) ([]byte, error)) error {
	text, err := io.ReadAll(io.LimitReader(in, load.DefaultMaxFileBytes+1))
	if err != nil {
		return &resource.Error{File: input, Err: err}
	}
	if len(text) > load.DefaultMaxFileBytes {
		return &resource.Error{File: input, Err: fmt.Errorf("is larger than %d MiB", load.DefaultMaxFileBytes>>20)}
	}
	l, err := parse(text)
	if err != nil {
		return err
	}
	o, err := l.process(ctx, onlyLocal(readFile))
	if err != nil || o.echo {
		// The engine may have changed the items already.
		if l, _ = parse(text); l == nil {
			return err
		}
		o.items = l.items()
	}
	o.add(err)
	if werr := l.write(out, o); werr != nil {
		return werr
	}
	o.writeFindings(errOut)
	return err
}

// onlyLocal lets only paths through that stay, as they are written, in the working
// directory.
func onlyLocal(readFile reader) reader {
	if readFile == nil {
		return nil
	}
	return func(path string) ([]byte, error) {
		if !filepath.IsLocal(path) {
			return nil, &resource.Error{
				File: path, Err: errors.New("leaves the working directory"),
				Hint: "name a file in or below the working directory, by a relative path",
			}
		}
		return readFile(path)
	}
}

// process does the job of the function config. The outcome is never nil; its
// items count only without an error.
func (l *resourceList) process(ctx context.Context, read reader) (*outcome, error) {
	items := l.items()
	o := &outcome{places: map[resource.ID]place{}}
	if c := l.config(); tree.IsMap(c.Node()) {
		o.places[c.ID()] = place{apiVersion: c.APIVersion(), file: file(c.Node())}
	}
	j, err := newJob(l.functions, read)
	if err != nil {
		return o, l.misconfigured(err)
	}
	s := newStream(j, items)
	o.recordPlaces(s)
	o.warn(l, j.warnings)
	opt, err := j.conf.Read(read)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return o, err
	}
	opt.Context = slices.Concat(s.context, opt.Context)
	set := j.injected(opt.SidecarSetAs)
	opt.Explain = opt.Explain || set != nil
	res, err := render.Render(ctx, s.in, opt)
	if err != nil {
		return o, err
	}
	if set != nil {
		o.warnOfNoMatch(set, res)
	}
	if !j.conf.Explain {
		res.Explanations = nil
	}
	o.report(res, j.conf.Strict)
	out, err := s.assemble(res.Resources)
	if err != nil {
		return o, err
	}
	for _, r := range out {
		o.items = append(o.items, r.Node())
	}
	return o, o.checkUsable(j.conf, s)
}

// config returns the function config as an object.
func (l *resourceList) config() *resource.Resource {
	return resource.Parsed(l.functions, nil, resource.Origin{File: functionConfig})
}

// misconfigured places the faults of the function config.
func (l *resourceList) misconfigured(err error) error {
	at := l.config()
	var faults, all resource.Errors
	faults.Add(err)
	for _, e := range faults {
		all.Add(at.Wrap(e, ""))
	}
	return all.Err()
}

// checkUsable refuses an outcome that must not be used, and applies what the options
// writeFindings of the output.
func (o *outcome) checkUsable(conf *render.Config, s *stream) error {
	if conf.Strict && o.worst.Rank() >= finding.Lost.Rank() {
		return &resource.Error{Err: errors.New("something is lost, and the option strict is set"), Hint: "the findings name each field and what to do"}
	}
	switch conf.Validate {
	case render.ValidateEcho:
		o.echo = true
		return nil
	case render.ValidateEmpty:
		o.items = nil
		return nil
	}
	if before := applied(s.items); before > 0 && applied(o.items) == 0 && !conf.AllowEmpty {
		return &resource.Error{
			Err:  fmt.Errorf("the result has no objects; the input had %d", before),
			Hint: "an empty result can delete everything downstream; the option allowEmpty permits it",
		}
	}
	return nil
}

// applied counts the objects that would get into a cluster.
func applied(items []*tree.Node) int {
	n := 0
	for _, item := range items {
		if !local(item) {
			n++
		}
	}
	return n
}

// The first document of a text is a ResourceList when both are in it: as lines
// of their own, or, in JSON, anywhere before the items.
var (
	kindLine    = regexp.MustCompile(`(?m)^["']?kind["']?[ \t]*:[ \t]+["']?ResourceList["']?[ \t]*(#.*)?\r?$`)
	versionLine = regexp.MustCompile(`(?m)^["']?apiVersion["']?[ \t]*:[ \t]+["']?config\.kubernetes\.io/`)
	kindFlow    = regexp.MustCompile(`["']?kind["']?\s*:\s*["']?ResourceList\b`)
	versionFlow = regexp.MustCompile(`["']?apiVersion["']?\s*:\s*["']?config\.kubernetes\.io/`)
)

// IsResourceList reports whether a text that begins with prefix is the input
// of a KRM function, so that a program without arguments knows its role.
// kustomize and kpt write apiVersion and kind first; a prefix of some
// kilobytes is enough.
func IsResourceList(prefix []byte) bool {
	prefix = bytes.TrimPrefix(prefix, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimLeft(prefix, " \t\r\n"), []byte("{")) {
		return kindFlow.Match(prefix) && versionFlow.Match(prefix)
	}
	return kindLine.Match(prefix) && versionLine.Match(prefix)
}
