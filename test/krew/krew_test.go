// Package krew installs the plugin as users do: with krew itself, of an index and of a
// manifest, and then runs it through kubectl.
package krew

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/krew"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

const version = "v1.2.3"

// release is the folder with an archive for this machine, and its manifest. The other
// platforms have sums of nothing.
func release(t *testing.T, url string) (dir string, here krew.Platform) {
	t.Helper()
	return releaseOf(t, version, url)
}

func releaseOf(t *testing.T, version, url string) (dir string, here krew.Platform) {
	t.Helper()
	dir, here = t.TempDir(), krew.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	archive := pack(t)
	sums := map[string]string{}
	for _, p := range krew.Platforms {
		sums[p.Archive(version)] = strings.Repeat("0", 64)
	}
	sum := sha256.Sum256(archive)
	sums[here.Archive(version)] = hex.EncodeToString(sum[:])
	text, err := krew.Manifest(krew.Release{Version: version, URL: url, Sums: sums})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plugins", "kruise.yaml"), []byte(text))
	write(t, filepath.Join(dir, here.Archive(version)), archive)
	return dir, here
}

// TestManifest_PassesKrewsCheck: krew's own check of manifests, of what is committed, too.
func TestManifest_PassesKrewsCheck(t *testing.T) {
	made, _ := release(t, "")
	for _, file := range []string{filepath.Join(made, "plugins", "kruise.yaml"), checkout.Path("plugins", "krew-index", "plugins", "kruise.yaml")} {
		h := newHome(t)
		if said, err := h.run(tool(t, "validate-krew-manifest"), "-skip-install", "-manifest", file); err != nil {
			t.Errorf("%s: %v\n%s", file, err, said)
		}
	}
}

// TestInstall_FromAnArchive installs of local files, and kubectl finds the plugin.
func TestInstall_FromAnArchive(t *testing.T) {
	dir, here := release(t, "")
	h := newHome(t)
	archive := filepath.Join(dir, here.Archive(version))
	h.krew(t, "install", "--manifest", filepath.Join(dir, "plugins", "kruise.yaml"), "--archive", archive)
	h.works(t)
}

// TestInstall_FromAnIndex installs from the custom index, over HTTP.
func TestInstall_FromAnIndex(t *testing.T) {
	index, h := serve(t), newHome(t)
	h.krew(t, "index", "add", "kruise", "file://"+index)
	h.krew(t, "install", "--no-update-index", "kruise/kruise")
	h.works(t)
	if said := h.krew(t, "list"); !strings.Contains(said, "kruise/kruise") {
		t.Errorf("krew lists\n%s", said)
	}
}

// TestInstall_RefusesAnotherArchive: an archive that is not the one of the manifest is not installed.
func TestInstall_RefusesAnotherArchive(t *testing.T) {
	dir, here := release(t, "")
	archive := filepath.Join(dir, here.Archive(version))
	b, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	write(t, archive, append(b, 0))
	h := newHome(t)
	said, err := h.run(tool(t, "krew"), "install", "--manifest", filepath.Join(dir, "plugins", "kruise.yaml"), "--archive", archive)
	if err == nil || !strings.Contains(said, "checksum does not match") {
		t.Errorf("%v\n%s", err, said)
	}
	if _, err := os.Lstat(h.link()); err == nil {
		t.Errorf("%s is there", h.link())
	}
}
