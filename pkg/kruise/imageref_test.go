package kruise_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const (
	digestA = "sha256:0f2b36cd4a9e4ab0b7d3d5a6a6bd6a0b9b9a3f1c6d2e5f7a8b9c0d1e2f3a4b5c"
	digestB = "sha256:1f2b36cd4a9e4ab0b7d3d5a6a6bd6a0b9b9a3f1c6d2e5f7a8b9c0d1e2f3a4b5c"
)

func TestAlias(t *testing.T) {
	for _, tc := range []struct{ name, image, imageID, known, want string }{
		{"tag", "example.com/app:1", "example.com/app@" + digestA, "", "example.com/app:1@" + digestA},
		{"tag and digest", "example.com/app:1@" + digestA, "example.com/app@" + digestA, "", "example.com/app@" + digestA},
		{"digest, tag known", "example.com/app@" + digestA, "example.com/app@" + digestA, "example.com/app:1", "example.com/app:1@" + digestA},
		{"digest alone", "example.com/app@" + digestA, "example.com/app@" + digestA, "", ""},
		{"digest, tag of another repository", "example.com/app@" + digestA, "example.com/app@" + digestA, "example.com/other:1", ""},
		{"no tag", "example.com:5000/app", "example.com:5000/app@" + digestA, "", "example.com:5000/app@" + digestA},
		{"short name", "nginx:1.27", "docker.io/library/nginx@" + digestA, "", "nginx:1.27@" + digestA},
		{"older prefix", "nginx:1.27", "docker-pullable://nginx@" + digestA, "", "nginx:1.27@" + digestA},
		{"what runs counts, not what was asked for", "example.com/app:1@" + digestB, "example.com/app@" + digestA, "", "example.com/app@" + digestA},
		{"another repository", "example.com/app:1", "example.com/mirror/app@" + digestA, "", ""},
		{"ID of the content", "example.com/app:1", digestA, "", ""},
		{"not running", "example.com/app:1", "", "", ""},
		{"no reference", "Example.com/App:1", "example.com/app@" + digestA, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, why := kruise.ImageAlias(tc.image, tc.known, tc.imageID)
			if got != tc.want || (got == "") == (why == "") {
				t.Errorf("%q (%s), want %q", got, why, tc.want)
			}
		})
	}
}
