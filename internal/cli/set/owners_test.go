package set

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/edit"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// TestOwners: whoever changes what another writes is told, without a request.
func TestOwners(t *testing.T) {
	var said bytes.Buffer
	f := factory.New(factory.Streams{Err: &said, Getenv: func(string) string { return "" }})
	e := &explainer{Verb: &edit.Verb{Factory: f}}
	owned := object(t, "kind: CloneSet\nmetadata: {name: web-a, ownerReferences: [{kind: UnitedDeployment, name: web, controller: true}]}")
	if err := e.owners(owned); err != nil || !strings.Contains(said.String(), "CloneSet web-a belongs to UnitedDeployment web") {
		t.Errorf("%q, %v", &said, err)
	}
}
