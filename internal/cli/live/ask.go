package live

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// pageSize bounds one answer of the API server.
const pageSize = 500

// want is one question to the API server.
type want struct {
	*kind

	what      string
	namespace string
	// version is that of Kruise's group; selector and fields narrow the list.
	version          string
	selector, fields string
	// selectable questions are narrowed by the selector of the scope, too.
	selectable bool
	// optional says that it is no news where the kind is not served.
	optional bool
	// only chooses among the answers where the server cannot; nil takes all.
	only func(object map[string]any) bool
}

// reader gathers what the cluster answers.
type reader struct {
	cluster Cluster
	scope   Scope
	found   []fact
	nodes   tree.Shared
	skipped []string
}

func (r *reader) ask(ctx context.Context, questions []want) error {
	for _, w := range questions {
		if !r.scope.wants(w.name) {
			continue
		}
		if w.momentary && !r.scope.Now {
			r.skipped = append(r.skipped, w.what+": they count as they are at the moment, for which there is render --live")
			continue
		}
		if err := r.list(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) list(ctx context.Context, w want) error {
	opt := metav1.ListOptions{LabelSelector: w.selector, FieldSelector: w.fields, Limit: pageSize}
	if w.selectable {
		opt.LabelSelector = and(w.selector, r.scope.Selector)
	}
	gvr := schema.GroupVersionResource{Group: w.group, Version: w.kind.version, Resource: w.resource}
	if gvr.Version == "" {
		gvr.Version = w.version
	}
	for {
		list, err := r.cluster.Objects.Resource(gvr).Namespace(w.namespace).List(ctx, opt)
		// Releases of Kruise serve the newest version for some kinds only.
		if apierrors.IsNotFound(err) && gvr.Version == kruise.V1beta1 {
			gvr.Version = kruise.V1alpha1
			continue
		}
		if apierrors.IsNotFound(err) && w.optional {
			return nil
		}
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			r.skipped = append(r.skipped, fmt.Sprintf("%s: %v", w.what, err))
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", w.what, err)
		}
		r.take(w, gvr, list.Items)
		if opt.Continue = list.GetContinue(); opt.Continue == "" {
			return nil
		}
	}
}

// take keeps what rendering reads of the objects. What is on its way out does
// not count.
func (r *reader) take(w want, gvr schema.GroupVersionResource, items []unstructured.Unstructured) {
	for _, item := range items {
		if item.GetDeletionTimestamp() != nil || w.only != nil && !w.only(item.Object) {
			continue
		}
		item.SetAPIVersion(gvr.GroupVersion().String())
		item.SetKind(w.name)
		r.keep(w.of(item.Object).prune(item.Object))
	}
}

// fact is an object that was found, with its place among the others. An answer holds
// five times as much: no page of one is kept.
type fact struct {
	place string
	node  *tree.Node
}

// keep adds an object. Nobody changes facts, so they share what they can.
func (r *reader) keep(object map[string]any) {
	n := r.nodes.FromValue(object)
	r.found = append(r.found, fact{place(n), n})
}

// of returns the kind of fact that an object is.
func (k *kind) of(object map[string]any) *kind {
	if k == copies && frozen(object) {
		return frozenCopies
	}
	return k
}

// and joins two label selectors.
func and(a, b string) string {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// ParseSelector returns the fault of a label selector.
func ParseSelector(text string) error {
	_, err := labels.Parse(text)
	return err
}
