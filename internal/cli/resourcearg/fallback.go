package resourcearg

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Fallback is a verb that takes objects as kubectl's do.
type Fallback struct {
	Factory *factory.Factory
	// Single is for a verb that means another thing to several objects than to one: it
	// is not called with several that stand for one. It is the message then, such as
	// "scale".
	Single string
	// Chosen indicates that objects are chosen by other than their names, from all namespaces
	// or by labels: nothing is found out about those.
	Chosen bool
}

// Do calls do with the objects as they were named: TYPE/NAME ..., TYPE[,TYPE] NAME ...,
// or types alone. Where that fails because a type is one of Kruise that the server does
// not have, it reports on standard error what was rendered from them, and calls do with that.
func (v Fallback) Do(ctx context.Context, args []string, do func(args []string) error) error {
	err := do(args)
	if v.Chosen || !kubectl.LacksKruise(err) {
		return err
	}
	named, ok := splitArgs(args)
	if !ok {
		return err
	}
	client, namespace, lookErr := v.Factory.InNamespace()
	if lookErr != nil {
		return err // the first error says why nothing can be looked up, too
	}
	again, said, lookErr := v.replaceAll(renderedFinder{ctx, client, namespace}, named)
	if lookErr != nil {
		return lookErr
	}
	if len(said) == 0 {
		return err
	}
	_, _ = fmt.Fprintf(v.Factory.Streams.Err, "no Kruise here: %s\n", strings.Join(said, ", "))
	return do(again)
}

// replaceAll returns the objects to be called with instead, and a note for each that changed;
// both are empty where nothing was rendered from one of them.
func (v Fallback) replaceAll(l renderedFinder, named []typedName) (again, said []string, err error) {
	for _, o := range named {
		kind, ok := kruiseKind(o.kind)
		if !ok {
			again = append(again, o.kind+"/"+o.name)
			continue
		}
		found, err := l.standing(kind, o.name)
		switch {
		case err != nil:
			return nil, nil, err
		case len(found) == 0:
			return nil, nil, nil
		case len(found) > 1 && v.Single != "":
			return nil, nil, command.Usagef(v.Single+" each of them by its own name", "%s was rendered into %d objects: %s", o, len(found), strings.Join(found, ", "))
		}
		again = append(again, found...)
		said = append(said, describeFallback(o, found))
	}
	return again, said, nil
}

func describeFallback(o typedName, found []string) string {
	verb := "is"
	if len(found) > 1 || o.name == "" {
		verb = "are"
	}
	return o.String() + " " + verb + " " + strings.Join(found, " ")
}

// typedName is a type as it was written with a name, or with "" for all there are.
type typedName struct{ kind, name string }

func (o typedName) String() string {
	if o.name == "" {
		return o.kind
	}
	return o.kind + "/" + o.name
}

// splitArgs takes the arguments apart as kubectl does; ok is false where they are nothing
// that it would take. A native type without a name cannot stand beside names, so it is
// nothing either.
func splitArgs(args []string) (out []typedName, ok bool) {
	if len(args) == 0 {
		return nil, false
	}
	if strings.Contains(args[0], "/") {
		for _, arg := range args {
			kind, name, ok := strings.Cut(arg, "/")
			if !ok || kind == "" || name == "" {
				return nil, false
			}
			out = append(out, typedName{kind, name})
		}
		return out, true
	}
	names := args[1:]
	if len(names) == 0 {
		names = []string{""}
	}
	for kind := range strings.SplitSeq(args[0], ",") {
		_, ours := kruiseKind(kind)
		for _, name := range names {
			if name == "" && !ours {
				return nil, false
			}
			out = append(out, typedName{kind, name})
		}
	}
	return out, true
}

// kruiseKind is the kind of Kruise that a type means where there is no Kruise: a word that
// Kubernetes has too is its own, unless it has Kruise's group.
func kruiseKind(word string) (kind string, ok bool) {
	word, group, grouped := strings.Cut(strings.ToLower(word), ".")
	kind, ok = kubectl.KindOf(word)
	switch {
	case !ok || grouped && !strings.HasSuffix(group, kruise.Group) && !strings.HasSuffix(group, kruise.PolicyGroup):
		return "", false
	case !grouped && strings.TrimSuffix(word, "s") == strings.ToLower(kind) && (kind == kruise.KindStatefulSet || kind == kruise.KindDaemonSet):
		return "", false
	}
	return kind, true
}

var (
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	replicaSets  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	statefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	daemonSets   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	jobs         = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	cronJobs     = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}
	budgets      = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
)

// renderedInto are what rendering makes of each kind (docs/fidelity.md): what of it runs, or
// guards what runs.
var renderedInto = map[string][]schema.GroupVersionResource{
	kruise.KindCloneSet:             {deployments, replicaSets, statefulSets},
	kruise.KindStatefulSet:          {statefulSets},
	kruise.KindDaemonSet:            {daemonSets},
	kruise.KindUnitedDeployment:     {deployments, replicaSets, statefulSets},
	kruise.KindBroadcastJob:         {jobs, daemonSets},
	kruise.KindAdvancedCronJob:      {cronJobs},
	kruise.KindImagePullJob:         {jobs},
	kruise.KindImageListPullJob:     {jobs},
	kruise.KindPodUnavailableBudget: {budgets},
}

// renderedFinder looks for what was rendered.
type renderedFinder struct {
	ctx       context.Context //nolint:containedctx // it lives for one call
	client    dynamic.Interface
	namespace string
}

// standing are the objects that stand for one of Kruise, or for all of its kind, as
// TYPE/NAME in the order of their types and names.
func (l renderedFinder) standing(kind, name string) ([]string, error) {
	selector := kruise.SourceLabel
	if name != "" {
		selector += "=" + kruise.SourceValue(kind, name)
	}
	var out []string
	for _, r := range renderedInto[kind] {
		err := objects.Pages(l.ctx, l.client.Resource(r).Namespace(l.namespace), metav1.ListOptions{LabelSelector: selector}, func(u *unstructured.Unstructured) error {
			if isRenderedFrom(u, kind) {
				out = append(out, strings.TrimSuffix(r.Resource, "s")+"."+r.Group+"/"+u.GetName())
			}
			return nil
		})
		switch {
		case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("cannot look for what was rendered for %s: %w", strings.ToLower(kind)+"/"+name, err)
		}
	}
	return slices.Compact(out), nil
}

// isRenderedFrom reports whether an object itself was rendered from a kind: what a Deployment
// makes has its labels, too.
func isRenderedFrom(u *unstructured.Unstructured, kind string) bool {
	return metav1.GetControllerOfNoCopy(u) == nil && strings.HasPrefix(u.GetLabels()[kruise.SourceLabel], strings.ToLower(kind)+".")
}
