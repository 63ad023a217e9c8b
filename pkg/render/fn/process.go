package fn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/config"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// process does the job of the function config. The outcome is never nil; its
// items count only without an error.
func (l *resourceList) process(ctx context.Context, read reader) (*outcome, error) {
	items := l.items()
	o := &outcome{places: map[resource.ID]place{}}
	o.knowConfig(l)
	j, err := newJob(l.functions, read)
	if err != nil {
		return o, l.misconfigured(err)
	}
	s := newStream(j, items)
	o.know(s)
	o.warn(l, j.warnings)
	opt, err := j.options(read)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return o, err
	}
	opt.Context = slices.Concat(s.context, opt.Context)
	res, err := render.Render(s.in, opt)
	if err != nil {
		return o, err
	}
	o.report(res, j.conf.Strict)
	out, err := s.assemble(res.Resources)
	if err != nil {
		return o, err
	}
	for _, r := range out {
		o.items = append(o.items, r.Node())
	}
	return o, o.judge(j.conf, s)
}

// options are those of the config, with the objects that it names.
func (j *job) options(read reader) (opt render.Options, err error) {
	opt = j.conf.Options()
	if opt.Context, err = j.conf.Context(read); err != nil {
		return opt, err
	}
	opt.Base, err = j.conf.Before(read)
	return opt, err
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

// judge refuses an outcome that must not be used, and applies what the options
// say of the output.
func (o *outcome) judge(conf *config.Config, s *stream) error {
	if conf.Strict && o.worst.Rank() >= finding.Lost.Rank() {
		return &resource.Error{Err: errors.New("something is lost, and the option strict is set"), Hint: "the findings name each field and what to do"}
	}
	switch conf.Validate {
	case config.Echo:
		o.echo = true
		return nil
	case config.Empty:
		o.items = nil
		return nil
	}
	if before := applied(s.items); before > 0 && applied(o.items) == 0 && !conf.AllowEmpty {
		return &resource.Error{
			Err:  fmt.Errorf("of %d objects nothing is left", before),
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
