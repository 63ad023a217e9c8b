package change

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// TestSet_WarnsOfAnOwnerWithoutARequest: a change of a field that another manager owns is warned of, without a request.
func TestSet_WarnsOfAnOwnerWithoutARequest(t *testing.T) {
	var said bytes.Buffer
	f := factory.New(factory.Streams{Err: &said})
	e := &rolloutExplainer{edit: &edit{Factory: f}}
	owned := setObject(t, "kind: CloneSet\nmetadata: {name: web-a, ownerReferences: [{kind: UnitedDeployment, name: web, controller: true}]}")
	if err := e.owners(owned); err != nil || !strings.Contains(said.String(), "CloneSet web-a belongs to UnitedDeployment web") {
		t.Errorf("%q, %v", &said, err)
	}
}

// TestExplain_NamesAControllingRollout checks that a new template of a workload with a Kruise
// Rollout is said to start it.
func TestExplain_NamesAControllingRollout(t *testing.T) {
	const list = `{"apiVersion": "rollouts.kruise.io/v1beta1", "kind": "RolloutList", "items": [{
		"apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout", "metadata": {"name": "shop", "namespace": "a"},
		"spec": {"workloadRef": {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web"}, "strategy": {"canary": {"steps": [{"replicas": 1}]}}}}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, list)
	}))
	defer s.Close()
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	for name, want := range map[string]string{
		"web":   "note: a new template starts rollout.rollouts.kruise.io/shop: 'kubectl kruise rollout status rollout/shop' follows it\n",
		"other": "",
	} {
		var said bytes.Buffer
		f := factory.New(factory.Streams{Err: &said})
		*f.Flags.APIServer = s.URL
		e := &rolloutExplainer{edit: &edit{Factory: f}, ctx: t.Context()}
		err := e.owners(setObject(t, "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: "+name+", namespace: a}"))
		if err != nil || said.String() != want {
			t.Errorf("%s: %q, %v", name, &said, err)
		}
	}
}
