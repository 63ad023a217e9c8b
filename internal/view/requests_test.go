package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// TestRequest_HidesSecrets: a request is shown as it is sent, but for what is secret, wherever
// it stands.
func TestRequest_HidesSecrets(t *testing.T) {
	for _, text := range []string{
		`{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: "hunter2"}}, data: {a: hunter2}, stringData: {b: hunter2}}`,
		`{apiVersion: apps.kruise.io/v1alpha1, kind: ResourceDistribution, spec: {resource: {apiVersion: v1, kind: Secret, data: {a: hunter2}}}}`,
		`{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a, env: [{name: PASSWORD, value: hunter2}], args: [--token, hunter2]}]}}}}`,
	} {
		var body map[string]any
		if err := yaml.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		before, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Requests(&out, "", []event.Request{{Method: "PATCH", Path: "/a", ContentType: "b", Why: "c", Body: body}}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "***") || !strings.Contains(got, "\n1. PATCH /a  b: c\n   apiVersion: ") {
			t.Errorf("%s", got)
		}
		if after, _ := json.Marshal(body); !bytes.Equal(before, after) {
			t.Errorf("what is sent has changed: %s", after)
		}
	}
}

// TestRequest_WritesNumbersAsTheyAre: numbers of any Go type are written as they are.
func TestRequest_WritesNumbersAsTheyAre(t *testing.T) {
	var out bytes.Buffer
	body := []any{map[string]any{"op": "add", "value": map[string]any{"a": 1, "b": int64(2147483647), "c": "50%"}}}
	if err := Requests(&out, "", []event.Request{{Method: "PATCH", Path: "/a", Body: body}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a: 1\n", "b: 2147483647\n", "c: 50%\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out.String())
		}
	}
}

// TestRequestsJSON: one request a line, which its type distinguishes from events, and
// nothing secret in it.
func TestRequestsJSON(t *testing.T) {
	var out bytes.Buffer
	secret := map[string]any{"kind": "Secret", "data": map[string]any{"a": "hunter2"}}
	if err := RequestsJSON(&out, []event.Request{{Method: "POST", Path: "/a", Body: secret}, {Method: "DELETE", Path: "/b"}}); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"request","method":"POST","path":"/a","body":{"data":{"a":"***"},"kind":"Secret"}}
{"type":"request","method":"DELETE","path":"/b"}
`
	if got := out.String(); got != want {
		t.Errorf("%s", got)
	}
}
