package load

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Single parses a text that must hold one document, with its aliases written
// out, and returns the document's node; name stands for the text in messages.
func Single(name string, b []byte) (*tree.Node, error) {
	if err := text(name, b); err != nil {
		return nil, err
	}
	docs, err := split(name, b, 1)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, &resource.Error{File: name, Err: ErrEmpty}
	}
	if len(docs) > 1 {
		return nil, docs[1].fault(docs[1].line, "", "a second document begins here, where one is allowed")
	}
	return docs[0].expanded(Options{}.withDefaults())
}

// Check refuses an object that lacks what the engine goes by, as Load does.
func Check(r *resource.Resource) error { return check(r) }
