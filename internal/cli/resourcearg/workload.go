package resourcearg

import (
	"errors"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Pick returns the one workload among the objects of an input, or the one that
// name means; name is nil when none was given. from names the input in errors.
// Objects outside namespace are passed over, unless it is "".
// An error that there is none of that name is an [AbsentError].
func Pick(stream []*resource.Resource, name *Name, namespace, from string) (*resource.Resource, error) {
	var found []*resource.Resource
	all := Workloads(stream, namespace)
	for _, r := range all {
		if name == nil || name.Means(r.Group(), r.Kind(), r.Name()) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		if err := checkRef(found[0]); err != nil {
			return nil, &resource.Error{File: found[0].Origin.File, Line: found[0].Origin.Line, Err: err, Hint: "write a name that the API server takes"}
		}
		return found[0], nil
	case len(all) == 0 && namespace != "" && len(Workloads(stream, "")) > 0:
		elsewhere := Workloads(stream, "")
		return nil, &resource.Error{File: from, Err: absentError(name, "holds no workload in namespace "+namespace), Hint: "it holds " + formatNames(elsewhere) + " in " + tree.OneLine(elsewhere[0].Namespace())}
	case len(all) == 0:
		return nil, &resource.Error{File: from, Err: absentError(name, "holds no workload"), Hint: "one of: " + strings.Join(typeNames(), ", ")}
	case len(found) == 0:
		return nil, &resource.Error{File: from, Err: absentError(name, "holds no "+name.String()), Hint: "it holds " + formatNames(all)}
	case name == nil:
		return nil, command.Usagef("name one: "+formatNames(all), "%s holds %s", from, counted.Of(len(all), "workload"))
	}
	return nil, command.Usagef("they are "+formatNames(found)+"; a type may include its group, and -n sets the namespace", "%s is not clear in %s", name, from)
}

// checkRef returns an error for a workload whose name the API server would not take: it becomes part of selectors, and of
// commands that users copy.
func checkRef(r *resource.Resource) error {
	if r.Name() == "" {
		return nil
	}
	return cluster.Ref{Group: r.Group(), Kind: r.Kind(), Namespace: r.Namespace(), Name: r.Name()}.Check()
}

// Workloads are the workloads among the objects of an input, in their order. Objects
// outside namespace are passed over, unless it is "".
func Workloads(stream []*resource.Resource, namespace string) []*resource.Resource {
	var out []*resource.Resource
	for _, r := range stream {
		if cluster.IsWorkload(r.Group(), r.Kind()) && !outsideNamespace(r, namespace) {
			out = append(out, r)
		}
	}
	return out
}

// AbsentError is of a workload that is not where it was looked for, in an input or on a server.
type AbsentError struct{ Err error }

func (e *AbsentError) Error() string { return e.Err.Error() }

func (e *AbsentError) Unwrap() error { return e.Err }

// NotFound is what kubectl prints of an object that a server does not have, with a hint; namespace is ""
// where the kind has none.
func NotFound(kind schema.GroupResource, name, namespace string) error {
	hint := "check the name"
	if namespace != "" {
		hint = "check the name and -n: the namespace is " + namespace
	}
	return &resource.Error{Err: &AbsentError{apierrors.NewNotFound(kind, name)}, Hint: hint}
}

// absentError is the error that an input lacks what name means; nil means no certain one.
func absentError(name *Name, text string) error {
	if name == nil {
		return errors.New(text)
	}
	return &AbsentError{errors.New(text)}
}

func outsideNamespace(r *resource.Resource, namespace string) bool {
	return namespace != "" && r.Namespace() != "" && r.Namespace() != namespace
}

// maxNamed is how many objects an error names.
const maxNamed = 6

// formatNames names objects as a command line could.
func formatNames(list []*resource.Resource) string {
	var out []string
	for i, r := range list {
		if i == maxNamed && len(list) > maxNamed+1 {
			out = append(out, "…")
			break
		}
		name := FormatName(r)
		if checkRef(r) != nil {
			name = strconv.Quote(name)
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// FormatName names a workload as [Parse] reads it, with its group where the kind alone
// is not clear.
func FormatName(r *resource.Resource) string {
	word := strings.ToLower(r.Kind())
	if len(kindsOf(word)) > 1 {
		word += "." + r.Group()
	}
	return word + "/" + r.Name()
}
