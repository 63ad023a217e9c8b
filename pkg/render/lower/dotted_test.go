package lower_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestDots: what the API server says of names with dots (test/e2e/accept).
func TestDots(t *testing.T) {
	for _, c := range []struct {
		input string
		want  []string
		fault string
	}{
		{input: set("web.v1", ""), want: []string{"Deployment shop/web.v1"}},
		{input: set("web.v1", claims), want: []string{"StatefulSet shop/web-v1", "Service shop/web-v1"}},
		{input: set("web.v1", claims) + "---\n" + set("web-v1", claims), fault: "a Kruise workload would become a second StatefulSet of this name"},
		{input: strings.Replace(set("web.v1", ""), "kind: CloneSet", "kind: StatefulSet", 1), fault: "metadata.name: a StatefulSet's name has no dots"},
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
