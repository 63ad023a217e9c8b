package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/isolated"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// work is the name under which an isolated process builds a kustomization.
const work = "kustomize"

func init() { isolated.Serve(work, serve) }

// The first byte of an answer.
const (
	built  = '+'
	broken = '-'
)

// fault is a [resource.Error] on its way between processes.
type fault struct {
	File        string
	Line        int
	Field       string
	Error, Hint string
}

// serve builds what an isolated process was started for.
func serve(request []byte, answer io.Writer) error {
	var j job
	if err := json.Unmarshal(request, &j); err != nil {
		return err
	}
	text, err := j.buildWithKustomize()
	if err == nil {
		if _, err = answer.Write([]byte{built}); err == nil {
			_, err = answer.Write(text)
		}
		return err
	}
	f := fault{File: j.Name, Error: err.Error()}
	if e, ok := errors.AsType[*resource.Error](err); ok {
		f = fault{e.File, e.Line, e.Field, e.Err.Error(), e.Hint}
	}
	if _, err := answer.Write([]byte{broken}); err != nil {
		return err
	}
	return json.NewEncoder(answer).Encode(f)
}

// readAnswer reads what serve has written.
func readAnswer(answer []byte) ([]byte, error) {
	if len(answer) > 0 && answer[0] == built {
		return answer[1:], nil
	}
	var f fault
	if len(answer) == 0 {
		return nil, errors.New("kustomize gave no answer")
	}
	if err := json.Unmarshal(answer[1:], &f); err != nil {
		return nil, fmt.Errorf("the answer of kustomize: %w", err)
	}
	return nil, &resource.Error{File: f.File, Line: f.Line, Field: f.Field, Err: errors.New(f.Error), Hint: f.Hint}
}

// buildWithKustomize has kustomize build the kustomization, which must happen in an isolated process.
func (j job) buildWithKustomize() ([]byte, error) {
	root, err := j.open(context.Background(), maxKustomizeAgain)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	additions, config, err := kruiseKinds()
	if err != nil {
		return nil, err
	}
	d := &disk{root: root}
	if j.Large {
		if text, err := j.buildLarge(additions, config); err == nil {
			return text, nil
		}
	}
	var text []byte
	run := func(fs filesys.FileSystem) error {
		return kustomize.WithSchema(additions, func() (err error) {
			text, err = runKustomize(fs, j.Dir)
			return err
		})
	}
	err = run(configured{d, config})
	if err != nil && isConflict(err) {
		err = run(d)
	}
	if err == nil {
		return text, nil
	}
	if refusal := root.Refused(); refusal != nil {
		return nil, j.refusedByRoot(d, refusal)
	}
	if fault := j.remotePlace(d, err, isolated.Asked()); fault != nil {
		return nil, fault
	}
	return nil, j.kustomizeError(d, err)
}

// buildLarge builds what may take much memory as this program does, which takes less of it than
// kustomize.
func (j job) buildLarge(additions, config []byte) (text []byte, err error) {
	root, err := j.open(context.Background(), maxBuildAgain)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	err = kustomize.WithSchema(additions, func() error {
		built, err := linear.Unbounded(&disk{root: root}, j.Dir, config)
		warn(strings.Join(built.Warnings, "\n"))
		text = built.Text
		return err
	})
	return text, err
}

// runKustomize has kustomize build dir. Kustomize panics where identities that a patch has
// changed collide.
func runKustomize(fs filesys.FileSystem, dir string) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	opt := krusty.MakeDefaultOptions()
	opt.Reorder = krusty.ReorderOptionUnspecified
	objects, err := krusty.MakeKustomizer(opt).Run(fs, dir)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}
