package argocd

import (
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v3/util/cmp"
)

// limit is above the repo server's 60 seconds: what is slow is the machine.
const limit = 5 * time.Minute

// repository lays files out as a checkout, and returns its root.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// environment is what the repo server sends with an application in apps/web, and more
// over it.
func environment(more map[string]string) []string {
	all := map[string]string{
		"ARGOCD_APP_NAME": "web", "ARGOCD_APP_NAMESPACE": "shop", "ARGOCD_APP_PROJECT_NAME": "default",
		"ARGOCD_APP_REVISION": "0123456789abcdef", "ARGOCD_APP_SOURCE_PATH": "apps/web",
		"ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/shop.git", "ARGOCD_APP_SOURCE_TARGET_REVISION": "main",
		"ARGOCD_APP_PARAMETERS": "null", "KUBE_VERSION": "1.35", "KUBE_API_VERSIONS": "v1,apps/v1",
	}
	for k, v := range more {
		all[k] = v
	}
	out := make([]string, 0, len(all))
	for k, v := range all {
		out = append(out, k+"="+v)
	}
	sort.Strings(out)
	return out
}

// generate asks for the manifests of apps/web.
func (s *sidecar) generate(t *testing.T, root string, env map[string]string) (*apiclient.ManifestResponse, error) {
	t.Helper()
	stream, err := s.client.GenerateManifest(call(t))
	if err != nil {
		return nil, err
	}
	if err := cmp.SendRepoStream(stream.Context(), filepath.Join(root, "apps/web"), root, stream, environment(env), nil); err != nil {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// match asks whether apps/web is for the plugin.
func (s *sidecar) match(t *testing.T, root string) *apiclient.RepositoryResponse {
	t.Helper()
	stream, err := s.client.MatchRepository(call(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.SendRepoStream(stream.Context(), filepath.Join(root, "apps/web"), root, stream, environment(nil), nil); err != nil {
		t.Fatal(err)
	}
	answer, err := stream.CloseAndRecv()
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// parameters asks what apps/web may be given.
func (s *sidecar) parameters(t *testing.T, root string) (*apiclient.ParametersAnnouncementResponse, error) {
	t.Helper()
	stream, err := s.client.GetParametersAnnouncement(call(t))
	if err != nil {
		return nil, err
	}
	if err := cmp.SendRepoStream(stream.Context(), filepath.Join(root, "apps/web"), root, stream, environment(nil), nil); err != nil {
		return nil, err
	}
	return stream.CloseAndRecv()
}
