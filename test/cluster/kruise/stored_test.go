package kruise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	product "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

// TestServer_StoresWhatKruiseAccepts sends every object that Kruise accepts through the
// definitions and both webhooks, and reads it back in both versions.
func TestServer_StoresWhatKruiseAccepts(t *testing.T) {
	c := cluster.Start(t, cluster.WithNodes(), kruise.API())
	s := store{cluster: c}
	conformance.Area(t, "lint", func(t *testing.T, recorded conformance.Case) error {
		t.Helper()
		return s.check(t.Context(), recorded)
	})
}

type store struct{ cluster *cluster.Cluster }

// check stores the object of one case, after the one that it replaces.
func (s store) check(ctx context.Context, recorded conformance.Case) error {
	var verdict struct {
		Operation string
		Allowed   bool
	}
	text, err := recorded.Read("verdict.yaml")
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &verdict); err != nil {
		return err
	}
	if !verdict.Allowed || verdict.Operation == "delete" {
		return nil
	}
	number, _, _ := strings.Cut(recorded.Name, "-")
	namespace := "lint-" + number
	_, err = s.cluster.Client().CoreV1().Namespaces().
		Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for _, file := range []string{"before.yaml", "object.yaml"} {
		if !recorded.Has(file) {
			continue
		}
		if err := s.put(ctx, recorded, file, namespace); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// put creates or replaces an object and reads it in every version.
func (s store) put(ctx context.Context, recorded conformance.Case, file, namespace string) error {
	object, err := read(recorded, file)
	if err != nil {
		return err
	}
	if group := object.GroupVersionKind().Group; group != product.Group && group != product.PolicyGroup {
		return nil
	}
	resource, err := s.cluster.Resource(object, namespace)
	if err != nil {
		return err
	}
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	stored, err := resource.Create(ctx, object, strict)
	if apierrors.IsAlreadyExists(err) {
		old, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.SetResourceVersion(old.GetResourceVersion())
		stored, err = resource.Update(ctx, object, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	there, _, err := product.ToHub(tree.FromValue(object.Object))
	if err != nil {
		return err
	}
	want, _, err := product.FromHub(there, object.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	if lost := lacks("spec", spec(want), stored.Object["spec"]); lost != nil {
		return fmt.Errorf("stored without\n%s", strings.Join(lost, "\n"))
	}
	return s.readBack(ctx, stored, namespace)
}

// readBack reads the object in every version that its kind has. What conversion
// cannot express must fail as it does for us.
func (s store) readBack(ctx context.Context, stored *unstructured.Unstructured, namespace string) error {
	var errs []error
	for _, v := range []string{product.V1alpha1, product.V1beta1} {
		wanted := &unstructured.Unstructured{}
		gvk := stored.GroupVersionKind()
		gvk.Version = v
		wanted.SetGroupVersionKind(gvk)
		resource, err := s.cluster.Resource(wanted, namespace)
		if meta.IsNoMatchError(err) && v != stored.GroupVersionKind().Version {
			continue // a kind with one version
		}
		if err != nil {
			return err
		}
		want, _, inexpressible := product.FromHub(tree.FromValue(stored.Object), v)
		got, err := resource.Get(ctx, stored.GetName(), metav1.GetOptions{})
		switch {
		case (err != nil) != (inexpressible != nil):
			errs = append(errs, fmt.Errorf("%s: %w; conversion says %w", v, err, inexpressible))
		case err == nil && got.GroupVersionKind() != gvk:
			errs = append(errs, fmt.Errorf("read as %s, asked for %s", got.GroupVersionKind(), v))
		case err == nil:
			lost := append(lacks("spec", spec(want), got.Object["spec"]), lacks("spec", got.Object["spec"], spec(want))...)
			if lost != nil {
				errs = append(errs, fmt.Errorf("%s:\n%s", v, strings.Join(lost, "\n")))
			}
		}
	}
	return errors.Join(errs...)
}

func spec(n *tree.Node) any {
	object, _ := tree.Value(n).(map[string]any)
	return object["spec"]
}
