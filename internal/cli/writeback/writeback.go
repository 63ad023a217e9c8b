// Package writeback writes what a rollout has brought into the cluster into the
// manifest it came from: the new template and the final partition. All else in the
// file stays, comments included.
package writeback

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Manifest is a document in a file that an object comes from.
type Manifest struct {
	// Path is the file.
	Path string

	all    []*resource.Resource
	object *resource.Resource
}

// Find finds the manifest of an object in a file, or in the YAML files below a
// directory. Two of them are an error, as is one that could not be written to.
func Find(path string, w cluster.Ref) (*Manifest, error) {
	files, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	var found []*Manifest
	for _, file := range files {
		m, err := open(file, w)
		switch {
		case err != nil && len(files) == 1:
			return nil, err
		case err == nil && m != nil: // a directory may hold what is no manifest
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0], found[0].writable()
	case 0:
		return nil, &resource.Error{File: path, Err: fmt.Errorf("holds no manifest of %s", w), Hint: "name the file that it is applied from"}
	}
	return nil, &resource.Error{File: path, Err: fmt.Errorf("%s is in %s and in %s", w, found[0].Path, found[1].Path), Hint: "name one of the files"}
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var out []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		switch ext := filepath.Ext(file); {
		case err != nil:
			return err
		case d.Type().IsRegular() && (ext == ".yaml" || ext == ".yml"):
			out = append(out, file)
		}
		return nil
	})
	return out, err
}

// open finds the object in a file; nil where it is not there.
func open(file string, w cluster.Ref) (*Manifest, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, err := load.Parse(file, text)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Path: file, all: all}
	for _, r := range all {
		if r.Is(w.Group, w.Kind) && r.Name() == w.Name && (r.Namespace() == "" || r.Namespace() == w.Namespace) {
			m.object = r
			return m, nil
		}
	}
	return nil, nil //nolint:nilnil // that it is not there is no error
}

// writable refuses what cannot be written as it was.
func (m *Manifest) writable() error {
	var buf bytes.Buffer
	if err := emit.Stream(&buf, m.all); err != nil {
		return err
	}
	text, err := os.ReadFile(m.Path)
	if err == nil && (filepath.Ext(m.Path) == ".json" || strings.TrimSpace(buf.String()) != strings.TrimSpace(string(text))) {
		return &resource.Error{File: m.Path, Err: errors.New("cannot be written back without changing more than the object"), Hint: "one YAML document for each object can: no List, no JSON"}
	}
	return err
}

// Change is what a rollout has changed.
type Change struct {
	// Before and After are the workload as it was and as it became.
	Before, After *tree.Node
	// Partition is the one in force now; nil where none is.
	Partition *tree.Node
}

// Write brings a change into the manifest. It reports whether that was another
// before; the file is written at once or not at all.
func (m *Manifest) Write(c Change) (bool, error) {
	was := tree.Clone(m.object.Node())
	n := m.object.Edit()
	path := []string{"spec", "template"}
	if m.object.Kind() == "SidecarSet" {
		path = path[:1]
	}
	strategy := slices.Concat(path[:1], []string{"updateStrategy"})
	before, after := tree.Clone(c.Before), tree.Clone(c.After)
	tree.DeleteAt(before, strategy...)
	tree.DeleteAt(after, strategy...)
	if v := Carry(tree.Get(before, path...), tree.Get(after, path...), tree.Get(n, path...)); v != nil {
		tree.SetAt(n, v, path...)
	}
	m.setPartition(n, c.Partition)
	if tree.Equal(was, n) {
		return false, nil
	}
	var buf bytes.Buffer
	if err := emit.Stream(&buf, m.all); err != nil {
		return false, err
	}
	return true, replace(m.Path, buf.Bytes())
}

// setPartition sets the final partition where the manifest has one, or where it is
// not the default.
func (m *Manifest) setPartition(n, v *tree.Node) {
	path := plan.PartitionPath(m.object.Group(), m.object.Kind(), m.object.Version())
	if path == nil {
		return
	}
	if v == nil {
		v = tree.Int64(0)
	}
	has := tree.Get(n, path...)
	if has == nil && tree.Str(v) == "0" || has != nil && tree.Equal(has, v) {
		return
	}
	tree.SetAt(n, remarked(has, tree.Clone(v)), path...)
}

// replace writes a file at once, with the mode that it had.
func replace(path string, body []byte) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := emit.File(path, body); err != nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm())
}
