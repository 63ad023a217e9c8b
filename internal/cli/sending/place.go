package sending

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// target is where an object goes.
type target struct {
	resource  schema.GroupVersionResource
	namespace string
}

func (t target) of(client dynamic.Interface) dynamic.ResourceInterface {
	if t.namespace == "" {
		return client.Resource(t.resource)
	}
	return client.Resource(t.resource).Namespace(t.namespace)
}

// registered is the object's kind, if it is one of Kruise.
func registered(object *tree.Node) (kruise.Registered, bool) {
	group := resource.GroupOf(tree.StrAt(object, "apiVersion"))
	all := kruise.Kinds()
	i := slices.IndexFunc(all, func(r kruise.Registered) bool { return r.Group == group && r.Kind == tree.StrAt(object, "kind") })
	if i < 0 {
		return kruise.Registered{}, false
	}
	return all[i], true
}

// place gives a namespaced object its namespace. Without a cluster it is that of -n
// alone: a manifest for Git does not depend on who made it.
func (o *Options) place(object *tree.Node) error {
	if kind, ok := registered(object); ok && kind.ClusterScoped {
		return nil
	}
	namespace := o.factory.Namespace()
	if !o.Offline() {
		var err error
		if namespace, err = o.factory.NamespaceOrDefault(); err != nil {
			return err
		}
	}
	if namespace != "" {
		tree.SetAt(object, tree.String(namespace), "metadata", "namespace")
	}
	return nil
}

// check refuses what Kruise would refuse, of whatever release: the object is in the newest
// version of its kind.
func (o *Options) check(object *tree.Node) error {
	r := resource.Parsed(object, nil, resource.Origin{})
	var faults resource.Errors
	for _, p := range lint.Run(lint.Request{Objects: []*resource.Resource{r}, Namespace: o.factory.Namespace(), Kept: true, Kruise: kruise.Next}) {
		if p.Severity == lint.Error {
			faults.Add(p.Error)
		}
	}
	return faults.Err()
}

// prepare puts the object into the version that it is written in; to is nil where
// nothing is sent.
func (o *Options) prepare(object *tree.Node) (u *unstructured.Unstructured, to *target, err error) {
	kind, ours := registered(object)
	version := o.version
	if !o.Offline() {
		if to, err = o.find(object, kind, ours); err != nil {
			return nil, nil, err
		}
		version = to.resource.Version
	}
	if ours {
		if object, err = o.written(object, kind, version); err != nil {
			return nil, nil, err
		}
	}
	fields, ok := tree.Value(object).(map[string]any)
	if !ok {
		return nil, nil, errors.New("the object is not a mapping")
	}
	return &unstructured.Unstructured{Object: fields}, to, nil
}

// written is an object of Kruise in a version, or in the newest one that the release
// serves; what has no place there is an error.
func (o *Options) written(object *tree.Node, kind kruise.Registered, version string) (*tree.Node, error) {
	takes := o.kruise.Given()
	if version == "" {
		versions := takes.OrNewest().Versions(kind.Group, kind.Kind)
		if len(versions) == 0 {
			return nil, &resource.Error{Err: fmt.Errorf("%s has no %s", takes.OrNewest().Name(), kind.Kind), Hint: "give another --" + release.Name}
		}
		version = versions[len(versions)-1]
	}
	if !takes.IsZero() && !takes.Serves(kind.Group, kind.Kind, version) {
		in, _ := kruise.ServedIn(kind.Group, kind.Kind, version)
		return nil, &resource.Error{
			Err:  fmt.Errorf("%s does not serve %s as %s: it is there %s", takes.Name(), kind.Kind, version, in.Words()),
			Hint: "leave --api-version out, or give another --" + release.Name,
		}
	}
	if version != kind.Newest() {
		var err error
		if object, err = older(object, version, takes); err != nil {
			return nil, err
		}
	}
	if takes.IsZero() {
		return object, nil
	}
	var faults resource.Errors
	for _, a := range takes.Absent(object) {
		faults.Add(&resource.Error{Err: fmt.Errorf("%s: %s; %s does not have it", a.Path, a.Words(), takes.Name()), Hint: "leave it out, or update Kruise"})
	}
	return object, faults.Err()
}

// find asks the cluster in which version it takes the kind.
func (o *Options) find(object *tree.Node, kind kruise.Registered, ours bool) (*target, error) {
	mapper, err := o.factory.Flags.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	gvk := schema.FromAPIVersionAndKind(tree.StrAt(object, "apiVersion"), tree.StrAt(object, "kind"))
	versions := []string{gvk.Version}
	if ours {
		versions = slices.Clone(kind.Versions)
		slices.Reverse(versions)
	}
	if o.version != "" && ours {
		versions = []string{o.version}
	}
	m, err := mapper.RESTMapping(gvk.GroupKind(), versions...)
	switch {
	case meta.IsNoMatchError(err):
		return nil, &resource.Error{
			Err:  fmt.Errorf("the cluster has no kind %s in %s/%s", gvk.Kind, gvk.Group, strings.Join(versions, " or ")),
			Hint: "see 'kubectl api-resources --api-group " + gvk.Group + "'; --dry-run=client -o yaml needs no cluster",
		}
	case err != nil:
		return nil, err
	}
	t := &target{resource: m.Resource}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		t.namespace = tree.StrAt(object, "metadata", "namespace")
	}
	return t, nil
}

// older puts the object into an older version; what has no place there is an error.
func older(object *tree.Node, version string, takes kruise.Release) (*tree.Node, error) {
	out, lost, err := takes.Convert(object, version)
	if err != nil {
		return nil, err
	}
	var faults resource.Errors
	for _, l := range lost {
		faults.Add(&resource.Error{Err: fmt.Errorf("%s does not exist in %s: %s", l.Path, version, l.Why), Hint: "leave it out, or update Kruise"})
	}
	return out, faults.Err()
}

// refused says what the server said, as kubectl's create does.
func refused(u *unstructured.Unstructured, err error) error {
	if apierrors.IsAlreadyExists(err) {
		return &resource.Error{Err: err, Hint: "choose another name, or delete that one first"}
	}
	return fmt.Errorf("failed to create %s: %w", strings.ToLower(u.GetKind()), err)
}
