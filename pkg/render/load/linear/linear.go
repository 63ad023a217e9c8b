// Package linear builds kustomizations in linear time. Kustomize itself compares
// every object with every other, several times per layer, and works each identity
// out again from the object; 5,000 objects take it more than a minute. Here the
// same plugins of kustomize run over a collection that has an index of
// identities.
//
// It builds only what it can build to the same bytes. All else, and every
// kustomization in which it finds a fault, it leaves to kustomize: it has no
// errors of its own for users. It knows files only through the file system that it
// is given, opens no connection and runs nothing.
package linear

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	ours "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Built is what a build prints.
type Built struct {
	// Text is the stream of objects, as `kustomize build` prints it.
	Text []byte
	// Sources are where the objects of Text come from, in their order.
	Sources []Source
	// Warnings are the lines that kustomize writes to standard error.
	Warnings []string
}

// Source is where an object comes from.
type Source struct {
	// File is the real path of the file that the object was read from, "" where that is not known.
	// Of what was generated it is the file with the generator.
	File string
	// Generator is the kind of what generated the object, "" for none.
	Generator string
	// Names are all that the object was ever called, in their order.
	Names []string
}

// Build builds the kustomization in dir, with the fields of configuration added to kustomize's own
// in every layer. An error is why it is left to kustomize.
//
// The schema of kustomize must be the caller's for as long as it runs.
func Build(disk filesys.FileSystem, dir string, configuration []byte) (out Built, err error) {
	return Reported(disk, dir, configuration, nil)
}

// Reported is [Build], and says how much of it is done.
func Reported(disk filesys.FileSystem, dir string, configuration []byte, progress ours.Progress) (out Built, err error) {
	return build(disk, dir, configuration, &room{maxAdded}, progress)
}

// Unbounded is [Build] without a bound of memory, for a process that has one: what Build
// leaves with [ErrLarge], it builds.
func Unbounded(disk filesys.FileSystem, dir string, configuration []byte) (out Built, err error) {
	return build(disk, dir, configuration, nil, nil)
}

func build(disk filesys.FileSystem, dir string, configuration []byte, room *room, progress ours.Progress) (out Built, err error) {
	defer recovered(&err)
	f, err := fieldsWith(configuration)
	if err != nil {
		return out, err
	}
	root, err := rooted(disk, dir)
	if err != nil {
		return out, err
	}
	deps := provider.NewDepProvider()
	b := &builder{fields: f, validator: deps.GetFieldValidator(), factory: resmap.NewFactory(deps.GetResourceFactory()), room: room, sources: map[*resource.Resource]Source{}}
	all := newSet()
	order, err := b.outermost(root, all, progress.Within(0, layered))
	if err != nil {
		return out, err
	}
	out.Warnings = b.warnings
	out.Text, err = finished(all, f, order, room, progress.Within(layered, 1))
	for _, e := range all.entries {
		source := b.sources[e.Resource]
		for _, id := range e.ids {
			source.Names = append(source.Names, id.Name)
		}
		out.Sources = append(out.Sources, source)
	}
	return out, err
}

// layered is which part of the work is done when all layers are built, referred which part of the rest when
// references are.
const layered, referred = .3, .2

// recovered turns a panic of kustomize's libraries into a reason to leave the
// build to kustomize.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
}

// outermost builds the layer that the user named, and returns the order of the objects.
func (b *builder) outermost(root *folder, objects *set, progress ours.Progress) (*types.SortOptions, error) {
	l, err := b.layer(root)
	if err != nil {
		return nil, err
	}
	if err := l.build(objects, progress); err != nil {
		return nil, err
	}
	return l.kustomization.SortOptions, l.hash(objects)
}

// finished does what is done once, when all layers are built.
func finished(objects *set, f *fields, order *types.SortOptions, room *room, progress ours.Progress) ([]byte, error) {
	if err := objects.refer(f.NameReference, progress.Within(0, referred)); err != nil {
		return nil, err
	}
	if err := objects.dropLocal(); err != nil {
		return nil, err
	}
	if order == nil || order.Order == types.LegacySortOrder {
		objects.sort()
	}
	if err := room.admitPrinted(objects); err != nil {
		return nil, err
	}
	return objects.print(progress.Within(referred, 1))
}
