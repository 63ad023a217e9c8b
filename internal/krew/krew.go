// Package krew writes the manifest by which krew installs the plugin. It knows
// nothing of the engine; a release and tests use it.
package krew

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

// Release is what differs from one manifest to the next.
type Release struct {
	// Version is the tag, such as v1.2.3.
	Version string
	// URL is the folder that holds the archives; empty for that of the tag on GitHub.
	URL string
	// Sums are the SHA-256 of the archives by file name, in lower-case hexadecimals.
	Sums map[string]string
}

// Platform is one archive of a release.
type Platform struct{ OS, Arch string }

// Platforms are those that releases are built for.
var Platforms = []Platform{
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

const releases = "https://github.com/kubectl-kruise/kubectl-kruise/releases/download/"

var (
	//go:embed manifest.tmpl
	text string
	form = template.Must(template.New("krew.yaml").Parse(text))

	tag = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	sum = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Archive is the file name of the platform's archive, as .goreleaser.yaml names it.
func (p Platform) Archive(version string) string {
	suffix := ".tar.gz"
	if p.OS == "windows" {
		suffix = ".zip"
	}
	return "kubectl-kruise_" + strings.TrimPrefix(version, "v") + "_" + p.OS + "_" + p.Arch + suffix
}

// Binary is the file name of the program in the platform's archive.
func (p Platform) Binary() string {
	if p.OS == "windows" {
		return "kubectl-kruise.exe"
	}
	return "kubectl-kruise"
}

// Helper is the file name in the platform's archive of what kubectl asks for completion.
// krew puts it beside the program, and links only the program.
func (p Platform) Helper() string {
	if p.OS == "windows" {
		return "kubectl_complete-kruise.cmd"
	}
	return "kubectl_complete-kruise"
}

// Manifest is the text of krew.yaml. A release without the sum of an archive is an
// error: krew installs nothing unverified.
func Manifest(r Release) (string, error) {
	if !tag.MatchString(r.Version) {
		return "", fmt.Errorf("version %q is not like v1.2.3", r.Version)
	}
	if r.URL == "" {
		r.URL = releases + r.Version
	}
	for _, p := range Platforms {
		if name := p.Archive(r.Version); !sum.MatchString(r.Sums[name]) {
			return "", fmt.Errorf("no SHA-256 of %s", name)
		}
	}
	var b strings.Builder
	err := form.Execute(&b, struct {
		Release
		Platforms []Platform
	}{r, Platforms})
	return b.String(), err
}

// Sums reads a list of checksums as sha256sum writes it.
func Sums(list string) (map[string]string, error) {
	out := map[string]string{}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 || !sum.MatchString(fields[0]) {
			return nil, fmt.Errorf("%q is not a checksum and a file name", strings.TrimSpace(line))
		}
		out[strings.TrimPrefix(fields[1], "*")] = fields[0]
	}
	return out, nil
}
