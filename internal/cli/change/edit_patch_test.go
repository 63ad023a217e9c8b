package change

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func editObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestEdit_PatchHoldsOnlyDifferences: what differs and nothing else, each upon what was read.
func TestEdit_PatchHoldsOnlyDifferences(t *testing.T) {
	const head = `"metadata": {"uid": "u", "resourceVersion": "4"}`
	for name, c := range map[string]struct {
		before, after, want string
		pinned              bool
	}{
		"nothing": {before: `{` + head + `, "spec": {"a": 1}}`, after: `{` + head + `, "spec": {"a": 1}}`, want: `[]`},
		"a field": {
			before: `{` + head + `, "spec": {"a": 1, "b": 2}}`, after: `{` + head + `, "spec": {"a": 3, "b": 2}}`,
			want: `[{"op":"test","path":"/spec/a","value":1},{"op":"add","path":"/spec/a","value":3}]`,
		},
		"a new one": {
			before: `{` + head + `}`, after: `{` + head + `, "spec": {"a": 3}}`,
			want: `[{"op":"test","path":"/spec","value":null},{"op":"add","path":"/spec","value":{"a":3}}]`,
		},
		"one less, with a name that needs care": {
			before: `{` + head + `, "labels": {"x.io/a~b": "1"}}`, after: `{` + head + `, "labels": {}}`,
			want: `[{"op":"test","path":"/labels/x.io~1a~0b","value":"1"},{"op":"remove","path":"/labels/x.io~1a~0b","value":null}]`,
		},
		"a list as a whole": {
			before: `{` + head + `, "spec": [{"a": 1}, {"b": 1}]}`, after: `{` + head + `, "spec": [{"a": 1}, {"b": 2}]}`,
			want: `[{"op":"test","path":"/spec","value":[{"a":1},{"b":1}]},{"op":"add","path":"/spec","value":[{"a":1},{"b":2}]}]`,
		},
		"in a version": {
			before: `{` + head + `}`, after: `{"metadata": {"uid": "u", "resourceVersion": "7"}}`, pinned: true,
			want: `[{"op":"add","path":"/metadata/resourceVersion","value":"7"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := &edit{Pinned: c.pinned}
			ops := v.difference(editObject(t, c.before), editObject(t, c.after))
			if diff := cmp.Diff(patchOperation{"test", "/metadata/uid", "u"}, ops[0]); diff != "" {
				t.Error(diff)
			}
			got, err := json.Marshal(ops[1:])
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}
