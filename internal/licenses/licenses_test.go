// Package licenses holds no code: its test looks at the licence of every module that the
// program is built of.
package licenses

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// permitted are the licences that software under Apache-2.0 may include, by words that
// only they have.
var permitted = []struct{ name, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Apache-2.0", "Apache License, Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"MIT", "PERMISSION is hereby granted, free of charge, to any person obtaining a copy"},
	// psx is under this one or the GPL, as one likes.
	{"BSD", "Redistribution and use in source and binary forms of libcap/psx, with or without modification, are permitted"},
	{"BSD", "Redistribution and use in source and binary forms, with or without modification, are permitted"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
}

var (
	file = regexp.MustCompile(`(?i)^(licen[sc]e|copying)([.-](md|txt|mit|bsd))?$`)
	// space is what parts words, marks of quotation too.
	space = regexp.MustCompile(`[\s>]+`)
)

// TestLicenses_OfLinkedModulesAreAllowed: what is linked into the program may be.
func TestLicenses_OfLinkedModulesAreAllowed(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "../../cmd/kubectl-kruise").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	modules = slices.Compact(modules)
	counts := map[string]int{}
	for _, m := range modules {
		path, dir, ok := strings.Cut(m, " ")
		if !ok {
			t.Fatalf("%q is no module with its folder", m)
		}
		name := license(t, dir)
		if name == "" {
			t.Errorf("%s has no licence that is permitted", path)
		}
		counts[name]++
	}
	t.Logf("%d modules: %v", len(modules), counts)
}

// license is that of the module in dir, "" for none that is known.
func license(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !file.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range permitted {
			if strings.Contains(space.ReplaceAllString(string(text), " "), p.words) {
				return p.name
			}
		}
	}
	return ""
}

func TestLicenses_RefusesUnknownOnes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("GNU AFFERO GENERAL PUBLIC LICENSE Version 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if name := license(t, dir); name != "" {
		t.Errorf("taken for %s", name)
	}
}
