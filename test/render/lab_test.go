package render

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// questionLabel keeps the policies of one question from the namespaces of others.
const questionLabel = "lab.test/question"

// lab is the server on which questions are answered.
type lab struct {
	c *cluster.Cluster
	// plain is the namespace without policies that mirrors a question's.
	plain func(namespace string) string
}

func newLab(t *testing.T, c *cluster.Cluster) *lab {
	t.Helper()
	c.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: sentinel}}")
	return &lab{c: c, plain: func(namespace string) string { return namespace + "-plain" }}
}

// prepare makes the namespaces, what lives there, and the policies.
func (l *lab) prepare(t *testing.T, questions []*question) {
	t.Helper()
	var namespaces, around, policies []map[string]any
	for _, q := range questions {
		labels := map[string]any{}
		for _, d := range q.around {
			if d["kind"] == "Namespace" && at(d, "metadata", "name") == q.namespace() {
				labels, _ = at(d, "metadata", "labels").(map[string]any)
			}
		}
		labels = maps.Clone(labels)
		if labels == nil {
			labels = map[string]any{}
		}
		namespaces = append(namespaces, namespace(l.plain(q.namespace()), labels))
		labels[questionLabel] = strconv.Itoa(q.number)
		namespaces = append(namespaces, namespace(q.namespace(), labels))
		for _, d := range q.around {
			if d["kind"] != "Namespace" {
				around = append(around, d, in(d, l.plain(q.namespace())))
			}
		}
		for _, p := range q.policies {
			policies = append(policies, q.fenced(p))
		}
	}
	l.c.Apply(t, "", documents(t, namespaces...))
	l.c.Apply(t, "", documents(t, around...))
	l.c.Apply(t, "", documents(t, policies...))
	for _, ns := range namespaces {
		l.awaitAccount(t, at(ns, "metadata", "name").(string))
	}
}

func (q *question) namespace() string {
	if ns, _ := at(q.pod, "metadata", "namespace").(string); ns != "" {
		return ns
	}
	return q.name
}

// fenced returns a policy that sees this question's namespaces only.
func (q *question) fenced(p map[string]any) map[string]any {
	constraints, ok := at(p, "spec", "matchConstraints").(map[string]any)
	if !ok {
		return p
	}
	selector := constraints["namespaceSelector"].(map[string]any)
	list, _ := selector["matchExpressions"].([]any)
	selector["matchExpressions"] = append(list, map[string]any{
		"key": questionLabel, "operator": "In", "values": []any{strconv.Itoa(q.number)},
	})
	return p
}

func namespace(name string, labels map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name, "labels": maps.Clone(labels)}}
}

// in returns a copy of an object in another namespace.
func in(d map[string]any, namespace string) map[string]any {
	out := (&unstructured.Unstructured{Object: d}).DeepCopy()
	out.SetNamespace(namespace)
	return out.Object
}

func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// awaitAccount waits until pods can be created in the namespace.
func (l *lab) awaitAccount(t *testing.T, namespace string) {
	t.Helper()
	_, err := cluster.Await(t.Context(), l.c.Client().CoreV1().ServiceAccounts(namespace), "default",
		func(watch.EventType, *corev1.ServiceAccount) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
}

// inForce waits until the server has seen every policy written before: it acts on
// a change of the last one.
func (l *lab) inForce(t *testing.T, round int) {
	t.Helper()
	l.awaitAccount(t, "sentinel")
	l.c.Apply(t, "", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: sentinel}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: sentinel}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/labels/round", value: "%d"}]'}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: sentinel}
spec: {policyName: sentinel}
`, round))
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "sentinel", "labels": map[string]any{"round": ""}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "app"}}},
	}
	eventually(t, "the policies are in force", func() bool {
		stored, err := l.dryRun(t.Context(), pod, "sentinel")
		return err == nil && at(stored, "metadata", "labels", "round") == strconv.Itoa(round)
	})
}

// eventually asks again and again; the server does not report when it has compiled a
// policy.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, cluster.Patience, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

func (l *lab) dryRun(ctx context.Context, pod map[string]any, namespace string) (map[string]any, error) {
	object := &unstructured.Unstructured{Object: in(pod, namespace)}
	if strings.HasPrefix(object.GetName(), "<") {
		object.SetName("subject")
	}
	client, err := l.c.Resource(object, namespace)
	if err != nil {
		return nil, err
	}
	stored, err := client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, err
	}
	return stored.Object, nil
}

// answer is the pod that the server would store, without what differs from request
// to request; a refusal is an answer, too.
func (l *lab) answer(ctx context.Context, pod map[string]any, namespace string) map[string]any {
	stored, err := l.dryRun(ctx, pod, namespace)
	if err != nil {
		return map[string]any{"refused": strings.Split(err.Error(), "\n")}
	}
	spec, _ := stored["spec"].(map[string]any)
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range items(spec[list]) {
			c["volumeMounts"] = without(c["volumeMounts"], "name", "kube-api-access-")
		}
	}
	spec["volumes"] = without(spec["volumes"], "name", "kube-api-access-")
	metadata := stored["metadata"].(map[string]any)
	return map[string]any{"labels": metadata["labels"], "annotations": metadata["annotations"], "spec": spec}
}

func items(list any) (out []map[string]any) {
	all, _ := list.([]any)
	for _, item := range all {
		out = append(out, item.(map[string]any))
	}
	return out
}

func without(list any, field, prefix string) (out []any) {
	for _, item := range items(list) {
		if text, _ := item[field].(string); !strings.HasPrefix(text, prefix) {
			out = append(out, item)
		}
	}
	return out
}

// compare asks both ways.
func (l *lab) compare(t *testing.T, q *question) {
	t.Helper()
	if q.expected == nil && q.want != nil {
		q.expected = l.answer(t.Context(), q.want, l.plain(q.namespace()))
	}
	got := l.answer(t.Context(), q.pod, q.namespace())
	if q.want == nil {
		if got["refused"] == nil {
			t.Errorf("%s: the server takes a pod that injection refuses", q.name)
		}
		return
	}
	if diff := conformance.Diff(q.expected, got); diff != "" {
		t.Errorf("%s: -injected +admitted:\n%s", q.name, diff)
	}
}
