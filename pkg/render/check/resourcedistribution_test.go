package check_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// faults checks a ResourceDistribution with this spec and returns FIELD: TEXT
// of all that is wrong.
func faults(t *testing.T, object, context string) []string {
	t.Helper()
	var out []string
	var all resource.Errors
	all.Add(checked(t, object, context))
	for _, err := range all {
		var e *resource.Error
		if !errors.As(err, &e) || e.Line == 0 || e.File != "input.yaml" {
			t.Errorf("%v has no place", err)
			continue
		}
		if strings.Contains(err.Error()+e.Hint, "topsecret") {
			t.Errorf("the value of a Secret is in %v", err)
		}
		out = append(out, e.Field+": "+e.Err.Error())
	}
	return out
}

func rd(resource, targets string) string {
	return fmt.Sprintf("apiVersion: apps.kruise.io/v1beta1\nkind: ResourceDistribution\nmetadata: {name: rd}\nspec: {resource: %s, targets: %s}\n", resource, targets)
}

const (
	plainMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: v}}"
	nowhere  = "{}"
)

func TestResourceDistribution_Rules(t *testing.T) {
	big := strings.Repeat("x", 1<<19)
	for _, c := range []struct {
		name, object string
		want         []string // beginnings; none: accepted
	}{
		{"plain", rd(plainMap, "{allNamespaces: true}"), nil},
		{"nowhere", rd(plainMap, nowhere), nil},
		{"without data", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}", nowhere), nil},
		{"no spec", "apiVersion: apps.kruise.io/v1beta1\nkind: ResourceDistribution\nmetadata: {name: rd}\n", []string{"spec.targets: required", "spec.resource: required"}},
		{"unknown field", rd(plainMap, "{includeNamespaces: {list: []}}"), []string{"spec.targets.includeNamespaces: unknown field"}},
		{"wrong type", rd(plainMap, "{allNamespaces: yes please}"), []string{"spec.targets.allNamespaces: string is not allowed here"}},
		{"in both lists", rd(plainMap, "{includedNamespaces: {list: [{name: a}, {name: b}]}, excludedNamespaces: {list: [{name: b}]}}"), []string{"spec.targets.includedNamespaces.list[1]: namespace b is in both"}},
		{"selector", rd(plainMap, "{namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}"), []string{"spec.targets.namespaceSelector.matchExpressions[0].values: "}},
		{"selector, older", strings.Replace(rd(plainMap, "{namespaceLabelSelector: {matchExpressions: [{key: a, operator: In}]}}"), "v1beta1", "v1alpha1", 1), []string{"spec.targets.namespaceLabelSelector.matchExpressions[0].values: "}},
		{"bad name", strings.Replace(rd(plainMap, nowhere), "name: rd", "name: R_D", 1), []string{"metadata.name: \"R_D\" is not a name: a lowercase RFC 1123 subdomain"}},

		{"kind", rd("{apiVersion: v1, kind: Service, metadata: {name: c}}", nowhere), []string{"spec.resource: only a Secret or ConfigMap can be distributed, not v1 Service"}},
		{"group", rd("{apiVersion: example.com/v1, kind: Secret, metadata: {name: c}}", nowhere), []string{"spec.resource: only a Secret"}},
		{"no name", rd("{apiVersion: v1, kind: Secret, metadata: {generateName: c-}}", nowhere), []string{"spec.resource.metadata.name: required"}},
		{"bad object name", rd("{apiVersion: v1, kind: Secret, metadata: {name: C_C}}", nowhere), []string{"spec.resource.metadata.name: "}},
		{"labels", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: b c}}}", nowhere), []string{"spec.resource.metadata.labels: "}},
		{"label type", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: 1}}}", nowhere), []string{"spec.resource.metadata.labels[a]: number is not allowed here"}},

		{"key", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a key: v}}", nowhere), []string{"spec.resource.data[a key]: a valid config key must consist of"}},
		{"dots", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {..: v}}", nowhere), []string{"spec.resource.data[..]: must not be '..'"}},
		{"number", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: 1, b: true, n: null}}", nowhere), []string{"spec.resource.data[k]: want text", "spec.resource.data[b]: want text"}},
		{"data is a list", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: [v]}", nowhere), []string{"spec.resource.data: want a mapping"}},
		{"same key", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {z: v, a: v}, binaryData: {z: AA==, a: AA==}}", nowhere), []string{"spec.resource.binaryData[a]: the key is in data too", "spec.resource.binaryData[z]: the key is in data too"}},
		{"base64", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, binaryData: {z: '*'}}", nowhere), []string{"spec.resource.binaryData[z]: want base64"}},
		{"immutable", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, immutable: 'true'}", nowhere), []string{"spec.resource.immutable: want true or false"}},
		{"size", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "+big+", b: "+big+", c: x}}", nowhere), []string{"spec.resource.data: the values are larger than 1 MiB"}},
		{"just the size", rd("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "+big+", b: "+big+"}}", nowhere), nil},
	} {
		t.Run(c.name, func(t *testing.T) { compareFaults(t, c.want, faults(t, c.object, "")) })
	}
}

func TestResourceDistribution_Secrets(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		name, rest string
		want       []string
	}{
		{"opaque", "data: {k: " + b64("topsecret") + "}, stringData: {k: topsecret}", nil},
		{"wrapped base64", `data: {k: "dG9w\nc2VjcmV0\n"}`, nil},
		{"not base64", "data: {k: topsecret}", []string{"spec.resource.data[k]: want base64"}},
		{"number", "stringData: {pin: 1234}", []string{"spec.resource.stringData[pin]: want text"}},
		{"key", "stringData: {a/b: topsecret}", []string{"spec.resource.stringData[a/b]: a valid config key"}},
		{"type", "type: 5", []string{"spec.resource.type: want text"}},
		{"own type", "type: example.com/any", nil},
		{"dockerconfigjson", "type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: '{\"auths\": {}}'}", nil},
		{"dockerconfigjson without key", "type: kubernetes.io/dockerconfigjson, stringData: {config.json: topsecret}", []string{"spec.resource.data[.dockerconfigjson]: required for this type"}},
		{"dockerconfigjson no JSON", "type: kubernetes.io/dockerconfigjson, data: {.dockerconfigjson: " + b64("topsecret") + "}", []string{"spec.resource.data[.dockerconfigjson]: want a JSON object"}},
		{"dockercfg", "type: kubernetes.io/dockercfg, stringData: {.dockercfg: '[]'}", []string{"spec.resource.data[.dockercfg]: want a JSON object"}},
		{"tls", "type: kubernetes.io/tls, data: {tls.crt: '', tls.key: ''}", nil},
		{"tls without key", "type: kubernetes.io/tls, data: {tls.crt: ''}", []string{"spec.resource.data[tls.key]: required"}},
		{"basic auth", "type: kubernetes.io/basic-auth, stringData: {password: topsecret}", nil},
		{"basic auth empty", "type: kubernetes.io/basic-auth, stringData: {pass: topsecret}", []string{"spec.resource.data: username or password is required"}},
		{"ssh", "type: kubernetes.io/ssh-auth, stringData: {ssh-privatekey: ''}", []string{"spec.resource.data[ssh-privatekey]: must not be empty"}},
		{"service account token", "type: kubernetes.io/service-account-token", []string{"spec.resource.metadata.annotations[kubernetes.io/service-account.name]: required"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := "{apiVersion: v1, kind: Secret, metadata: {name: s}, " + c.rest + "}"
			compareFaults(t, c.want, faults(t, rd(object, nowhere), ""))
		})
	}
}

func TestResourceDistribution_ResourceIsImmutable(t *testing.T) {
	for _, c := range []struct {
		name, live string
		want       []string
	}{
		{"same", rd(strings.Replace(plainMap, "k: v", "k: other", 1), "{allNamespaces: true}"), nil},
		{"older version", strings.Replace(rd(plainMap, nowhere), "v1beta1", "v1alpha1", 1), nil},
		{"another distribution", strings.Replace(rd(strings.Replace(plainMap, "name: c", "name: d", 1), nowhere), "name: rd", "name: other", 1), nil},
		{"renamed", rd(strings.Replace(plainMap, "name: c", "name: d", 1), nowhere), []string{`spec.resource.metadata.name: the resource's apiVersion, kind and name are immutable: the cluster has "d"`}},
		{"another kind", rd(strings.Replace(plainMap, "ConfigMap", "Secret", 1), nowhere), []string{"spec.resource.kind: the resource's"}},
	} {
		t.Run(c.name, func(t *testing.T) { compareFaults(t, c.want, faults(t, rd(plainMap, nowhere), c.live)) })
	}
}

func compareFaults(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.EqualFunc(want, got, func(w, g string) bool { return strings.HasPrefix(g, w) }) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
