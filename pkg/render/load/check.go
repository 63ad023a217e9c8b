package load

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Check refuses what no API server would take for an object: what the engine
// goes by (apiVersion, kind and metadata) must be there and of its type.
func Check(r *resource.Resource) error {
	if !tree.IsMap(r.Node()) {
		return r.Fault("", "a manifest begins with apiVersion and kind", "the document is %s, no object", shape(r.Node()))
	}
	var errs resource.Errors
	kind := tree.StrAt(r.Node(), "kind")
	if kind == "Kustomization" && strings.HasPrefix(r.APIVersion(), "kustomize.config.k8s.io/") {
		return r.Fault("", "use -k with its directory", "it is a kustomization, which -f does not build")
	}
	errs.Add(required(r, "apiVersion", "such as apiVersion: apps/v1"))
	errs.Add(required(r, "kind", "such as kind: Deployment"))
	if strings.Count(r.APIVersion(), "/") > 1 {
		errs.Add(r.Fault("apiVersion", "write group/version, or version for the core group", "has more than one slash"))
	}
	errs.Add(metadata(r))
	return errs.Err()
}

func required(r *resource.Resource, field, example string) error {
	n := tree.Get(r.Node(), field)
	switch {
	case n == nil || tree.IsScalar(n) && n.Value == "":
		return r.Fault(field, example, "is missing")
	case !isText(n):
		return r.Fault(field, quote(n), "is %s, want text", shape(n))
	}
	return nil
}

func metadata(r *resource.Resource) error {
	m := tree.Get(r.Node(), "metadata")
	if m == nil {
		var keys []string
		tree.Each(r.Node(), func(key, _ *tree.Node) { keys = append(keys, key.Value) })
		if key := tree.Nearest("metadata", slices.Values(keys)); key != "" {
			return r.Fault(key, "did you mean metadata?", "unknown field")
		}
		return r.Fault("metadata", "add metadata with a name", "is missing")
	}
	if !tree.IsMap(m) {
		return r.Fault("metadata", "", "is %s, want an object", shape(m))
	}
	var errs resource.Errors
	errs.Add(name(r, m))
	if ns := tree.Get(m, "namespace"); ns != nil && !isText(ns) {
		errs.Add(r.Fault("metadata.namespace", quote(ns), "is %s, want text", shape(ns)))
	}
	errs.Add(checkTexts(r, "labels"))
	errs.Add(checkTexts(r, "annotations"))
	return errs.Err()
}

// name checks metadata.name, or generateName in its place, as the API server checks it for every
// kind: it must be usable in a URL.
func name(r *resource.Resource, m *tree.Node) error {
	field, n := "metadata.name", tree.Get(m, "name")
	if n == nil {
		field, n = "metadata.generateName", tree.Get(m, "generateName")
	}
	switch {
	case n == nil || tree.IsScalar(n) && n.Value == "":
		return r.Fault("metadata.name", "give the object a name (or generateName)", "is missing")
	case !isText(n):
		return r.Fault(field, quote(n), "is %s, want text", shape(n))
	case n.Value == "." || n.Value == ".." || strings.ContainsAny(n.Value, "/%"):
		return r.Fault(field, "use lower-case letters, digits, - and .", "may not be . or .. and may not hold / or %%")
	}
	return nil
}

// checkTexts checks a mapping of text to text. Values are not repeated in messages:
// an annotation can hold a Secret's last applied configuration.
func checkTexts(r *resource.Resource, field string) error {
	path := "metadata." + field
	m := tree.Get(r.Node(), "metadata", field)
	if m == nil {
		return nil
	}
	if !tree.IsMap(m) {
		return r.Fault(path, "write it as key: value lines", "is %s, want an object", shape(m))
	}
	var errs resource.Errors
	tree.Each(m, func(k, v *tree.Node) {
		if !tree.IsNull(v) && !isText(v) {
			errs.Add(r.Fault(path+"["+k.Value+"]", quote(v), "is %s, want text", shape(v)))
		}
	})
	return errs.Err()
}

// isText reports whether Kubernetes' readers take n for a string. They read
// YAML 1.1, to which a bare yes is a boolean; dates are text to them.
func isText(n *tree.Node) bool {
	if tree.OldBool(n) {
		return false
	}
	return tree.IsString(n) || tree.IsScalar(n) && n.ShortTag() == "!!timestamp"
}

func quote(n *tree.Node) string {
	if tree.IsScalar(n) && !tree.IsNull(n) {
		return "put the value in quotes"
	}
	return ""
}

// shape names what n is, for messages.
func shape(n *tree.Node) string {
	switch {
	case tree.IsMap(n):
		return "a mapping"
	case tree.IsSeq(n):
		return "a list"
	case tree.OldBool(n):
		return "a boolean"
	}
	switch n.ShortTag() {
	case yaml.NodeTagInt, yaml.NodeTagFloat:
		return "a number"
	case yaml.NodeTagBool:
		return "a boolean"
	case yaml.NodeTagString:
		return "text"
	}
	return "a " + strings.TrimLeft(n.ShortTag(), "!") + " value"
}
