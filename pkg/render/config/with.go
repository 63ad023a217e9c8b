package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Source is one entry of the options with and base: the name of a file with objects, or
// an object that stands in the config itself.
type Source struct {
	File   string
	Object *tree.Node
}

// Context returns the objects of the option with. read is called with the names of
// files as they are written; it decides what may be read. nil refuses files.
func (c *Config) Context(read func(path string) ([]byte, error)) ([]*resource.Resource, error) {
	return objects("with", c.With, read)
}

// Before returns the objects of the option base, in the same way.
func (c *Config) Before(read func(path string) ([]byte, error)) ([]*resource.Resource, error) {
	return objects("base", c.Base, read)
}

func objects(option string, list []Source, read func(path string) ([]byte, error)) ([]*resource.Resource, error) {
	var out []*resource.Resource
	var errs resource.Errors
	for i, s := range list {
		objects, err := s.objects(fmt.Sprintf("%s[%d]", option, i), read)
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
