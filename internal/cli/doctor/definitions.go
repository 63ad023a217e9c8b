package doctor

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// definitions looks into Kruise's custom resource definitions for what discovery does
// not tell: that one is not established, or holds objects in a version it no longer has.
func (p *patient) definitions(ctx context.Context) []verdict.Line {
	list, err := p.objects.Resource(definitions).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []verdict.Line{verdict.Odd("definitions", "", "cannot be read: %v", err)}
	}
	var lines []verdict.Line
	n := 0
	for _, crd := range list.Items {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		if group != kruise.Group && group != kruise.PolicyGroup {
			continue
		}
		n++
		for _, fault := range faults(crd.Object) {
			lines = append(lines, verdict.Bad("definitions", "install Kruise's definitions of one release, all of them", "%s: %s", crd.GetName(), fault))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, verdict.Good("definitions", "%d are established", n))
	}
	return lines
}

// faults are those of one definition.
func faults(crd map[string]any) []string {
	var out []string
	if !established(crd) {
		out = append(out, "is not established")
	}
	var has []string
	versions, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
	for _, v := range versions {
		if m, ok := v.(map[string]any); ok {
			has = append(has, fmt.Sprint(m["name"]))
		}
	}
	stored, _, _ := unstructured.NestedStringSlice(crd, "status", "storedVersions")
	for _, v := range stored {
		if !slices.Contains(has, v) {
			out = append(out, "objects are stored as "+v+", which it no longer has")
		}
	}
	if strategy, _, _ := unstructured.NestedString(crd, "spec", "conversion", "strategy"); strategy == "None" && len(has) > 1 && out == nil && renames(crd) {
		out = append(out, "has several versions and no conversion between them")
	}
	return out
}

// renames reports whether the kind's versions have one field under different names. Kruise
// ships the definitions of other kinds without conversion, and they need none.
func renames(crd map[string]any) bool {
	group, _, _ := unstructured.NestedString(crd, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd, "spec", "names", "kind")
	known, ok := kruise.Lookup(group, kind)
	return !ok || known.Renames
}

func established(crd map[string]any) bool {
	conditions, _, _ := unstructured.NestedSlice(crd, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == "Established" && m["status"] == "True"
	})
}
