package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// made is everything that reflection makes, once for the program. Nobody may
// change it.
type made struct {
	// kinds are by group/version and kind.
	kinds map[[2]string]*Schema
	// shared are Kubernetes' types.
	shared Definitions
}

var all = sync.OnceValues(func() (made, error) {
	m := made{kinds: map[[2]string]*Schema{}, shared: Definitions{}}
	r := &reader{definitions: m.shared}
	for _, k := range kruise.Kinds() {
		newest, err := r.kind(k)
		if err != nil {
			return made{}, err
		}
		m.kinds[[2]string{k.Group + "/" + k.Newest(), k.Kind}] = newest
		if len(k.Versions) == 1 {
			continue
		}
		older, err := derived(k, newest)
		if err != nil {
			return made{}, fmt.Errorf("%s: %w", k.Kind, err)
		}
		m.kinds[[2]string{k.Group + "/" + k.Versions[0], k.Kind}] = older
	}
	return m, nil
})

// kind is the schema of a kind in its newest version.
func (r *reader) kind(k kruise.Registered) (*Schema, error) {
	s := &Schema{
		Type: "object", Description: describe(k.Type)[""], Required: []string{"apiVersion", "kind", "metadata", "spec"},
		Properties: map[string]*Schema{
			"apiVersion": {Type: "string"}, "kind": {Type: "string"}, "metadata": r.of(reflect.TypeFor[metav1.ObjectMeta]()),
		},
	}
	for _, name := range []string{"Spec", "Status"} {
		f, ok := k.Type.FieldByName(name)
		if !ok {
			return nil, fmt.Errorf("%s has no field %s", k.Kind, name)
		}
		s.Properties[strings.ToLower(name)] = r.of(f.Type)
	}
	optionalBelow(s.Properties["status"])
	for _, path := range ownSelector[k.Kind] {
		spec := s.at(strings.Split(path, "."))
		whole := *r.definitions[strings.TrimPrefix(spec.Ref, prefix)]
		whole.Required = slices.DeleteFunc(slices.Clone(whole.Required), func(name string) bool { return name == "selector" })
		*spec = whole
	}
	for path, key := range mergeKeys[k.Kind] {
		list := s.at(strings.Split(path, "."))
		if list == nil || list.Type != "array" {
			return nil, fmt.Errorf("%s has no list %s", k.Kind, path)
		}
		list.PatchStrategy, list.PatchMergeKey = "merge", key
	}
	return s, nil
}

// ownSelector are specs of Kubernetes' workloads that get their selector from the
// object around them (docs/kruise/sidecarset.md#observed-on-a-cluster).
var ownSelector = map[string][]string{
	kruise.KindUnitedDeployment: {"spec.template.statefulSetTemplate.spec", "spec.template.deploymentTemplate.spec"},
}

// optionalBelow takes away what a status requires: it is written bit by bit.
func optionalBelow(s *Schema) {
	s.Required = nil
	s.each(func(_ string, child *Schema) { optionalBelow(child) })
}
