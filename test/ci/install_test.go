// Package ci tests what jobs of others use: the script that installs a release, the action
// of GitHub, the component of GitLab, the hooks of pre-commit, and our own workflows.
package ci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/krew"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

const version = "v1.2.3"

// cosign replaces the program of this name. It takes the call that cosign's manual has
// for keyless signatures of files, and a bundle that holds the digest of the file and the
// identity of who signed it.
const cosign = `#!/bin/sh
[ "$1" = verify-blob ] && [ "$2" = --bundle ] && [ "$4" = --certificate-identity ] && [ "$6" = --certificate-oidc-issuer ] && [ $# = 8 ] || { echo "cosign: not understood: $*" >&2; exit 1; }
[ "$7" = https://token.actions.githubusercontent.com ] || { echo "cosign: issuer $7" >&2; exit 1; }
[ "$(cat "$3")" = "$5 $(sha256sum < "$8" | cut -d' ' -f1)" ] || { echo "Error: no matching signatures" >&2; exit 1; }
echo "Verified OK" >&2
`

// published is a folder of releases with one for this machine, whose program is a script.
type published struct {
	t            *testing.T
	dir, archive string
}

func publish(t *testing.T) published {
	t.Helper()
	p := published{
		t:       t,
		dir:     filepath.Join(t.TempDir(), version),
		archive: krew.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Archive(version),
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"kubectl-kruise": "#!/bin/sh\necho 'kubectl-kruise " + version + " go1.26 linux/amd64'\n", "kubectl_complete-kruise": "#!/bin/sh\n", "LICENSE": "…",
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	p.write(p.archive, b.String())
	p.write("checksums.txt", fmt.Sprintf("%s  %s\n%s  other.tar.gz\n", digest(b.String()), p.archive, strings.Repeat("0", 64)))
	p.sign(version)
	return p
}

// sign signs the checksums with the identity of the release workflow of a version.
func (p published) sign(version string) {
	p.t.Helper()
	p.write("checksums.txt.sigstore.json", "https://github.com/kubectl-kruise/kubectl-kruise/.github/workflows/release.yaml@refs/tags/"+version+" "+digest(p.read("checksums.txt")))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (p published) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(p.dir, 0o750); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p published) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// job is a machine of a CI system.
type job struct{ folder, downloads, programs string }

func newJob(t *testing.T) job {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	j := job{filepath.Join(t.TempDir(), "bin"), filepath.Join(t.TempDir(), "downloads"), t.TempDir()}
	if err := os.WriteFile(filepath.Join(j.programs, "cosign"), []byte(cosign), 0o700); err != nil {
		t.Fatal(err)
	}
	return j
}

// install runs the script; said is what it printed.
func (j job) install(t *testing.T, url, version string, more ...string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", checkout.Path("plugins", "ci", "install.sh"), version, j.folder, j.downloads)
	cmd.Env = append(os.Environ(), append(more, "KRUISE_RELEASES="+url, "PATH="+j.programs+string(os.PathListSeparator)+os.Getenv("PATH"))...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (j job) installed() bool {
	_, err := os.Stat(filepath.Join(j.folder, "kubectl-kruise"))
	return err == nil
}

// TestInstall_FromAServerCacheOrFolder: from a server, and a second time from what is kept of the first, with no
// server any more; from a folder, too.
func TestInstall_FromAServerCacheOrFolder(t *testing.T) {
	p, j := publish(t), newJob(t)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(p.dir))))
	t.Cleanup(server.Close)
	for _, server := range []func() string{
		func() string { return server.URL },
		func() string { server.Close(); return server.URL },
		func() string { j.downloads = t.TempDir(); return "file://" + filepath.Dir(p.dir) },
	} {
		if err := os.RemoveAll(j.folder); err != nil {
			t.Fatal(err)
		}
		if said, err := j.install(t, server(), version); err != nil || !strings.Contains(said, "kubectl-kruise "+version) || !j.installed() {
			t.Errorf("%v\n%s", err, said)
		}
	}
	if _, err := os.Stat(filepath.Join(j.folder, "kubectl_complete-kruise")); err != nil {
		t.Error(err)
	}
}

// TestInstall_RefusesWhatWasNotSigned: nothing is installed of a release that is not what was signed.
func TestInstall_RefusesWhatWasNotSigned(t *testing.T) {
	other := strings.Repeat("1", 64)
	for name, c := range map[string]struct {
		harm    func(published)
		version string
		env     string
		says    string
	}{
		"a changed archive":           {func(p published) { p.write(p.archive, p.read(p.archive)+"x") }, "", "", "has the SHA-256"},
		"a changed archive, unsigned": {func(p published) { p.write(p.archive, p.read(p.archive)+"x") }, "", "KRUISE_VERIFY=checksum", "has the SHA-256"},
		"a wrong checksum, signed": {func(p published) {
			p.write("checksums.txt", other+"  "+p.archive+"\n")
			p.sign(version)
		}, "", "", "checksums.txt of " + version + " says " + other},
		"changed checksums":          {func(p published) { p.write("checksums.txt", p.read("checksums.txt")+"\n") }, "", "", "is not signed by the release workflow"},
		"signed for another version": {func(p published) { p.sign("v1.2.2") }, "", "", "is not signed by the release workflow"},
		"no signature":               {func(p published) { p.remove("checksums.txt.sigstore.json") }, "", "", "cannot download"},
		"no checksums":               {func(p published) { p.remove("checksums.txt") }, "", "", "cannot download"},
		"no checksum of the archive": {func(p published) {
			p.write("checksums.txt", other+"  other.tar.gz\n")
			p.sign(version)
		}, "", "", "has no kubectl-kruise_"},
		"no such version":              {func(published) {}, "v9.9.9", "", "cannot download"},
		"no version":                   {func(published) {}, "latest", "", "version latest is not like v1.2.3"},
		"a version that climbs":        {func(published) {}, "v1.2.3/../../x", "", "is not like v1.2.3"},
		"verification is misspelt":     {func(published) {}, "", "KRUISE_VERIFY=none", "signature or checksum"},
		"the program is another build": {func(p published) { p.rename() }, "v1.2.4", "KRUISE_VERIFY=checksum", "holds another version: kubectl-kruise v1.2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, j := publish(t), newJob(t)
			c.harm(p)
			asked := c.version
			if asked == "" {
				asked = version
			}
			said, err := j.install(t, "file://"+filepath.Dir(p.dir), asked, c.env)
			if err == nil || !strings.Contains(said, c.says) {
				t.Errorf("%v\n%s\nwant: %s", err, said, c.says)
			}
			if j.installed() && c.version != "v1.2.4" {
				t.Error("it is installed all the same")
			}
		})
	}
}

// TestInstall_ChecksTheCache: what an earlier job has left counts no more than a download.
func TestInstall_ChecksTheCache(t *testing.T) {
	p, j := publish(t), newJob(t)
	url := "file://" + filepath.Dir(p.dir)
	if said, err := j.install(t, url, version); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	file := filepath.Join(j.downloads, p.archive)
	if err := os.WriteFile(file, []byte("another archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := j.install(t, url, version); err == nil || !strings.Contains(said, "has the SHA-256") {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestInstall_WorksWithoutCosign: signatures are not left out because nothing can check them.
func TestInstall_WorksWithoutCosign(t *testing.T) {
	p, j := publish(t), newJob(t)
	if err := os.Remove(filepath.Join(j.programs, "cosign")); err != nil {
		t.Fatal(err)
	}
	url := "file://" + filepath.Dir(p.dir)
	if said, err := j.install(t, url, version); err == nil || !strings.Contains(said, "cosign is not on the PATH") || j.installed() {
		t.Errorf("%v\n%s", err, said)
	}
	if said, err := j.install(t, url, version, "KRUISE_VERIFY=checksum"); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

func (p published) remove(name string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// rename publishes the archive as one of the next version.
func (p published) rename() {
	p.t.Helper()
	next := published{t: p.t, dir: filepath.Join(filepath.Dir(p.dir), "v1.2.4")}
	name := strings.ReplaceAll(p.archive, "1.2.3", "1.2.4")
	next.write(name, p.read(p.archive))
	next.write("checksums.txt", digest(p.read(p.archive))+"  "+name+"\n")
}
