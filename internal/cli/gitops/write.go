package gitops

import (
	"bytes"
	"errors"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
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
	add := func(e edit) error {
		if tree.Equal(e.was, e.now) {
			return nil
		}
		body, err := m.files.edited(e)
		out = append(out, writtenFile{e.path, body})
		return err
	}
	if err := add(edit{m.Path, was, now, m}); err != nil {
		return nil, err
	}
	for _, k := range m.layers {
		for _, d := range slices.Concat([]*document{k.document}, k.patches) {
			if err := add(edit{d.file, d.was, d.now, d}); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// edit is a change of one file.
type edit struct {
	path     string
	was, now *tree.Node
	// of is what the file holds.
	of interface {
		// encode writes a text again as a whole, as it was and as it becomes.
		encode(text []byte) (was, now []byte, err error)
		// isMeantBy reports whether a text means what all of the file should mean after the change.
		isMeantBy(text []byte) bool
	}
}

// edited is the text of a file after a change: with other values in their place if
// that is all, else encoded as a whole. Refused is a file that would come out otherwise even
// without a change, blanks aside, or in which the change would reach another place,
// by an alias or a merge key.
func (f *files) edited(e edit) ([]byte, error) {
	text, err := f.read(e.path)
	if err != nil {
		return nil, err
	}
	if list, ok := changedScalars(e.was, e.now); ok {
		if body, ok := splice(text, list); ok && e.of.isMeantBy(body) {
			return body, nil
		}
	}
	was, now, err := e.of.encode(text)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(withoutBlanks(was), withoutBlanks(text)) || !e.of.isMeantBy(now) {
		return nil, &resource.Error{
			File: e.path, Err: errors.New("cannot be written back without changing more than the object"),
			Hint: "write the change into it by hand. Values are replaced in their place; fields are added and removed in one YAML document for each object, without anchors, aliases, directives and CR line ends, and not in a List or in JSON",
		}
	}
	return now, nil
}

// withoutBlanks is what an encoder has to leave as it was.
func withoutBlanks(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\n' {
			return -1
		}
		return r
	}, text)
}

func (m *Manifest) encode(text []byte) (was, now []byte, err error) {
	plain, err := load.Parse(m.Path, text)
	if err != nil {
		return nil, nil, err
	}
	plain[m.at].Edit()
	var before, after bytes.Buffer
	err = errors.Join(emit.Stream(&before, plain, stage.Limits{}), emit.Stream(&after, m.all, stage.Limits{}))
	return before.Bytes(), after.Bytes(), err
}

func (m *Manifest) isMeantBy(text []byte) bool {
	got, err := load.Parse(m.Path, text)
	return err == nil && slices.EqualFunc(got, m.all, func(a, b *resource.Resource) bool { return tree.Equal(a.Node(), b.Node()) })
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
