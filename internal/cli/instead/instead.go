// Package instead has verbs of kubectl's work on clusters without Kruise: where the
// server does not have a kind of Kruise, they are called again with what was rendered
// for the objects that were named.
package instead

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
)

// Verb is a verb that takes objects as kubectl's do.
type Verb struct {
	Factory *factory.Factory
	// Single is for a verb that means another thing to several objects than to one: it
	// is not called with several that stand for one. It is what is told then, such as
	// "scale".
	Single string
	// Chosen says that objects are chosen by other than their names, from all namespaces
	// or by labels: nothing is found out about those.
	Chosen bool
}

// Do calls do with the objects as they were named: TYPE/NAME ..., TYPE[,TYPE] NAME ...,
// or types alone. Where that fails because a type is one of Kruise that the server does
// not have, it says on standard error what stands for them, and calls do with that.
func (v Verb) Do(ctx context.Context, args []string, do func(args []string) error) error {
	err := do(args)
	if v.Chosen || !kubectl.LacksKruise(err) {
		return err
	}
	named, ok := split(args)
	if !ok {
		return err
	}
	l, lookErr := v.looker(ctx)
	if lookErr != nil {
		return err // the first error says why nothing can be looked up, too
	}
	again, said, lookErr := v.all(l, named)
	if lookErr != nil {
		return lookErr
	}
	if len(said) == 0 {
		return err
	}
	_, _ = fmt.Fprintf(v.Factory.Streams.Err, "no Kruise here: %s\n", strings.Join(said, ", "))
	return do(again)
}

// all are the objects to be called with instead, and for each that changed what is told;
// nothing is told where one has nothing that stands for it.
func (v Verb) all(l looker, named []object) (again, said []string, err error) {
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
			return nil, nil, usage.Errorf(v.Single+" each of them by its own name", "%s was rendered into %d objects: %s", o, len(found), strings.Join(found, ", "))
		}
		again = append(again, found...)
		said = append(said, tell(o, found))
	}
	return again, said, nil
}

func tell(o object, found []string) string {
	verb := "is"
	if len(found) > 1 || o.name == "" {
		verb = "are"
	}
	return o.String() + " " + verb + " " + strings.Join(found, " ")
}
