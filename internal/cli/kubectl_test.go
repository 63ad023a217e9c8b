package cli

import (
	"strings"
	"testing"
)

// TestKubectlCommands_EndLikeOtherCommands: what is taken over from kubectl ends as our own commands do.
func TestKubectlCommands_EndLikeOtherCommands(t *testing.T) {
	t.Setenv("KUBECONFIG", file(t, "{apiVersion: v1, kind: Config, current-context: one, contexts: [{name: one, context: {cluster: one, user: one}}]}"))
	for _, c := range []struct {
		args      []string
		code      int
		out, said string
	}{
		{[]string{"config", "current-context"}, 0, "one\n", ""},
		{[]string{"config", "use-context", "two"}, 1, "", `error: no context exists with the name: "two"`},
		{[]string{"config"}, 1, "", "current-context"},
		{[]string{"patch"}, 1, "", "error: must specify --patch or --patch-file containing the contents of the patch\n"},
		{[]string{"api-versions", "x"}, 2, "", "error: unexpected arguments: [x]\nhint: see 'kubectl kruise api-versions --help'\n"},
		{[]string{"replace"}, 1, "", "error: must specify one of -f and -k\n"},
		{[]string{"kustomize", "/nonexistent"}, 1, "", "error: "},
		{[]string{"options"}, 0, "--as-group", ""},
		{[]string{"wait", "--nonsense"}, 2, "", "error: unknown flag: --nonsense"},
	} {
		code, out, said := call(t.Context(), t, "", c.args...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(said, c.said) {
			t.Errorf("%q: exit %d\n%s%s", c.args, code, out, said)
		}
	}
}
