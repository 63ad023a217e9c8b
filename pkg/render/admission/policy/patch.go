package policy

import (
	"fmt"
	"strings"
)

// Patch gathers operations of a JSON patch, in order. Paths and values are CEL.
type Patch struct {
	terms []string
	// unless is a condition under which nothing happens, "" for none.
	unless string
}

// Op returns one operation; value is "" for remove.
func Op(op, path, value string) string {
	if value == "" {
		return fmt.Sprintf("JSONPatch{op: %q, path: %s}", op, path)
	}
	return fmt.Sprintf("JSONPatch{op: %q, path: %s, value: %s}", op, path, value)
}

// Do adds operations that always happen.
func (p *Patch) Do(ops ...string) { p.terms = append(p.terms, "["+strings.Join(ops, ", ")+"]") }

// When adds operations that happen if a condition, which is CEL, holds.
func (p *Patch) When(condition string, ops ...string) {
	p.terms = append(p.terms, "("+condition+" ? ["+strings.Join(ops, ", ")+"] : [])")
}

// Annotate sets an annotation of the pod; value is CEL. The mapping must be there,
// see [Patch.Annotations].
func (p *Patch) Annotate(key, value string) {
	p.Do(Op("add", Quote(Pointer("metadata", "annotations", key)), value))
}

// Annotations makes sure that the pod has a mapping of annotations.
func (p *Patch) Annotations() { p.ensure("object.metadata", "annotations", "{}", "metadata") }

// List makes sure that the pod's spec has a list, such as volumes.
func (p *Patch) List(field string) { p.ensure("object.spec", field, "[]", "spec") }

func (p *Patch) ensure(of, field, value, at string) {
	p.When(fmt.Sprintf("!has(%s.%s)", of, field), Op("add", Quote(Pointer(at, field)), value))
}

// Unless keeps the whole patch from pods for which a condition, which is CEL,
// holds. Conditions of the policy would do, but do not know the namespace.
func (p *Patch) Unless(condition string) { p.unless = condition }

// String returns the CEL of the whole list, an operation on each line.
func (p *Patch) String() string {
	all := strings.Join(p.terms, " +\n")
	if p.unless == "" {
		return all
	}
	return p.unless + " ? [] : (\n" + all + ")"
}
