package gitops

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// writtenFile is a file with its new content.
type writtenFile struct {
	path string
	body []byte
}

// Check reports why a change could not be written. The manifest is of no use
// afterwards.
func (m *Manifest) Check(c ManifestChange) error {
	_, err := m.prepare(c)
	return err
}

// Write brings a change into the manifest, or where a kustomization over it says what
// changes, there. It names the files that say something else than before; each is
// written at once or not at all, and none where one of them has changed since it was read.
func (m *Manifest) Write(c ManifestChange) ([]string, error) {
	files, err := m.prepare(c)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := m.files.unchanged(f.path); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, f := range files {
		if err := m.files.replace(f.path, f.body); err != nil {
			return out, err
		}
		out = append(out, f.path)
	}
	return out, nil
}

func (m *Manifest) prepare(c ManifestChange) ([]writtenFile, error) {
	was := tree.Clone(m.object.Node())
	n := m.object.Edit()
	path := []string{"spec", "template"}
	if m.object.Kind() == kruise.KindSidecarSet {
		path = path[:1]
	}
	strategy := slices.Concat(path[:1], []string{"updateStrategy"})
	before, after := tree.Clone(c.Before), tree.Clone(c.After)
	tree.DeleteAt(before, strategy...)
	tree.DeleteAt(after, strategy...)
	for _, k := range m.layers {
		if err := k.applyChange(before, after, path); err != nil {
			return nil, err
		}
	}
	if v := CarryChange(tree.Get(before, path...), tree.Get(after, path...), tree.Get(n, path...)); v != nil {
		tree.SetAt(n, v, path...)
	}
	m.setPartition(n, c.Partition)
	return m.changed(was, n)
}

// changed are the files that say something else now.
func (m *Manifest) changed(was, now *tree.Node) ([]writtenFile, error) {
	var out []writtenFile
	add := func(path string, was, now *tree.Node, whole func() ([]byte, error)) error {
		if tree.Equal(was, now) {
			return nil
		}
		body, err := m.files.edited(path, was, now, whole)
		out = append(out, writtenFile{path, body})
		return err
	}
	if err := add(m.Path, was, now, m.encode); err != nil {
		return nil, err
	}
	for _, k := range m.layers {
		if err := add(k.file, k.was, k.root, func() ([]byte, error) { return m.files.encoded(k.file, k.root) }); err != nil {
			return nil, err
		}
		for _, d := range k.patches {
			if err := add(d.file, d.was, d.root, func() ([]byte, error) { return m.files.encoded(d.file, d.root) }); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// edited is the text of a file after a change: with other values in their place if
// that is all, else encoded as a whole.
func (f *files) edited(path string, was, now *tree.Node, whole func() ([]byte, error)) ([]byte, error) {
	text, err := f.read(path)
	if err != nil {
		return nil, err
	}
	if list, ok := changedScalars(was, now); ok {
		if body, ok := splice(text, list); ok {
			return body, nil
		}
	}
	return whole()
}

// encoded writes a file again, its lists indented as they were.
func (f *files) encoded(path string, n *tree.Node) ([]byte, error) {
	text, err := f.read(path)
	if err != nil {
		return nil, err
	}
	return yaml.MarshalWithOptions(n, &yaml.EncoderOptions{SeqIndent: yaml.SequenceIndentStyle(yaml.DeriveSeqIndentStyle(string(text)))})
}

// encode writes the file again. One that would come out otherwise even without a change
// is refused.
func (m *Manifest) encode() ([]byte, error) {
	text, err := m.files.read(m.Path)
	if err != nil {
		return nil, err
	}
	plain, err := m.files.open(m.Path, m.ref())
	if err != nil {
		return nil, err
	}
	var before, after bytes.Buffer
	if err := errors.Join(emit.Stream(&before, plain.all, stage.Limits{}), emit.Stream(&after, m.all, stage.Limits{})); err != nil {
		return nil, err
	}
	if filepath.Ext(m.Path) == ".json" || strings.TrimSpace(before.String()) != strings.TrimSpace(string(text)) {
		return nil, &resource.Error{File: m.Path, Err: errors.New("cannot be written back without changing more than the object"), Hint: "one YAML document for each object can; a List only where values change that are there; JSON cannot"}
	}
	return after.Bytes(), nil
}

// setPartition sets the final partition where the manifest has one, or where it is
// not the default: in a patch over the manifest, if that has one.
func (m *Manifest) setPartition(n, v *tree.Node) {
	path := plan.PartitionPath(m.object.Group(), m.object.Kind(), m.object.Version())
	if path == nil {
		return
	}
	if v == nil {
		v = tree.Int64(0)
	}
	for _, k := range m.layers {
		for _, d := range k.patches {
			if has := tree.Get(d.root, path...); has != nil {
				tree.SetAt(d.root, remarked(has, tree.Clone(v)), path...)
				return
			}
		}
	}
	has := tree.Get(n, path...)
	if has == nil && tree.Str(v) == "0" || has != nil && tree.Equal(has, v) {
		return
	}
	tree.SetAt(n, remarked(has, tree.Clone(v)), path...)
}
