package linear

import (
	"bytes"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	ours "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// dropLocal forgets objects that are annotated to be for tools only.
func (s *set) dropLocal() error {
	if err := s.unique(); err != nil {
		return err
	}
	kept := s.entries[:0:0]
	for _, e := range s.entries {
		meta, err := e.GetValidatedMetadata()
		if err != nil {
			return err
		}
		if local, ok := meta.Annotations[konfig.IgnoredByKustomizeAnnotation]; !ok || local == "false" {
			kept = append(kept, e)
		}
	}
	s.entries, s.index = kept, nil
	return nil
}

// sort puts the objects into the order that kustomize calls legacy.
func (s *set) sort() {
	s.fresh()
	slices.SortStableFunc(s.entries, func(a, b *entry) int {
		x, y := a.current(), b.current()
		switch {
		case x.Gvk.Equals(y.Gvk):
			return strings.Compare(ordered(x), ordered(y))
		case before(x.Gvk, y.Gvk):
			return -1
		default:
			return 1
		}
	})
}

// before is true for kinds that belong first. Namespaces of the core group come after those of
// others.
func before(a, b resid.Gvk) bool {
	if a.Kind == types.NamespaceKind && b.Kind == types.NamespaceKind && (a.Group == "" || b.Group == "") {
		return b.IsLessThan(a)
	}
	return a.IsLessThan(b)
}

func ordered(id resid.ResId) string {
	namespace, name := id.Namespace, id.Name
	if namespace == "" {
		namespace = "~X"
	}
	if name == "" {
		name = "~N"
	}
	return id.Gvk.String() + "|" + namespace + "|" + name
}

// print writes the objects as kustomize does, without what it has noted on them.
func (s *set) print(progress ours.Progress) ([]byte, error) {
	texts := make([][]byte, len(s.entries))
	all := stage.New(nil, stage.Options{Progress: progress})
	err := all.Each(len(texts), func(i int) (err error) {
		defer recovered(&err)
		texts[i], err = printed(s.entries[i].Resource)
		return err
	})
	return bytes.Join(texts, []byte("---\n")), err
}

func printed(r *resource.Resource) ([]byte, error) {
	r.RemoveBuildAnnotations()
	if err := r.SetOrigin(nil); err != nil {
		return nil, err
	}
	if err := r.ClearTransformations(); err != nil {
		return nil, err
	}
	return r.AsYAML()
}
