package schema

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// asOf makes the schema of a kind, as JSON-like values, that of a release: without the
// fields that it lacks, with those that went, and with the types that it had.
func (m made) asOf(doc map[string]any, apiVersion, kind string, release kruise.Release) error {
	group, version, _ := strings.Cut(apiVersion, "/")
	if _, ours := kruise.Lookup(group, kind); !ours || release.IsZero() {
		return nil
	}
	if err := m.olderTemplate(doc, version, kind, release); err != nil {
		return err
	}
	for _, h := range kruise.FieldHistories() {
		if h.Kind != kind || h.Version != version || h.Value != "" {
			continue
		}
		change(doc, h, release)
	}
	return nil
}

// olderTemplate gives a cloneSetTemplate the form of CloneSet v1alpha1, where the release
// reads that.
func (m made) olderTemplate(doc map[string]any, version, kind string, release kruise.Release) error {
	if kind != kruise.KindUnitedDeployment || version != kruise.V1alpha1 || release == kruise.Next {
		return nil
	}
	clone := m.kinds[[2]string{kruise.Group + "/" + kruise.V1alpha1, kruise.KindCloneSet}]
	spec, err := plain(clone.Properties["spec"])
	if err != nil {
		return err
	}
	whole := map[string]any{"properties": map[string]any{"spec": spec}}
	if err := m.asOf(whole, kruise.Group+"/"+kruise.V1alpha1, kruise.KindCloneSet, release); err != nil {
		return err
	}
	if template := at(doc, []string{"spec", "template", "cloneSetTemplate"}); template != nil {
		properties, _ := template["properties"].(map[string]any)
		properties["spec"] = spec
	}
	return nil
}

// change does to the schema what one row of the table says.
func change(doc map[string]any, h kruise.FieldHistory, release kruise.Release) {
	steps := strings.Split(h.Path, ".")
	parent := at(doc, steps[:len(steps)-1])
	if parent == nil {
		return // it lies in a type of Kubernetes'
	}
	properties, _ := parent["properties"].(map[string]any)
	name := strings.TrimRight(steps[len(steps)-1], "[]{}")
	switch {
	case !h.Has(release):
		delete(properties, name)
		if required, ok := parent["required"].([]any); ok {
			parent["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == name })
		}
	case h.Has(release) && !h.Has(kruise.Next) && properties[name] == nil && properties != nil && strings.HasSuffix(name, "Seconds"):
		properties[name] = map[string]any{"type": "integer", "format": "int32"}
	case wasInteger(h, release):
		if s := at(doc, steps); s != nil {
			clear(s)
			s["type"] = "integer"
		}
	}
}

// wasInteger reports that the release takes a whole number where later ones take text, too.
func wasInteger(h kruise.FieldHistory, release kruise.Release) bool {
	since, what, _ := strings.Cut(h.Changes, ": ")
	first, err := kruise.ParseRelease(since)
	return err == nil && what == "type integer→-" && release.Before(first)
}

// at is the schema that a path with [] and {} leads to; nil where there is none.
func at(s map[string]any, steps []string) map[string]any {
	for _, step := range steps {
		name := strings.TrimRight(step, "[]{}")
		properties, _ := s["properties"].(map[string]any)
		s, _ = properties[name].(map[string]any)
		for brackets := step[len(name):]; brackets != "" && s != nil; brackets = brackets[2:] {
			key := map[string]string{"[]": "items", "{}": "additionalProperties"}[brackets[:2]]
			s, _ = s[key].(map[string]any)
		}
		if s == nil {
			return nil
		}
	}
	return s
}
