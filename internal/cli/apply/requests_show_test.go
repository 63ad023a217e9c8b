package apply

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestRequestText: a request is shown as it is sent, but for what is secret, wherever
// it stands.
func TestRequestText(t *testing.T) {
	for _, text := range []string{
		`{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: "hunter2"}}, data: {a: hunter2}, stringData: {b: hunter2}}`,
		`{apiVersion: apps.kruise.io/v1alpha1, kind: ResourceDistribution, spec: {resource: {apiVersion: v1, kind: Secret, data: {a: hunter2}}}}`,
		`{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a, env: [{name: PASSWORD, value: hunter2}], args: [--token, hunter2]}]}}}}`,
	} {
		body := object(t, text).Object
		before, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := (request{Method: "PATCH", Path: "/a", ContentType: "b", Why: "c", Body: body}).text(&out, 3); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "***") || !strings.HasPrefix(got, "3. PATCH /a  b: c\n   apiVersion: ") {
			t.Errorf("%s", got)
		}
		if after, _ := json.Marshal(body); !bytes.Equal(before, after) {
			t.Errorf("what is sent has changed: %s", after)
		}
	}
}

// TestRequestNumbers: numbers of any Go type are written as they are.
func TestRequestNumbers(t *testing.T) {
	var out bytes.Buffer
	body := []any{map[string]any{"op": "add", "value": map[string]any{"a": 1, "b": int64(2147483647), "c": "50%"}}}
	if err := (request{Method: "PATCH", Path: "/a", Body: body}).text(&out, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a: 1\n", "b: 2147483647\n", "c: 50%\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out.String())
		}
	}
}
