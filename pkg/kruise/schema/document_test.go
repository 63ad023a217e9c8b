package schema_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/schema"
)

// compiled holds every schema once it was asked for.
var compiled = map[string]*jsonschema.Schema{}

// validate holds an object against the schema that it names; the compiler holds
// the schema against its own draft.
func validate(t *testing.T, text string, opt schema.Options) error {
	t.Helper()
	var object struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		return err
	}
	key := fmt.Sprint(object, opt)
	if compiled[key] == nil {
		b, err := schema.JSON(object.APIVersion, object.Kind, opt)
		if err != nil {
			return err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///kind.json", doc); err != nil {
			t.Fatal(err)
		}
		if compiled[key], err = c.Compile("mem:///kind.json"); err != nil {
			t.Fatal(err)
		}
	}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return err
	}
	return compiled[key].Validate(v)
}

const good = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, creationTimestamp: null}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, partition: 20%, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: "example.com/c:1", env: null, resources: {limits: {cpu: 1, memory: 1Gi}}, ports: [{containerPort: 80}]}
`

func TestDocument_AcceptsAndRefuses(t *testing.T) {
	tests := map[string]struct{ from, to, want string }{
		"good":           {"", "", ""},
		"older":          {"v1beta1", "v1alpha1", "rollingUpdate"},
		"a typo":         {"replicas:", "replica:", "'replica' not allowed"},
		"deep typo":      {"ports:", "portz:", "'portz' not allowed"},
		"wrong type":     {"replicas: 3", "replicas: many", "/spec/replicas"},
		"unknown value":  {"InPlaceIfPossible", "InPlace", "value must be one of"},
		"no selector":    {"selector: {matchLabels: {app: web}}", "minReadySeconds: 1", "missing property 'selector'"},
		"no name":        {"name: c,", "", "missing property 'name'"},
		"other kind":     {"image: \"example.com/c:1\"", "image: 1", "/image"},
		"null container": {"- {name", "- null\n      - {name", "got null"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := validate(t, strings.Replace(good, tc.from, tc.to, 1), schema.Options{})
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	if err := validate(t, strings.Replace(good, "ports:", "portz:", 1), schema.Options{Open: true}); err != nil {
		t.Errorf("an open schema: %v", err)
	}
	if _, err := schema.JSON("apps.kruise.io/v1beta1", "EphemeralJob", schema.Options{}); err == nil {
		t.Error("a kind that does not exist in this version has a schema")
	}
}

// TestDocument_OfEveryKindIsValid: each document is a valid schema of its draft.
func TestDocument_OfEveryKindIsValid(t *testing.T) {
	for _, k := range kruise.Kinds() {
		for _, version := range k.Versions {
			text := fmt.Sprintf("apiVersion: %s/%s\nkind: %s\nmetadata: {}\nspec: []\n", k.Group, version, k.Kind)
			if err := validate(t, text, schema.Options{}); err == nil || !strings.Contains(err.Error(), "/spec") {
				t.Errorf("%s %s: a list for a spec: %v", version, k.Kind, err)
			}
		}
	}
}

// TestConformanceLint: what a real cluster took is valid, also as it is stored;
// what it could not decode is not.
func TestConformanceLint(t *testing.T) {
	conformance.Area(t, "lint", func(t *testing.T, c conformance.Case) error {
		t.Helper()
		var verdict struct {
			Operation, By string
			Allowed       bool
		}
		if err := yaml.Unmarshal(read(t, c, "verdict.yaml"), &verdict); err != nil {
			return err
		}
		object := string(read(t, c, "object.yaml"))
		if verdict.Operation == "delete" || !strings.Contains(object, "kruise.io/v1") {
			return nil
		}
		err := validate(t, object, schema.Options{})
		switch {
		case verdict.Allowed && err != nil && !offered(err):
			return fmt.Errorf("refused: %w", err)
		case !verdict.Allowed && verdict.By == "decoding" && err == nil:
			return fmt.Errorf("accepted, though it cannot be decoded")
		case c.Has("stored.yaml"):
			err = validate(t, string(read(t, c, "stored.yaml")), schema.Options{})
		}
		if offered(err) || !verdict.Allowed {
			return nil
		}
		return err
	})
}

// offered reports whether all that is wrong with an object is a value that the
// schema does not offer: Kruise takes some that mean nothing.
func offered(err error) bool {
	e, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return false
	}
	if len(e.Causes) == 0 {
		_, ok = e.ErrorKind.(*kind.Enum)
		return ok
	}
	return !slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return !offered(c) && !null(c) })
}

// null is the other branch of a value that may be left out.
func null(e *jsonschema.ValidationError) bool {
	k, ok := e.ErrorKind.(*kind.Type)
	return ok && slices.Equal(k.Want, []string{"null"})
}

func read(t *testing.T, c conformance.Case, file string) []byte {
	t.Helper()
	text, err := c.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
