package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestCustomizations_AreUpToDate(t *testing.T) {
	want, err := customizationPages("../../plugins/argocd")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join("../../plugins/argocd", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, string(have)); diff != "" {
			t.Errorf("%s is out of date, run make generate (-scripts +page):\n%s", name, diff)
		}
		page := map[string]any{}
		if err := yaml.UnmarshalStrict(have, &page); err != nil || len(page) == 0 {
			t.Errorf("%s holds nothing (%v)", name, err)
		}
	}
}

// TestScripts_MatchKinds: a kind has a script, and a script a kind.
func TestScripts_MatchKinds(t *testing.T) {
	known := map[string]bool{"lib": true}
	for _, k := range argoKinds {
		known[k.name] = true
	}
	files, err := filepath.Glob("../../plugins/argocd/lua/*.lua")
	if err != nil || len(files) != len(known) {
		t.Errorf("%d scripts (%v), want %d", len(files), err, len(known))
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".lua"); !known[name] {
			t.Errorf("%s is no kind's", name)
		}
	}
}

func TestCustomizations_NeedTheScripts(t *testing.T) {
	if err := writeCustomizations(t.TempDir()); err == nil {
		t.Error("no error without scripts")
	}
}

// TestScripts_HoldNoTemplateSyntax: the chart takes containers for templates, and people put values files
// into charts of their own.
func TestScripts_HoldNoTemplateSyntax(t *testing.T) {
	all, err := customizationPages("../../plugins/argocd")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		if strings.Contains(text, "{{") {
			t.Errorf("%s has a template's braces", name)
		}
	}
}

func TestReadSidecar(t *testing.T) {
	file := filepath.Join(t.TempDir(), "repo-server.yaml")
	if err := os.WriteFile(file, []byte("spec:\n  template:\n    spec:\n      volumes:\n        - {}\n      containers:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSidecar(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
}
