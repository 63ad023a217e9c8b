package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// served are the releases that everything we show has to work with.
var served = []string{"1.8", "1.9"}

// newer are what examples show that came with 1.9, where the page says so.
var newer = map[string]string{"1.8": "resourcesPolicy"}

// aboutTheRelease are the rules about versions and fields. Pieces that pages leave out, and
// examples of what lint finds, break others.
var aboutTheRelease = []string{
	"object/version-not-served", "object/field-of-another-release", "object/field-dropped-by-release", "object/unknown-kind",
	"object/unknown-field", "object/dropped-field", "object/older-spelling",
}

var fence = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// shownIn are the Kruise objects that a file shows, one text for each document.
func shownIn(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{string(text)}
	if filepath.Ext(path) == ".md" {
		texts = nil
		for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
			texts = append(texts, block[1])
		}
	}
	var out []string
	for _, text := range texts {
		for doc := range strings.SplitSeq(text, "\n---\n") {
			if strings.Contains(doc, "kruise.io/v1") {
				out = append(out, doc)
			}
		}
	}
	return out
}

// TestDocs_ManifestsAreAcceptedByReleases: what README, pages, examples and plugins show is taken by the releases
// that people run: in versions and with fields that they have.
func TestDocs_ManifestsAreAcceptedByReleases(t *testing.T) {
	shown := 0
	for _, top := range []string{"README.md", "README.zh-CN.md", "docs", "examples", "plugins"} {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".yaml"}, filepath.Ext(path)) {
				return err
			}
			for _, doc := range shownIn(t, path) {
				shown += shownTo(t, path, doc)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if shown < 60 {
		t.Errorf("only %d manifests were looked at", shown)
	}
}

// shownTo lints a document for each release, if it is a Kruise object.
func shownTo(t *testing.T, path, doc string) int {
	t.Helper()
	var of struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
	}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(doc, "…", "{}")), &of); err != nil || !strings.Contains(of.APIVersion, ".kruise.io/") || of.Kind == "" || of.Kind == "ResourceDistributionGenerator" { // that is a function's
		return 0
	}
	for _, release := range served {
		_, out, _ := call(t.Context(), t, doc, "lint", "-f", "-", "-o", "json", "--kruise-version", release)
		var report struct {
			Problems []struct{ Rule, Message, Field string }
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
		for _, f := range report.Problems {
			known := newer[release] != "" && strings.Contains(f.Field, newer[release])
			if slices.Contains(aboutTheRelease, f.Rule) && !known {
				t.Errorf("%s, %s for %s: %s: %s  [%s]", path, of.Kind, release, f.Field, f.Message, f.Rule)
			}
		}
	}
	return 1
}
