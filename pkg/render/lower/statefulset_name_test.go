package lower_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestNames_AreValidForTheAPIServer: what the API server takes as a name (test/e2e/accept).
func TestNames_AreValidForTheAPIServer(t *testing.T) {
	long := strings.Repeat("long-", 10) + "web"
	for _, c := range []struct {
		input string
		want  []string
		fault string
	}{
		{input: set("web.v1", ""), want: []string{"Deployment shop/web.v1"}},
		{input: set("web.v1", claims), want: []string{"StatefulSet shop/web-v1", "Service shop/web-v1"}},
		{input: set("web.v1", claims) + "---\n" + set("web-v1", claims), fault: "a Kruise workload would become a second StatefulSet of this name"},
		{input: strings.Replace(set("web.v1", ""), "kind: CloneSet", "kind: StatefulSet", 1), fault: "metadata.name: a StatefulSet's name has no dots and at most 52 characters"},
		{input: set(long, ""), want: []string{"Deployment shop/" + long}},
		{input: set(long, claims), want: []string{"StatefulSet shop/" + long[:43] + "-17fd5809", "Service shop/" + long}},
		{input: set(long[1:], claims), want: []string{"StatefulSet shop/" + long[1:], "Service shop/" + long[1:]}},
		{input: strings.Replace(set("web.v1", ""), "kind: CloneSet", "kind: DaemonSet", 1), want: []string{"DaemonSet shop/web.v1"}},
	} {
		_, out, err := run(t, stage.Native, c.input)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v, want %q", err, c.fault)
			}
			continue
		}
		if diff := cmp.Diff(c.want, names(out)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}
