package set

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	envutil "k8s.io/kubectl/pkg/cmd/set/env"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// lister prints variables, and what references among them lead to where it has a
// client.
type lister struct {
	*envSetting

	client kubernetes.Interface
	store  *envutil.ResourceStore
}

// listed prints the variables of the objects, as they would be.
func (o *envSetting) listed(ctx context.Context, named []string) error {
	l := &lister{envSetting: o, store: envutil.NewResourceStore()}
	if o.resolve && !o.Local() {
		cfg, err := o.Factory.Config()
		if err != nil {
			return err
		}
		if l.client, err = kubernetes.NewForConfig(cfg); err != nil {
			return err
		}
	}
	return o.Look(named, func(u *unstructured.Unstructured) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return l.object(u)
	})
}

func (l *lister) object(u *unstructured.Unstructured) error {
	if err := l.change(u); err != nil {
		return err
	}
	containers, err := matching(u, l.containers)
	if err != nil {
		return err
	}
	var errs resource.Errors
	for _, c := range containers {
		if _, err := fmt.Fprintf(l.Factory.Streams.Out, "# %s %s, container %s\n", u.GetKind(), u.GetName(), nameOf(c)); err != nil {
			return err
		}
		errs.Add(l.container(u, c))
	}
	return errs.Err()
}

// container prints one line for each variable.
func (l *lister) container(u *unstructured.Unstructured, container map[string]any) error {
	var c corev1.Container
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(container, &c); err != nil {
		return fmt.Errorf("container %s: %w", nameOf(container), err)
	}
	failed := map[string]error{}
	for _, e := range c.Env {
		line, err := l.line(u, &c, e)
		if err != nil {
			failed[e.Name] = err
		}
		if _, err := fmt.Fprintln(l.Factory.Streams.Out, line); err != nil {
			return err
		}
	}
	var errs resource.Errors
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		errs.Add(fmt.Errorf("retrieving the reference for %s: %w", name, failed[name]))
	}
	return errs.Err()
}

// line is what is printed of a variable, and why a reference could not be followed.
func (l *lister) line(u *unstructured.Unstructured, c *corev1.Container, e corev1.EnvVar) (string, error) {
	if e.ValueFrom == nil {
		return e.Name + "=" + e.Value, nil
	}
	reference := "# " + e.Name + " from " + envutil.GetEnvVarRefString(e.ValueFrom)
	if !l.resolve {
		return reference, nil
	}
	if l.client == nil && (e.ValueFrom.SecretKeyRef != nil || e.ValueFrom.ConfigMapKeyRef != nil) {
		return reference, errors.New("--local does not ask the cluster")
	}
	value, err := envutil.GetEnvVarRefValue(l.client, u.GetNamespace(), l.store, e.ValueFrom, u, c)
	if err != nil {
		return reference, err
	}
	return e.Name + "=" + value, nil
}
