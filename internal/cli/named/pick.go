package named

import (
	"errors"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Pick returns the one workload among the objects of an input, or the one that
// name means; name is nil when none was given. from names the input in errors.
// Objects outside namespace are passed over, unless it is "".
func Pick(stream []*resource.Resource, name *Name, namespace, from string) (*resource.Resource, error) {
	var found, all []*resource.Resource
	for _, r := range stream {
		if !cluster.IsWorkload(r.Group(), r.Kind()) || outside(r, namespace) {
			continue
		}
		all = append(all, r)
		if name == nil || name.Means(r.Group(), r.Kind(), r.Name()) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(all) == 0:
		return nil, &resource.Error{File: from, Err: errors.New("holds no workload"), Hint: "one of: " + strings.Join(Types(), ", ")}
	case len(found) == 0:
		return nil, &resource.Error{File: from, Err: errors.New("holds no " + name.String()), Hint: "it holds " + texts(all)}
	case name == nil:
		return nil, usage.Errorf("name one: "+texts(all), "%s holds %d workloads", from, len(all))
	}
	return nil, usage.Errorf("they are "+texts(found)+"; a type may carry its group, and -n names a namespace", "%s is not clear in %s", name, from)
}

func outside(r *resource.Resource, namespace string) bool {
	return namespace != "" && r.Namespace() != "" && r.Namespace() != namespace
}

// most is how many objects an error names.
const most = 6

// texts names objects as a command line could.
func texts(list []*resource.Resource) string {
	var out []string
	for i, r := range list {
		if i == most && len(list) > most+1 {
			out = append(out, "…")
			break
		}
		out = append(out, Typed(r))
	}
	return strings.Join(out, ", ")
}

// Typed names a workload as [Parse] reads it, with its group where the kind alone
// is not clear.
func Typed(r *resource.Resource) string {
	word := strings.ToLower(r.Kind())
	if len(kindsOf(word)) > 1 {
		word += "." + r.Group()
	}
	return word + "/" + r.Name()
}
