package clusterread

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// query is one question to the API server: the objects of a resource that match.
type query struct {
	// what are the objects in words, such as "pods".
	what            string
	group, resource string
	// versions are the API versions to ask for, the newest first.
	versions         []string
	namespace        string
	selector, fields string
	// cached permits an answer from the server's cache, which is as old as what a controller sees.
	cached bool
	// needed indicates that what may not be read is an error; else it is noted and skipped.
	needed bool
	// unserved describes what becomes of a resource that the server does not have.
	unserved outcome
}

// outcome is what becomes of a question that has no answer.
type outcome int

const (
	ignored outcome = iota
	// noted is skipped, with a note of what and why.
	noted
	// failed ends the reading with an error.
	failed
)

// lister asks one cluster, and notes what it may not read.
type lister struct {
	client  dynamic.Interface
	skipped []string
}

// list hands every object of the answer to each, with its group and version. Releases of
// Kruise serve the newest version for some kinds only, so a version that is not served is
// followed by the next one.
func (l *lister) list(ctx context.Context, q query, each func(schema.GroupVersion, *unstructured.Unstructured) error) error {
	var rejected error // by each
	handOver := func(version schema.GroupVersion, u *unstructured.Unstructured) error {
		if err := each(version, u); err != nil {
			rejected = fmt.Errorf("%s %s: %w", strings.TrimSuffix(q.what, "s"), u.GetName(), err)
		}
		return rejected
	}
	var err error
	for _, version := range q.versions {
		from := schema.GroupVersionResource{Group: q.group, Version: version, Resource: q.resource}
		if err = l.pages(ctx, q, from, handOver); !apierrors.IsNotFound(err) {
			break
		}
	}
	if err == nil || rejected != nil {
		return rejected
	}
	return l.unanswered(q, err)
}

// pages reads one version of a resource page by page.
func (l *lister) pages(ctx context.Context, q query, from schema.GroupVersionResource, each func(schema.GroupVersion, *unstructured.Unstructured) error) error {
	opt := metav1.ListOptions{LabelSelector: q.selector, FieldSelector: q.fields}
	if q.cached {
		opt.ResourceVersion = "0"
	}
	return objects.Pages(ctx, l.client.Resource(from).Namespace(q.namespace), opt, func(u *unstructured.Unstructured) error {
		return each(from.GroupVersion(), u)
	})
}

// unanswered does with an error of the server what the question wants.
func (l *lister) unanswered(q query, err error) error {
	then := failed
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsNotFound(err):
		then = q.unserved
	case apierrors.IsForbidden(err) && !q.needed:
		then = noted
	}
	switch then {
	case ignored:
		return nil
	case noted:
		l.skipped = append(l.skipped, fmt.Sprintf("%s: %v", q.what, err))
		return nil
	}
	return fmt.Errorf("cannot read %s: %w", q.what, err)
}

// List reads the objects of a resource that a label selector matches. The empty namespace means
// all.
func List(ctx context.Context, c dynamic.Interface, from schema.GroupVersionResource, namespace, selector string) ([]unstructured.Unstructured, error) {
	q := query{
		what: from.Resource, group: from.Group, resource: from.Resource, versions: []string{from.Version},
		namespace: namespace, selector: selector, needed: true, unserved: failed,
	}
	var out []unstructured.Unstructured
	l := lister{client: c}
	err := l.list(ctx, q, func(_ schema.GroupVersion, u *unstructured.Unstructured) error {
		out = append(out, *u)
		return nil
	})
	return out, err
}

// apiVersionsOf are the versions of a group's kinds, the newest first.
func apiVersionsOf(group string) []string {
	if group == kruise.Group || group == kruise.PolicyGroup {
		return []string{kruise.V1beta1, kruise.V1alpha1}
	}
	return []string{"v1"}
}
