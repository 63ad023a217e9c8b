package resourcearg_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

// item is an object that was rendered from another one.
func renderedItem(name, source, owner string) string {
	if owner != "" {
		owner = `, "ownerReferences": [{"kind": "Deployment", "name": "x", "uid": "u", "controller": true}]`
	}
	return fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "shop", "labels": {"kubectl-kruise.dev/source": %q}%s}}`, name, source, owner)
}

// cluster has workloads that were rendered; ReplicaSets may not be listed.
func fakeCluster(t *testing.T) *factory.Factory {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	lists := map[string][]string{
		"deployments":          {renderedItem("web", "cloneset.web", ""), renderedItem("api", "cloneset.api", ""), renderedItem("ud-a", "uniteddeployment.ud", ""), renderedItem("ud-b", "uniteddeployment.ud", "")},
		"statefulsets":         {renderedItem("db", "statefulset.db", ""), renderedItem("made", "cloneset.web", "x")},
		"poddisruptionbudgets": {renderedItem("guard", "podunavailablebudget.guard", "")},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		plural := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if plural == "replicasets" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}`)
			return
		}
		_, value, one := strings.Cut(r.URL.Query().Get("labelSelector"), "=")
		var items []string
		for _, i := range lists[plural] {
			if !one || strings.Contains(i, `"`+value+`"`) {
				items = append(items, i)
			}
		}
		_, _ = fmt.Fprintf(w, `{"kind": "List", "apiVersion": "v1", "items": [%s]}`, strings.Join(items, ","))
	}))
	t.Cleanup(s.Close)
	namespace := "shop"
	f := factory.New(factory.Streams{Err: &bytes.Buffer{}})
	f.Flags.APIServer, f.Flags.Namespace = &s.URL, &namespace
	return f
}

// lacks is kubectl's message about a type that the server does not have.
func lacksKruise(args []string) error {
	word, _, _ := strings.Cut(args[0], "/")
	return fmt.Errorf("the server doesn't have a resource type %q", word)
}

func TestDo(t *testing.T) {
	for args, want := range map[string]struct{ again, said string }{
		"cloneset/web": {"deployment.apps/web", "cloneset/web is deployment.apps/web"},
		"clone web":    {"deployment.apps/web", "clone/web is deployment.apps/web"},
		"clonesets.v1beta1.apps.kruise.io web api": {"deployment.apps/web deployment.apps/api", "clonesets.v1beta1.apps.kruise.io/web is deployment.apps/web, clonesets.v1beta1.apps.kruise.io/api is deployment.apps/api"},
		"clone/web deployment/other":               {"deployment.apps/web deployment/other", "clone/web is deployment.apps/web"},
		"CloneSet":                                 {"deployment.apps/web deployment.apps/api", "CloneSet are deployment.apps/web deployment.apps/api"},
		"asts/db":                                  {"statefulset.apps/db", "asts/db is statefulset.apps/db"},
		"statefulset.apps.kruise.io/db":            {"statefulset.apps/db", "statefulset.apps.kruise.io/db is statefulset.apps/db"},
		"ud/ud":                                    {"deployment.apps/ud-a deployment.apps/ud-b", "ud/ud are deployment.apps/ud-a deployment.apps/ud-b"},
		"pub/guard":                                {"poddisruptionbudget.policy/guard", "pub/guard is poddisruptionbudget.policy/guard"},
		"clone/web clone/missing":                  {}, // one of them is not there: nothing is done to the other
		"clone/missing":                            {},
		"sidecarset/mesh":                          {},
		"clone,pods":                               {},
		"pods/a":                                   {},
		"clone/":                                   {},
		"":                                         {},
	} {
		t.Run(args, func(t *testing.T) {
			f := fakeCluster(t)
			var calls []string
			words := strings.Fields(args)
			first := errors.New("pods \"a\" not found")
			if len(words) > 0 && !strings.HasPrefix(args, "pods") {
				first = lacksKruise(words)
			}
			err := resourcearg.Fallback{Factory: f}.Do(t.Context(), words, func(args []string) error {
				if calls = append(calls, strings.Join(args, " ")); len(calls) == 1 {
					return first
				}
				return nil
			})
			said := f.Streams.Err.(*bytes.Buffer).String() //nolint:forcetypeassert // it is ours
			if want.again == "" {
				if !errors.Is(err, first) || said != "" || len(calls) != 1 {
					t.Errorf("%v, %q, %q", err, calls, said)
				}
				return
			}
			if diff := cmp.Diff([]string{args, want.again, "no Kruise here: " + want.said + "\n"}, append(calls, said)); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestDo_RefusesOneValueForSeveral: a number of replicas is not for each of several.
func TestDo_RefusesOneValueForSeveral(t *testing.T) {
	f := fakeCluster(t)
	calls := 0
	err := resourcearg.Fallback{Factory: f, Single: "scale"}.Do(t.Context(), []string{"ud/ud"}, func(args []string) error {
		calls++
		return lacksKruise(args)
	})
	if bad, ok := errors.AsType[*command.UsageError](err); !ok || bad.Hint != "scale each of them by its own name" || calls != 1 || !strings.Contains(err.Error(), "ud/ud was rendered into 2 objects: deployment.apps/ud-a, deployment.apps/ud-b") {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestDo_SelectorsLookUnderTheirOwnType: what -A or -l choose is looked for under its own type alone.
func TestDo_SelectorsLookUnderTheirOwnType(t *testing.T) {
	f := fakeCluster(t)
	calls := 0
	err := resourcearg.Fallback{Factory: f, Chosen: true}.Do(t.Context(), []string{"clone"}, func(args []string) error {
		calls++
		return lacksKruise(args)
	})
	if err == nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
