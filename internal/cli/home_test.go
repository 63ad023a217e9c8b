package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"
)

// TestHome_IsTheTests: client-go decides when it is initialized where the kubeconfig and
// the caches are. Those of the user who runs the tests would change what they see.
func TestHome_IsTheTests(t *testing.T) {
	for name, path := range map[string]string{
		"kubeconfig": clientcmd.RecommendedHomeFile,
		"caches":     *genericclioptions.NewConfigFlags(false).CacheDir,
	} {
		if home := os.Getenv("HOME"); !strings.HasPrefix(path, home+string(filepath.Separator)) {
			t.Errorf("the %s of the tests: %s, outside of their home %s", name, path, home)
		}
	}
}
