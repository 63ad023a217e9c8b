package kruise_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestPatchTemplate(t *testing.T) {
	const template = "{spec: {containers: [{name: web, image: a}]}}"
	for _, c := range []struct{ name, patch, want, err string }{
		{"by name", "{spec: {containers: [{name: web, env: [{name: A, value: b}]}]}}", "{spec: {containers: [{name: web, image: a, env: [{name: A, value: b}]}]}}", ""},
		{"nothing", "{}", template, ""},
		{"without a name", "{spec: {containers: [{image: secret}]}}", "", "no name"},
		{"odd name", "{spec: {containers: [{name: [x]}]}}", "", "neither text nor number"},
		{"other type", "{spec: {containers: [web]}}", "", "another type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := func(text string) map[string]any { return tree.Value(parse(t, text)).(map[string]any) }
			got, err := kruise.PatchTemplate(read(template), read(c.patch))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if diff := cmp.Diff(read(c.want), got); err != nil || diff != "" {
				t.Errorf("%v -want +got\n%s", err, diff)
			}
		})
	}
}
