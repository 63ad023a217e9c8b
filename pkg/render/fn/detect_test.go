package fn

import (
	"strings"
	"testing"
)

func TestIsResourceList(t *testing.T) {
	tests := map[string]struct {
		text string
		want bool
	}{
		"kustomize":       {"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n", true},
		"beta":            {"apiVersion: config.kubernetes.io/v1beta1\nkind: ResourceList\n", true},
		"kind first":      {"kind: ResourceList\napiVersion: config.kubernetes.io/v1\n", true},
		"quoted":          {"\"apiVersion\": \"config.kubernetes.io/v1\"\n\"kind\": 'ResourceList'\n", true},
		"comments":        {"# a\n---\napiVersion: config.kubernetes.io/v1 # b\nkind: ResourceList # c\n", true},
		"windows":         {"apiVersion: config.kubernetes.io/v1\r\nkind: ResourceList\r\n", true},
		"byte order mark": {"\ufeffapiVersion: config.kubernetes.io/v1\nkind: ResourceList\n", true},
		"json":            {`{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[]}`, true},
		"spread json":     {"\n{\n \"kind\": \"ResourceList\",\n \"apiVersion\": \"config.kubernetes.io/v1\"", true},
		"flow":            {"{apiVersion: config.kubernetes.io/v1, kind: ResourceList}", true},
		"cut":             {"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVer", true},
		"nothing":         {"", false},
		"another kind":    {"apiVersion: config.kubernetes.io/v1\nkind: Pipeline\n", false},
		"another group":   {"apiVersion: v1\nkind: ResourceList\n", false},
		"a list":          {"apiVersion: v1\nkind: List\nitems:\n- kind: ResourceList\n  apiVersion: config.kubernetes.io/v1\n", false},
		"longer kind":     {"apiVersion: config.kubernetes.io/v1\nkind: ResourceLists\n", false},
		"in a text":       {"apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    kind: ResourceList\n    apiVersion: config.kubernetes.io/v1\n", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := IsResourceList([]byte(tc.text)); got != tc.want {
				t.Errorf("got %v", got)
			}
			if tc.want && !strings.Contains(tc.text, "- apiVer") && !strings.Contains(name, "spread") {
				if _, err := parse([]byte(strings.TrimSuffix(tc.text, "\n") + "\n")); err != nil && !strings.Contains(err.Error(), "items") {
					t.Errorf("detected, but not readable: %v", err)
				}
			}
		})
	}
}
