package argocd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// TestMain gives Argo CD's sync engine, which loads a kubeconfig as kubectl does, an empty one
// instead of the machine's. client-go has looked up the home when it was initialized, and where
// the file is not there it looks for one of long ago.
func TestMain(m *testing.M) { os.Exit(withKubeconfig(m)) }

func withKubeconfig(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kubectl-kruise-argocd-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "kubeconfig")
	err = os.WriteFile(file, []byte("apiVersion: v1\nkind: Config\n"), 0o600)
	if err == nil {
		err = os.Setenv(clientcmd.RecommendedConfigPathEnvVar, file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	clientcmd.RecommendedHomeFile = file
	return m.Run()
}
