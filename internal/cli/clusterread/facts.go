// Package clusterread reads from a cluster what the verbs work on: the facts that rendering
// needs and that files cannot give, the objects of Kruise that lint checks, one workload with
// all that a plan starts from, and how new pods of a rollout do beside the old ones. The same
// state is read from recorded files, or assumed around a workload that no cluster runs yet.
// It reads and never writes, in pages, and reads no Secret.
package clusterread

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// File is the origin that context objects from a cluster carry.
const File = "(cluster)"

// Cluster is where facts are read.
type Cluster struct {
	Objects   dynamic.Interface
	Discovery *discovery.DiscoveryClient
}

// Connect opens the way to the cluster.
func Connect(f *factory.Factory) (Cluster, error) {
	d, err := f.Discovery()
	if err != nil {
		return Cluster{}, err
	}
	objects, err := f.Dynamic()
	return Cluster{Objects: objects, Discovery: d}, err
}

// FactScope selects which facts are wanted. The zero value means all of all namespaces.
type FactScope struct {
	// Stream is what will be rendered: only facts that its rendering asks for are
	// read, and Namespace is where objects without one live. nil asks for the
	// facts that any rendering may ask for, in Namespace or ("") everywhere.
	Stream    []*resource.Resource
	Namespace string
	// Selector is a label selector that workloads, pods and what acts on them
	// must match, too; namespaces, nodes and settings need not.
	Selector string
	// Kinds, if there are any, choose among [FactKinds], and WithoutKinds leave some out, in
	// any case of letters.
	Kinds, WithoutKinds []string
	// Now permits facts that hold for the moment only, such as the restarts of a pod.
	Now bool
}

func (s FactScope) wants(kind string) bool {
	same := func(other string) bool { return strings.EqualFold(kind, other) }
	return (len(s.Kinds) == 0 || slices.ContainsFunc(s.Kinds, same)) && !slices.ContainsFunc(s.WithoutKinds, same)
}

// Facts are what was read from a cluster.
type Facts struct {
	// Context are the objects for render.Options.Context: ClusterFacts first, the
	// others by group, kind, namespace and name. They hold no more than rendering
	// reads, and neither times nor anything else that changes by itself.
	Context []*resource.Resource
	// Skipped says in words what could not be read, and why. Rendering continues
	// without it.
	Skipped []string
}

// ReadFacts asks the cluster for the facts in scope. What is forbidden or not served
// is skipped and reported; any other error ends the reading.
func ReadFacts(ctx context.Context, c Cluster, scope FactScope) (*Facts, error) {
	server, err := c.server(ctx)
	if err != nil {
		return nil, err
	}
	r := &factReader{lister: lister{client: c.Objects}, scope: scope}
	var questions []factQuery
	if scope.Stream == nil {
		questions = allQuestions(scope.Namespace, server.addOns())
	} else {
		questions = questionsFor(scope.Stream, scope.Namespace, server.addOns())
	}
	if err := r.ask(ctx, questions); err != nil {
		return nil, err
	}
	if err := r.ask(ctx, conflicts(scope, r.found)); err != nil {
		return nil, err
	}
	if scope.wants(clusterFacts) {
		r.lister.skipped = append(server.skipped, r.lister.skipped...)
		r.keep(server.object())
	}
	return r.result(), nil
}

// result sorts what was found and leaves out what was found twice.
func (r *factReader) result() *Facts {
	slices.SortStableFunc(r.found, func(a, b fact) int { return strings.Compare(a.place, b.place) })
	res := &Facts{Skipped: r.lister.skipped}
	last := ""
	for _, f := range r.found {
		if f.place != last {
			last = f.place
			res.Context = append(res.Context, resource.Parsed(f.node, nil, resource.Origin{File: File, Seq: len(res.Context)}))
		}
	}
	return res
}

// sortKey is the identity of an object, in the order of a file of facts.
func sortKey(n *tree.Node) string {
	group := resource.GroupOf(tree.StrAt(n, "apiVersion"))
	kind := tree.StrAt(n, "kind")
	rank := 1
	if kind == clusterFacts {
		rank = 0
	}
	return fmt.Sprint(rank, "\x00", group, "\x00", kind, "\x00", tree.StrAt(n, "metadata", "namespace"), "\x00", tree.StrAt(n, "metadata", "name"))
}

// factQuery is one question to the API server.
type factQuery struct {
	*factKind

	what      string
	namespace string
	// version is that of Kruise's group; selector and fields narrow the list.
	version          string
	selector, fields string
	// selectable questions are narrowed by the selector of the scope, too.
	selectable bool
	// optional indicates that it is no news where the kind is not served.
	optional bool
	// only chooses among the answers where the server cannot; nil takes all.
	only func(object map[string]any) bool
}

// factReader gathers what the cluster answers.
type factReader struct {
	lister lister
	scope  FactScope
	found  []fact
	nodes  tree.Shared
}

func (r *factReader) ask(ctx context.Context, questions []factQuery) error {
	for i, w := range questions {
		resource.ProgressOf(ctx).Of(i, len(questions))
		if !r.scope.wants(w.name) {
			continue
		}
		if w.momentary && !r.scope.Now {
			r.lister.skipped = append(r.lister.skipped, w.what+": they count as they are at the moment, for which there is render --live")
			continue
		}
		if err := r.list(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// list keeps what rendering reads of the objects that match. What is terminating does not count.
func (r *factReader) list(ctx context.Context, w factQuery) error {
	q := query{
		what: w.what, group: w.group, resource: w.resource, versions: []string{cmp.Or(w.factKind.version, w.version)},
		namespace: w.namespace, selector: w.selector, fields: w.fields, unserved: noted,
	}
	if w.selectable {
		q.selector = joinSelectors(w.selector, r.scope.Selector)
	}
	if w.optional {
		q.unserved = ignored
	}
	if q.versions[0] == kruise.V1beta1 {
		q.versions = append(q.versions, kruise.V1alpha1)
	}
	return r.lister.list(ctx, q, func(version schema.GroupVersion, u *unstructured.Unstructured) error {
		if u.GetDeletionTimestamp() == nil && (w.only == nil || w.only(u.Object)) {
			u.SetAPIVersion(version.String())
			u.SetKind(w.name)
			r.keep(w.of(u.Object).prune(u.Object))
		}
		return nil
	})
}

// fact is an object that was found, with its place among the others. An answer holds
// five times as much: no page of one is kept.
type fact struct {
	place string
	node  *tree.Node
}

// keep adds an object. Facts are never changed, so they share what they can.
func (r *factReader) keep(object map[string]any) {
	n := r.nodes.FromValue(object)
	r.found = append(r.found, fact{sortKey(n), n})
}

// of returns the kind of fact that an object is.
func (k *factKind) of(object map[string]any) *factKind {
	if k == copies && isImmutableCopy(object) {
		return immutableCopies
	}
	return k
}

// joinSelectors joins two label selectors.
func joinSelectors(a, b string) string {
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

// prune returns what the kind keeps of an object, and always its identity.
// Lists are gone through item by item; what is left empty is left out.
func (k *factKind) prune(object map[string]any) map[string]any {
	m := masks()[k.mask]
	out, _ := m.Keep.pick(object, m.Drop).(map[string]any)
	switch k.mask {
	case "services":
		addressless(out)
	case "running pods":
		markOnly(out)
	case "pod states":
		unannotated(out)
	}
	return out
}

// paths is a tree of field names; one without children means the whole field.
type paths map[string]paths

// pick returns the part of v that p names, less what without names.
func (p paths) pick(v any, without paths) any {
	switch v := v.(type) {
	case map[string]any:
		return p.pickMap(v, without)
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			if picked := p.pick(item, without); picked != nil {
				out = append(out, picked)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	if len(p) > 0 {
		return nil // a field below something that has none
	}
	return v
}

func (p paths) pickMap(v map[string]any, without paths) any {
	out := map[string]any{}
	for name, value := range v {
		below, named := p[name]
		minus, less := without[name]
		if !named && len(p) > 0 || less && len(minus) == 0 {
			continue
		}
		if picked := below.pick(value, minus); picked != nil {
			out[name] = picked
		}
	}
	if len(out) == 0 && (len(p) > 0 || len(v) > 0) {
		return nil
	}
	return out
}

// addressless takes an address away that says no more than that there is one.
func addressless(service map[string]any) {
	if spec, ok := service["spec"].(map[string]any); ok && spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
	}
}
