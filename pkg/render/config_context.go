package render

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ConfigSource is one entry of the options with and base: the name of a file with objects, or
// an object that is in the config itself.
type ConfigSource struct {
	File   string
	Object *tree.Node
}

// Read returns the options for the engine, with the objects of the options with and base. read is
// called with the names of files as they are written; it decides what may be read. nil refuses files.
func (c *Config) Read(read func(path string) ([]byte, error)) (opt Options, err error) {
	opt = c.Options
	if opt.Context, err = objects("with", c.With, read); err != nil {
		return opt, err
	}
	opt.Base, err = objects("base", c.Base, read)
	return opt, err
}

func objects(option string, list []ConfigSource, read func(path string) ([]byte, error)) ([]*resource.Resource, error) {
	texts := make([]load.Named, len(list))
	for i, s := range list {
		texts[i] = s.text(fmt.Sprintf("%s[%d]", option, i), read)
	}
	return load.All(texts)
}

func (s ConfigSource) text(name string, read func(string) ([]byte, error)) load.Named {
	if s.Object != nil {
		return load.Named{Name: name, Read: func() ([]byte, error) {
			b, err := json.Marshal(tree.Value(s.Object))
			return b, placed(name, err)
		}}
	}
	return load.Named{Name: s.File, Read: func() ([]byte, error) {
		if read == nil {
			return nil, placed(s.File, errNoReader)
		}
		b, err := read(s.File)
		return b, placed(s.File, err)
	}}
}

// placed names the file in err unless it is named already.
func placed(name string, err error) error {
	if _, ok := errors.AsType[*resource.Error](err); ok || err == nil {
		return err
	}
	return &resource.Error{File: name, Err: err}
}
