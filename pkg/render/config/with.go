package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Source is one entry of the option with: the name of a file with objects, or
// an object that stands in the config itself.
type Source struct {
	File   string
	Object *tree.Node
}

// Context returns the objects of all sources. read is called with the names of
// files as they are written; it decides what may be read. nil refuses files.
func (c *Config) Context(read func(path string) ([]byte, error)) ([]*resource.Resource, error) {
	var out []*resource.Resource
	var errs resource.Errors
	for i, s := range c.With {
		objects, err := s.objects(fmt.Sprintf("with[%d]", i), read)
		errs.Add(err)
		out = append(out, objects...)
	}
	return out, errs.Err()
}

func (s Source) objects(name string, read func(string) ([]byte, error)) ([]*resource.Resource, error) {
	if s.Object != nil {
		b, err := json.Marshal(tree.Value(s.Object))
		if err != nil {
			return nil, &resource.Error{File: name, Err: err}
		}
		return load.Parse(name, b)
	}
	if read == nil {
		return nil, &resource.Error{File: s.File, Err: errNoReader}
	}
	b, err := read(s.File)
	if err != nil {
		return nil, placed(s.File, err)
	}
	return load.Parse(s.File, b)
}

// placed names the file in err unless it is named already.
func placed(name string, err error) error {
	if _, ok := errors.AsType[*resource.Error](err); ok {
		return err
	}
	return &resource.Error{File: name, Err: err}
}
