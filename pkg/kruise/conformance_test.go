package kruise_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestConformance_Conversion(t *testing.T) {
	conformance.Area(t, "conversion", func(_ *testing.T, c conformance.Case) error {
		input, err := object(c, "input.yaml")
		if err != nil {
			return err
		}
		want, err := object(c, "converted.yaml")
		if err != nil {
			return err
		}
		back, err := object(c, "back.yaml")
		if err != nil {
			return err
		}
		return trip(input, want, back)
	})
}

// trip converts input to the version of want and back again. What the recorded
// trip loses must be named in our losses.
func trip(input, want, back *tree.Node) error {
	there, lostThere, err := to(input, version(want))
	if err != nil {
		return err
	}
	if err := conformance.Different("the other version", conformance.Diff(meaning(want), encoded(there, want))); err != nil {
		return err
	}
	again, lostBack, err := to(there, version(back))
	if err != nil {
		return err
	}
	if err := conformance.Different("the way back", conformance.Diff(meaning(back), encoded(again, back))); err != nil {
		return err
	}
	lost := slices.Concat(lostThere, lostBack)
	for _, path := range gone("", meaning(input), meaning(back)) {
		if !reported(lost, path) && !respelt(path, input, back) {
			return fmt.Errorf("%s is lost on the way and not reported: %v", path, lost)
		}
	}
	return nil
}

// reported reports whether a loss names the path, something above it or, for a
// list, something in it.
func reported(lost []kruise.Loss, path string) bool {
	return slices.ContainsFunc(lost, func(l kruise.Loss) bool {
		at := dotted.Replace(l.Path)
		return strings.HasPrefix(at, path) || strings.HasPrefix(path, at)
	})
}

// respelt reports the one namespace of a SidecarSet, which comes back as a
// selector of the same meaning (docs/kruise/sidecarset.md#v1alpha1-and-v1beta1).
func respelt(path string, input, back *tree.Node) bool {
	return path == "spec.namespace" &&
		tree.StrAt(input, "spec", "namespace") == tree.StrAt(back, "spec", "namespaceSelector", "matchLabels", kruise.NamespaceNameLabel)
}

// encoded is the meaning of ours without what the recording lacks because Go's
// encoder leaves it out: a field that was stated as false, 0 or "".
func encoded(ours, recorded *tree.Node) map[string]any {
	out := meaning(ours)
	leaveOutZeros(out, meaning(recorded))
	return out
}

// unsaid reports a value that Go's encoder may leave out.
func unsaid(v any) bool { return v == false || v == int64(0) || v == "" }

func leaveOutZeros(ours, recorded any) {
	switch o := ours.(type) {
	case map[string]any:
		r, _ := recorded.(map[string]any)
		for key, v := range o {
			if _, there := r[key]; !there && unsaid(v) {
				delete(o, key)
				continue
			}
			leaveOutZeros(v, r[key])
		}
	case []any:
		r, _ := recorded.([]any)
		for i := range min(len(o), len(r)) {
			leaveOutZeros(o[i], r[i])
		}
	}
}

// to uses the function that suits the direction, to prove both.
func to(n *tree.Node, version string) (*tree.Node, []kruise.Loss, error) {
	if version == kruise.V1beta1 {
		return kruise.ToHub(n)
	}
	return kruise.FromHub(n, version)
}

func version(n *tree.Node) string {
	_, v, _ := strings.Cut(tree.StrAt(n, "apiVersion"), "/")
	return v
}

func object(c conformance.Case, file string) (*tree.Node, error) {
	data, err := c.Read(file)
	if err != nil {
		return nil, err
	}
	var n tree.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		return nil, err
	}
	return tree.Root(&n), nil
}

// meaning is the object without what carries no meaning: the recorder's zero
// status and the empty values that Go's encoder writes.
func meaning(n *tree.Node) map[string]any {
	m, _ := withoutEmpty("", tree.Value(n)).(map[string]any)
	return m
}

func withoutEmpty(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if item = withoutEmpty(path+"."+key, item); item == nil {
				delete(v, key)
			} else {
				v[key] = item
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(path, v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case int64, string:
		if strings.HasPrefix(path, ".status.") && (v == int64(0) || v == "") {
			return nil
		}
	case bool:
		if !v && strings.HasSuffix(path, ".enablePVCReuse") {
			return nil
		}
	}
	return v
}

// gone lists the paths that before has and after has not, or has otherwise.
func gone(path string, before, after any) []string {
	b, ok := before.(map[string]any)
	if !ok {
		if conformance.Diff(before, after) != "" && (after != nil || !unsaid(before)) {
			return []string{path}
		}
		return nil
	}
	a, _ := after.(map[string]any)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(b)) {
		out = append(out, gone(strings.TrimPrefix(path+"."+key, "."), b[key], a[key])...)
	}
	return out
}

// TestConformance_ComparisonIsStrict: the comparison with recorded conversions lets pass what they leave
// open, and nothing else.
func TestConformance_ComparisonIsStrict(t *testing.T) {
	const alpha, beta = kruise.V1alpha1, kruise.V1beta1
	for _, tc := range []struct {
		name, kind, from, to, input, want, back, complaint string
	}{
		{
			"one namespace comes back as a selector", "SidecarSet", alpha, beta, `{spec: {namespace: shop}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`, "",
		},
		{
			"one namespace beside a selector", "SidecarSet", alpha, beta, `{spec: {namespace: shop, namespaceSelector: {matchLabels: {a: b}}}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`,
			`{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`, "",
		},
		{"a stated false is left out", "DaemonSet", alpha, beta, `{spec: {updateStrategy: {rollingUpdate: {paused: false, partition: 1}}}}`, `{spec: {updateStrategy: {rollingUpdate: {partition: 1}}}}`, `{spec: {updateStrategy: {rollingUpdate: {partition: 1}}}}`, ""},
		{"a true is not", "DaemonSet", alpha, beta, `{spec: {updateStrategy: {rollingUpdate: {paused: true}}}}`, `{}`, `{}`, "the other version differs"},
		{"in a list of a mapping", "NodeImage", beta, alpha, `{spec: {images: {a: {pullSecrets: [{name: s, mode: batch}]}}}}`, `{spec: {images: {a: {pullSecrets: [{name: s}]}}}}`, `{spec: {images: {a: {pullSecrets: [{name: s}]}}}}`, ""},
		{"a loss that is not reported", "DaemonSet", alpha, beta, `{spec: {minReadySeconds: 5}}`, `{spec: {minReadySeconds: 5}}`, `{spec: {}}`, "the way back differs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := trip(written(t, tc.kind, tc.from, tc.input), written(t, tc.kind, tc.to, tc.want), written(t, tc.kind, tc.from, tc.back))
			if (err == nil) != (tc.complaint == "") || err != nil && !strings.Contains(err.Error(), tc.complaint) {
				t.Errorf("%v, want %q", err, tc.complaint)
			}
		})
	}
}
