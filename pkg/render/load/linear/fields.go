package linear

import (
	"slices"
	"sort"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
)

// fields are the fields that transformers change: kustomize's own configuration
// of its transformers, as far as it is needed here.
type fields struct {
	NamePrefix                types.FsSlice `json:"namePrefix"`
	NameSuffix                types.FsSlice `json:"nameSuffix"`
	Namespace                 types.FsSlice `json:"namespace"`
	CommonLabels              types.FsSlice `json:"commonLabels"`
	TemplateLabels            types.FsSlice `json:"templateLabels"`
	VolumeClaimTemplateLabels types.FsSlice `json:"volumeClaimTemplateLabels"`
	CommonAnnotations         types.FsSlice `json:"commonAnnotations"`
	Images                    types.FsSlice `json:"images"`
	Replicas                  types.FsSlice `json:"replicas"`
	NameReference             references    `json:"nameReference"`
}

// reference is a kind, and the fields that name objects of it.
type reference struct {
	resid.Gvk `json:",inline"`
	Referrers types.FsSlice `json:"fieldSpecs"`
}

// references sort as kustomize sorts them.
type references []reference

func (r references) Len() int           { return len(r) }
func (r references) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r references) Less(i, j int) bool { return r[i].IsLessThan(r[j].Gvk) }

// fieldsWith returns kustomize's own fields and those of a file for the
// "configurations:" of a kustomization.
func fieldsWith(configuration []byte) (*fields, error) {
	both := &fields{}
	for _, text := range [][]byte{kustomize.BuiltIn, configuration} {
		more, err := parseFields(text)
		if err != nil {
			return nil, err
		}
		if err := both.merge(more); err != nil {
			return nil, err
		}
	}
	// A layer is empty before it takes this over.
	layer := &fields{}
	return layer, layer.merge(both)
}

func parseFields(text []byte) (*fields, error) {
	f := &fields{}
	if err := yaml.UnmarshalStrict(text, f); err != nil {
		return nil, err
	}
	f.sort()
	return f, nil
}

// lists are the fields of every transformer but the one of name references.
func (f *fields) lists() []*types.FsSlice {
	return []*types.FsSlice{
		&f.NamePrefix, &f.NameSuffix, &f.Namespace, &f.CommonLabels, &f.TemplateLabels,
		&f.VolumeClaimTemplateLabels, &f.CommonAnnotations, &f.Images, &f.Replicas,
	}
}

func (f *fields) sort() {
	for _, l := range f.lists() {
		sort.Sort(*l)
	}
	sort.Sort(f.NameReference)
}

// merge adds what more has, and fails if it differs about the same field.
func (f *fields) merge(more *fields) (err error) {
	theirs := more.lists()
	for i, l := range f.lists() {
		if *l, err = l.MergeAll(*theirs[i]); err != nil {
			return err
		}
	}
	for _, r := range more.NameReference {
		if err := f.NameReference.merge(r); err != nil {
			return err
		}
	}
	f.sort()
	return nil
}

func (r *references) merge(one reference) (err error) {
	i := slices.IndexFunc(*r, func(have reference) bool { return have.Equals(one.Gvk) })
	if i < 0 {
		*r = append(*r, one)
		return nil
	}
	(*r)[i].Referrers, err = (*r)[i].Referrers.MergeAll(one.Referrers)
	return err
}
