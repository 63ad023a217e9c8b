package kruise_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

// TestConversion_EqualsTheRecordings stores every recorded object and reads it back through
// definitions, defaults and conversion, in both versions.
func TestConversion_EqualsTheRecordings(t *testing.T) {
	c := cluster.Start(t, cluster.WithNodes(), kruise.API())
	recorded := map[string]conformance.Case{}
	for _, one := range conformance.List(t, "conversion") {
		recorded[one.Name] = one
	}
	conformance.Area(t, "conversion", func(t *testing.T, one conformance.Case) error {
		t.Helper()
		return trip{ctx: t.Context(), cluster: c, one: one, full: recorded[one.Name+"-stored"]}.check()
	})
}

// trip is one recorded conversion. Full is the same object as Kruise stores it,
// with Kruise's and Kubernetes' defaults, if that was recorded too.
type trip struct {
	ctx       context.Context
	cluster   *cluster.Cluster
	one, full conformance.Case
}

// check stores the input. The object as read has all that was recorded without
// defaults; beyond that it has nothing but what Kruise fills in.
func (t trip) check() error {
	input, err := read(t.one, "input.yaml")
	if err != nil {
		return err
	}
	if err := t.store(input); err != nil {
		return err
	}
	var errs []error
	for _, file := range []string{"input.yaml", "converted.yaml", "back.yaml"} {
		least, err := read(t.one, file)
		if err != nil {
			return err
		}
		if file == "input.yaml" && !stays(least) {
			continue // reading it in its own version is the way back
		}
		if file == "back.yaml" && stays(least) {
			continue // the stored form never went to the other version
		}
		errs = append(errs, t.compare(file, least))
	}
	return errors.Join(errs...)
}

// stays reports whether an object is stored in the version that it has.
func stays(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(o.GetAPIVersion(), "/v1beta1")
}

// compare reads the object in the version of what was recorded.
func (t trip) compare(file string, least *unstructured.Unstructured) error {
	client, err := t.client(least)
	if err != nil {
		return err
	}
	got, err := client.Get(t.ctx, least.GetName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	most := least
	if t.full.Name != "" {
		if most, err = read(t.full, file); err != nil {
			return err
		}
	}
	if got.GroupVersionKind() != least.GroupVersionKind() {
		return fmt.Errorf("%s: read as %s", file, got.GroupVersionKind())
	}
	var out []string
	for _, field := range []string{"spec", "status"} {
		out = append(out, lacks(field, least.Object[field], got.Object[field])...)
		if t.full.Name != "" || strings.HasSuffix(t.one.Name, "-stored") {
			out = append(out, lacks(field+" (too much)", got.Object[field], most.Object[field])...)
		}
	}
	if len(out) > 0 {
		return fmt.Errorf("%s:\n%s", file, strings.Join(out, "\n"))
	}
	return nil
}

// store creates the object with its status.
func (t trip) store(o *unstructured.Unstructured) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace()}}
	if namespace.Name != "" {
		_, err := t.cluster.Client().CoreV1().Namespaces().Create(t.ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	client, err := t.client(o)
	if err != nil {
		return err
	}
	// The same name serves several cases.
	if err := client.Delete(t.ctx, o.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	o.SetLabels(definite(o.GetLabels()))
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	stored, err := client.Create(t.ctx, o, strict)
	if err != nil || o.Object["status"] == nil {
		return err
	}
	stored.Object["status"] = o.Object["status"]
	_, err = client.UpdateStatus(t.ctx, stored, metav1.UpdateOptions{})
	return err
}

// definite leaves out labels whose value was not recorded, a placeholder.
func definite(labels map[string]string) map[string]string {
	maps.DeleteFunc(labels, func(_, v string) bool { return strings.HasPrefix(v, "<") })
	return labels
}

func (t trip) client(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	return t.cluster.Resource(o, o.GetNamespace())
}

func read(c conformance.Case, file string) (*unstructured.Unstructured, error) {
	text, err := c.Read(file)
	if err != nil {
		return nil, err
	}
	docs, err := conformance.Docs(text)
	if err != nil || len(docs) != 1 {
		return nil, fmt.Errorf("%s: %d documents: %w", file, len(docs), err)
	}
	return &unstructured.Unstructured{Object: docs[0]}, nil
}

// lacks lists what want says and got does not. Zero values say nothing: Go's
// encoder writes them where others leave them out.
func lacks(at string, want, got any) []string {
	switch want := want.(type) {
	case map[string]any:
		have, _ := got.(map[string]any)
		var out []string
		for name, v := range want {
			out = append(out, lacks(at+"."+name, v, have[name])...)
		}
		return out
	case []any:
		have, _ := got.([]any)
		if len(have) != len(want) {
			return []string{fmt.Sprintf("%s: %v, want %v", at, got, want)}
		}
		var out []string
		for i, v := range want {
			out = append(out, lacks(fmt.Sprintf("%s[%d]", at, i), v, have[i])...)
		}
		return out
	case nil:
		return nil
	}
	if got == nil && (want == "" || want == int64(0) || want == false) || conformance.Diff(want, got) == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v, want %v", at, got, want)}
}
