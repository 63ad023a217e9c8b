// Package fn is the engine as a KRM function: a ResourceList comes in, a
// ResourceList goes out (KRM Functions Specification v1; docs/facts/kustomize.md#functions
// says what kustomize and kpt really do). The function config is a
// RenderConfig, a ConfigMap, or a Kruise object itself.
//
// The package opens no file. On an error the output is the input with the
// faults as results: an orchestrator that ignores exit codes deletes nothing.
package fn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// input stands for the ResourceList in messages.
const input = "ResourceList"

// Options are what a run needs of its surroundings.
type Options struct {
	// ReadFile reads files that the function config names, relative to the
	// working directory. It is asked for local paths only and must itself refuse
	// symlinks that lead out of there, as load.Below does. nil refuses all files.
	ReadFile func(path string) ([]byte, error)
}

// Run reads one ResourceList from in and writes one to out: rendered, or, when
// it returns an error, as it came in. Nothing is written when in holds no
// ResourceList. Findings go to results and, one a line, to errOut; the error
// holds all faults, joined, and is for the caller to print.
func Run(ctx context.Context, in io.Reader, out, errOut io.Writer, opt Options) error {
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
	o, err := l.process(ctx, opt.local())
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
	o.say(errOut)
	return err
}

// local lets only paths through that stay, as they are written, in the working
// directory.
func (o Options) local() func(string) ([]byte, error) {
	if o.ReadFile == nil {
		return nil
	}
	return func(path string) ([]byte, error) {
		if !filepath.IsLocal(path) {
			return nil, &resource.Error{
				File: path, Err: errors.New("leaves the working directory"),
				Hint: "name a file in or below the working directory, by a relative path",
			}
		}
		return o.ReadFile(path)
	}
}
