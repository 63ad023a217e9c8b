package kubectl

import (
	"errors"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Err is what the options of a command of kubectl returned, as our verbs return it: each of
// several failures by itself, a wrong call as an error of usage, a type that the
// server does not have with a hint.
func Err(err error) error {
	var out resource.Errors
	for _, e := range apart(err) {
		out.Add(one(e))
	}
	return out.Err()
}

// apart lists the failures that an error holds.
func apart(err error) []error {
	many, ok := errors.AsType[utilerrors.Aggregate](err)
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range many.Errors() {
		out = append(out, apart(e)...)
	}
	return out
}

func one(err error) error {
	if err == nil {
		return nil
	}
	if what, see, ok := strings.Cut(err.Error(), "\nSee '"); ok {
		return usage.Errorf("see '"+strings.Replace(see, " -h' for help and examples", " --help'", 1), "%s", tidy(what))
	}
	if hint := Hint(err); hint != "" {
		return &resource.Error{Err: err, Hint: hint}
	}
	return err
}

// tidy makes a sentence of kubectl's the tail of a line.
func tidy(what string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(what), "\n")
	first = strings.TrimSuffix(first, ".")
	return strings.ToLower(first[:min(1, len(first))]) + first[min(1, len(first)):]
}
