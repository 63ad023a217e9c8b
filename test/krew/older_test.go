package krew

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// olderVersion is the last of the older plugin in krew's default index.
const olderVersion = "v1.1.2"

// olderIndex is the repository of a default index with the older plugin of the name: a
// program of its module, which is all that is known of it here.
func olderIndex(t *testing.T) string {
	t.Helper()
	source, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(source, "go.mod"), []byte("module github.com/openkruise/kruise-tools\n\ngo 1.24\n"))
	write(t, filepath.Join(source, "main.go"), []byte("package main\n\nfunc main() { println(\"the older plugin\") }\n"))
	binary := filepath.Join(source, "kubectl-kruise")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, step := range []func() error{func() error { return add(w, binary) }, w.Close, z.Close} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	archive, sum := filepath.Join(dir, "older.tar.gz"), sha256.Sum256(b.Bytes())
	write(t, archive, b.Bytes())
	files := serveFiles(t, dir)
	write(t, filepath.Join(dir, "plugins", "kruise.yaml"), fmt.Appendf(nil, `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {name: kruise}
spec:
  version: %s
  homepage: https://github.com/openkruise/kruise-tools
  shortDescription: Easily handle OpenKruise workloads
  platforms:
  - selector: {matchLabels: {os: %s, arch: %s}}
    uri: %s/older.tar.gz
    sha256: %s
    bin: kubectl-kruise
`, olderVersion, runtime.GOOS, runtime.GOARCH, files, hex.EncodeToString(sum[:])))
	commit(t, dir, "kruise "+olderVersion)
	return dir
}

// withOlder is a home in which krew has installed the older plugin, and knows both indexes.
func withOlder(t *testing.T, older, own string) home {
	t.Helper()
	h := newHome(t)
	h.krew(t, "index", "add", "default", "file://"+older)
	h.krew(t, "index", "add", "kruise", "file://"+own)
	h.krew(t, "install", "--no-update-index", "kruise")
	if said := h.must(t, h.kubectl, "kruise"); !strings.Contains(said, "the older plugin") {
		t.Fatalf("not the older plugin:\n%s", said)
	}
	return h
}

// TestOlderPlugin_IsNotReplacedSilently: krew does not install this plugin where the older one of the name is, and
// calls that a success; version and doctor tell, and the commands of their hint switch.
func TestOlderPlugin_IsNotReplacedSilently(t *testing.T) {
	h := withOlder(t, olderIndex(t), serve(t))
	if said := h.krew(t, "install", "--no-update-index", "kruise/kruise"); !strings.Contains(said, "already installed") {
		t.Errorf("krew installs, where it used to skip:\n%s", said)
	}
	binary, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	const hint = "hint: kubectl krew uninstall kruise && kubectl krew index add kruise "
	said := h.must(t, binary, "version")
	if want := "warning: kubectl runs " + h.link() + ", which is the older plugin"; !strings.Contains(said, want) || !strings.Contains(said, hint) {
		t.Errorf("version does not warn of the older plugin:\n%s", said)
	}
	said, _ = h.run(binary, "doctor", "--server", "http://127.0.0.1:1") // it fails: no cluster is there
	if want := "kubectl runs " + h.link() + ", which is the older plugin"; !strings.Contains(said, want) {
		t.Errorf("doctor does not warn of the older plugin:\n%s", said)
	}
	h.krew(t, "uninstall", "kruise")
	h.krew(t, "install", "--no-update-index", "kruise/kruise")
	h.works(t)
	if said := h.must(t, h.kubectl, "kruise", "version"); strings.Contains(said, "warning") {
		t.Errorf("the older plugin is gone, but:\n%s", said)
	}
}

// TestUpgrade_ReplacesTheOlderPlugin: when the default index has this plugin, krew upgrades the older one to it,
// because the first release is above the older plugin's last.
func TestUpgrade_ReplacesTheOlderPlugin(t *testing.T) {
	older := olderIndex(t)
	first := firstRelease(t)
	h := withOlder(t, older, serve(t))
	manifest, err := os.ReadFile(filepath.Join(serveVersion(t, first), "plugins", "kruise.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(older, "plugins", "kruise.yaml"), manifest)
	commit(t, older, "kruise "+first)
	h.krew(t, "update")
	h.krew(t, "upgrade", "--no-update-index", "kruise")
	h.worksAs(t, first)
}

// firstRelease is the version of the committed manifest.
func firstRelease(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(checkout.Path("krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n  version: ")
	version, _, _ := strings.Cut(rest, "\n")
	return version
}

// TestCompletion_SurvivesAnUpgrade: the link that the manifest's caveats and plugins/completion ask for makes
// kubectl complete, and an upgrade by krew keeps it.
func TestCompletion_SurvivesAnUpgrade(t *testing.T) {
	const link = `ln -s kubectl-kruise "${KREW_ROOT:-$HOME/.krew}/bin/kubectl_complete-kruise"`
	index, h := serve(t), newHome(t)
	h.krew(t, "index", "add", "kruise", "file://"+index)
	if said := h.krew(t, "install", "--no-update-index", "kruise/kruise"); !strings.Contains(said, link) {
		t.Errorf("the caveats have no\n%s\nbut\n%s", link, said)
	}
	page, err := os.ReadFile(checkout.Path("plugins", "completion", "README.md"))
	if err != nil || !strings.Contains(string(page), link) {
		t.Errorf("plugins/completion/README.md has no %s (%v)", link, err)
	}
	if said := h.must(t, h.kubectl, "__complete", "kruise", "rollout", "re"); strings.Contains(said, "restart") {
		t.Fatalf("krew links the helper by itself:\n%s", said)
	}
	h.must(t, "sh", "-c", link)
	const next = "v1.3.0"
	for _, version := range []string{version, next} {
		if version == next {
			manifest, err := os.ReadFile(filepath.Join(serveVersion(t, next), "plugins", "kruise.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(index, "plugins", "kruise.yaml"), manifest)
			commit(t, index, "kruise "+next)
			h.krew(t, "upgrade", "kruise")
		}
		h.worksAs(t, version)
		said := h.must(t, h.kubectl, "__complete", "kruise", "rollout", "re")
		for _, want := range []string{"restart\t", "resume\t", "retry\t"} {
			if !strings.Contains("\n"+said, "\n"+want) {
				t.Errorf("%s: no %q in\n%s", version, want, said)
			}
		}
	}
}

// TestPluginList_EqualsKubectls: this program's list of plugins is kubectl's: the same lines, warnings and
// exit codes.
func TestPluginList_EqualsKubectls(t *testing.T) {
	binary, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	for name, programs := range map[string][]string{
		"none":              nil,
		"by another name":   {"kubectl-tree", "kubectl-render", "kubectl-ui", "kubectl-kruise"},
		"a kubectl command": {"kubectl-tree", "kubectl-rollout-status", "kubectl-annotate"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, program := range programs {
				file := filepath.Join(dir, program)
				write(t, file, []byte("#!/bin/sh\n"))
				if err := os.Chmod(file, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			list := func(program string, args ...string) (string, int) {
				cmd := exec.CommandContext(t.Context(), program, append(args, "plugin", "list")...)
				cmd.Env = []string{"HOME=" + h.dir, "PATH=" + dir}
				said, _ := cmd.CombinedOutput()
				return string(said), cmd.ProcessState.ExitCode()
			}
			want, code := list(h.kubectl)
			have, own := list(binary)
			if code != own || strings.TrimSpace(want) != strings.TrimSpace(have) {
				t.Errorf("exit %d\n%s\nkubectl: exit %d\n%s", own, have, code, want)
			}
		})
	}
}

// TestPluginList_KnowsKubectlsCommands: the commands that the list of plugins takes for kubectl's are those that
// kubectl has.
func TestPluginList_KnowsKubectlsCommands(t *testing.T) {
	binary, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	h, dir := newHome(t), t.TempDir()
	out := h.must(t, h.kubectl, "__complete", "")
	for line := range strings.Lines(out) {
		name, _, described := strings.Cut(line, "\t")
		if !described || strings.HasPrefix(name, "-") {
			continue
		}
		file := filepath.Join(dir, "kubectl-"+strings.ReplaceAll(name, "-", "_"))
		write(t, file, []byte("#!/bin/sh\n"))
		if err := os.Chmod(file, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list := func(program string) string {
		cmd := exec.CommandContext(t.Context(), program, "plugin", "list")
		cmd.Env = []string{"HOME=" + h.dir, "PATH=" + dir}
		said, _ := cmd.CombinedOutput() // it ends with 1: there are warnings
		return string(said)
	}
	want, have := list(h.kubectl), list(binary)
	if strings.Count(want, "overwrites existing command") < 20 || strings.TrimSpace(want) != strings.TrimSpace(have) {
		t.Errorf("kubectl:\n%s\nthis program:\n%s", want, have)
	}
}
