package check

import (
	"reflect"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// UnknownField is the ID of the rule about fields that a kind does not have. An
// API server drops such a field unless it is asked to be strict.
const UnknownField = unknownField

// Dropped returns the fields that Kubernetes does not know where Kruise's schema
// takes any, such as in pod templates: an API server keeps them, even when it is asked
// to be strict, and what is made of the object goes without. The hint says what was
// meant; there is none for kinds that are not Kruise's.
func Dropped(c *stage.Context, r *resource.Resource) map[string]string {
	s := newSubject(c, Request{Object: r})
	if s.kind == nil {
		return nil
	}
	unknown, err := kruise.Decode(r.Node(), reflect.New(reflect.TypeOf(s.kind.object)).Interface())
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, path := range unknown {
		if s.isOpen(path) && !under(path, "status") {
			out[path] = s.spelling(path)
		}
	}
	return out
}
