package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHints_KeepTheConnection: a command in a hint has the namespace, the context and the
// kubeconfig of the command that failed, so that it can be copied.
func TestHints_KeepTheConnection(t *testing.T) {
	url, _ := releaseServer(t, "Healthy", "Completed")
	file := filepath.Join(t.TempDir(), "config")
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: prod, context: {cluster: c}}]}`, url)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	const connection = " -n shop --context prod --kubeconfig "
	for args, want := range map[string]string{
		"rollout resume cloneset/web":  "'kubectl kruise rollout approve rollout/web" + connection + file + "' continues it",
		"rollout abort cloneset/web":   "'kubectl kruise rollout undo rollout/web" + connection + file + "' rolls it back",
		"get clonesets/web --nonsense": "'kubectl kruise get --help'",
	} {
		t.Run(args, func(t *testing.T) {
			code, _, errOut := call(t.Context(), t, "", append(strings.Fields(args), "-n", "shop", "--kubeconfig", file, "--context", "prod")...)
			if code == 0 || !strings.Contains(errOut, want) {
				t.Errorf("exit %d, want the hint %s:\n%s", code, want, errOut)
			}
		})
	}
}
