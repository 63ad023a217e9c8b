package load

import (
	"strings"
	"testing"
)

// TestKustomize_ErrorsKeepSecrets: no error of kustomize repeats what may be a value
// of a Secret.
func TestKustomize_ErrorsKeepSecrets(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {x: MARKED}\n"
	tests := map[string]struct {
		kustomization, file, want string
	}{
		"literal":           {"secretGenerator:\n- name: a\n  literals: [a=MARKED, 'MARKED]: ']\n", "", "expected key=value"},
		"env file":          {"secretGenerator:\n- name: a\n  envs: [a.yaml]\n", "A=MARKED\xff\n", "a line is not UTF-8 text"},
		"broken patch":      {"resources: [a.yaml]\npatches:\n- patch: '{\"MARKED\": \"MARKED`'\n", secret, "unable to parse"},
		"patch and path":    {"resources: [a.yaml]\npatches:\n- {path: b.yaml, patch: 'a: MARKED'}\n", secret, "can't be set at the same time"},
		"patch of two":      {"resources: [a.yaml]\npatches:\n- {target: {kind: Secret, name: a}, options: {allowNameChange: MARKED}, patch: 'a: MARKED'}\n", secret, ""},
		"patch without aim": {"resources: [a.yaml]\npatches:\n- patch: '[{\"op\": \"add\", \"path\": \"/a\", \"value\": \"MARKED\"}]'\n", secret, "must specify a target"},
		"old patch":         {"resources: [a.yaml]\npatchesJson6902:\n- {target: {kind: Secret, name: a, version: v1}, patch: '[{\"op\": 1, \"value\": \"MARKED\"}'}\n", secret, "decoding the patch"},
		"wrong kind":        {"resources: [a.yaml]\npatches:\n- patch: '{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {x: {y: z}}}'\n", secret, ""},
		"index":             {"resources: [a.yaml]\nreplacements: [{source: {kind: Secret, fieldPath: stringData.x, options: {delimiter: '/', index: 9}}, targets: [{select: {kind: Secret}, fieldPaths: [metadata.name]}]}]\n", secret, "out of bounds"},
		"no name":           {"resources: [a.yaml]\n", "apiVersion: v1\nkind: Secret\nmetadata: {annotations: {a: MARKED}}\n", "missing metadata.name"},
		"alias":             {"resources: [a.yaml]\n", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: *MARKED}\n", "unknown anchor"},
		"text":              {"resources: [a.yaml]\n", "MARKED\n", "missing Resource metadata"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := Files(t, map[string]string{"kustomization.yaml": tc.kustomization, "a.yaml": tc.file})
			_, err := Kustomize(dir)
			if err == nil {
				t.Fatal("no error")
			}
			if msg := err.Error(); strings.Contains(msg, "MARKED") || strings.Contains(msg, "65 82 75") || !strings.Contains(msg, tc.want) {
				t.Errorf("got %q, want %q and no value", msg, tc.want)
			}
		})
	}
}

// TestWithoutQuotations_MasksEachQuotation: errors that kustomize has and no small build provokes.
func TestWithoutQuotations_MasksEachQuotation(t *testing.T) {
	for msg, want := range map[string]string{
		"empty item at [data l] in object map[data:map[x:MARKED]]":                                                      "empty item at [data l]",
		"expected 1 resource, found 2 in MARKED":                                                                        "expected 1 resource, found 2",
		"validator shouldn't modify the resource map: nodes unequal:\nMARKED":                                           "validator shouldn't modify the resource map",
		"map[string]interface {}{\"x\":\"MARKED: \"}: no such kind":                                                     "no such kind",
		"wrong Node Kind for data expected: MappingNode was ScalarNode: value: {MARKED}":                                "wrong Node Kind for data expected: MappingNode was ScalarNode",
		"trouble configuring builtin P with config: `\na: MARKED\n`: patch appears to be empty; files=[], Patch=MARKED": "trouble configuring builtin P with its config: patch appears to be empty",
	} {
		if got := withoutQuotations(msg); got != want {
			t.Errorf("masked(%q) = %q, want %q", msg, got, want)
		}
	}
}

// TestKustomize_ErrorsKeepWordsOfLibraries: what is neither a value nor a name of the input stays in a
// message: calls of the system, and plugins of kustomize.
func TestKustomize_ErrorsKeepWordsOfLibraries(t *testing.T) {
	for kustomization, want := range map[string]string{
		"configurations: [does-not-exist.yaml]\n":                                                      "does-not-exist.yaml: no such file or directory",
		"helmGlobals: {chartHome: .}\nhelmCharts:\n- {releaseName: a, name: chart, version: v1.0.0}\n": "trouble configuring builtin HelmChartInflationGenerator with its config: must specify --enable-helm",
	} {
		_, err := Kustomize(Files(t, map[string]string{"kustomization.yaml": kustomization}))
		if err == nil || strings.Contains(err.Error(), "***") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q and nothing masked", err, want)
		}
	}
}
