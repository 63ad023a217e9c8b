package resource

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Secrets are the Secrets of an input, also those that ResourceDistributions have. What is said
// about any object of the input has none of their values: something may have copied them there.
type Secrets struct {
	nodes  []*tree.Node
	values *redact.Values
}

// SecretsOf returns the Secrets among the objects.
func SecretsOf(lists ...[]*Resource) *Secrets {
	s := &Secrets{}
	for _, list := range lists {
		for _, r := range list {
			switch {
			case r.Kind() == "Secret":
				s.nodes = append(s.nodes, r.Node())
			case r.Is(kruise.Group, kruise.KindResourceDistribution) && tree.StrAt(r.Node(), "spec", "resource", "kind") == "Secret":
				s.nodes = append(s.nodes, tree.Get(r.Node(), "spec", "resource"))
			}
		}
	}
	return s
}

// Masked returns a text without values of the Secrets.
func (s *Secrets) Masked(text string) string {
	return s.read().Masked(text)
}

// Content returns the value of a field of any object, without long values of the Secrets.
func (s *Secrets) Content(v any) any {
	switch v := v.(type) {
	case string:
		return s.read().Content(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = s.Content(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.Content(item)
		}
		return out
	}
	return v
}

// read are the values, nil for none.
func (s *Secrets) read() *redact.Values {
	if s.values == nil && len(s.nodes) > 0 {
		s.values = redact.NewValues(s.texts())
	}
	return s.values
}

// texts are the values of the Secrets, as they are written and decoded.
func (s *Secrets) texts() []string {
	var out []string
	for _, n := range s.nodes {
		for _, field := range []string{"data", "stringData"} {
			tree.Each(tree.Get(n, field), func(_, v *tree.Node) {
				if !tree.IsScalar(v) || tree.IsNull(v) {
					return
				}
				out = append(out, v.Value)
				if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(v.Value), "")); err == nil && field == "data" {
					out = append(out, string(b))
				}
			})
		}
	}
	return out
}

// MaskedError returns a fault without values of the Secrets; the fault itself where it has none.
func (s *Secrets) MaskedError(e *Error) *Error {
	field, said, hint := s.Masked(e.Field), s.Masked(e.Err.Error()), s.Masked(e.Hint)
	if field == e.Field && said == e.Err.Error() && hint == e.Hint {
		return e
	}
	out := *e
	out.Field, out.Hint = field, hint
	if said != e.Err.Error() {
		out.Err = errors.New(said)
	}
	return &out
}

// MaskedErrors does the same for the faults of an input.
func (s *Secrets) MaskedErrors(err error) error {
	if err == nil || s.Masked(err.Error()) == err.Error() && !hinted(err) {
		return err
	}
	var all, out Errors
	all.Add(err)
	for _, one := range all {
		if e, ok := one.(*Error); ok { //nolint:errorlint // one that is wrapped has a text of its own
			one = s.MaskedError(e)
		} else if said := s.Masked(one.Error()); said != one.Error() {
			one = errors.New(said)
		}
		out = append(out, one)
	}
	return out.Err()
}

// hinted reports whether err has more text than its message.
func hinted(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}
