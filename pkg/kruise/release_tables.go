package kruise

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

// tables hold what differs between releases: which versions they serve, which fields
// came, went or changed, and the feature gates. They were made from the definitions and
// types of the releases.
//
//go:embed releases/*.tsv
var tables embed.FS

// rowsOf returns the rows of a table; comments and the heading start with #.
func rowsOf(name string, columns int) [][]string {
	text, _ := tables.ReadFile("releases/" + name) // it is embedded: a test would show that it is not there
	var out [][]string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimRight(line, "\n"), "\t")
		for len(row) < columns {
			row = append(row, "")
		}
		out = append(out, row)
	}
	return out
}

// releaseOf reads a release of the tables: v1.8.4 means 1.8, as its newest patch
// when the tables were made, and master for [Next].
func releaseOf(text string) Release {
	if text == "" {
		return Release{}
	}
	if text == "master" {
		return Next
	}
	r, _ := ParseRelease(text) // a test reads all of them
	return r.Minor()
}

// serving is the table of versions: the releases by KIND/VERSION.
var serving = sync.OnceValue(func() map[string][]Release {
	out := map[string][]Release{}
	for _, row := range rowsOf("kinds.tsv", 3) {
		for r := range strings.FieldsSeq(row[2]) {
			out[row[0]+"/"+row[1]] = append(out[row[0]+"/"+row[1]], releaseOf(r))
		}
	}
	return out
})

// Serves reports whether the release serves a kind of Kruise in a version, such as
// v1beta1.
func (r Release) Serves(group, kind, version string) bool {
	_, ours := Lookup(group, kind)
	return ours && slices.Contains(serving()[kind+"/"+version], r.Minor())
}

// Versions are those in which the release serves a kind of Kruise, the oldest first; none
// where it does not have the kind.
func (r Release) Versions(group, kind string) []string {
	k, _ := Lookup(group, kind)
	return slices.DeleteFunc(slices.Clone(k.Versions), func(v string) bool { return !r.Serves(group, kind, v) })
}

// ServedIn reports which releases serve a kind of Kruise in a version; false where there is
// no such version.
func ServedIn(group, kind, version string) (Span, bool) {
	all := serving()[kind+"/"+version]
	if _, ours := Lookup(group, kind); !ours || len(all) == 0 {
		return Span{}, false
	}
	s := Span{First: all[0]}
	if last := all[len(all)-1]; last != Next {
		s.Last = last
	}
	return s, true
}

// FieldHistory is one row of the table of fields: one that came, went or changed. What
// lies below a field came and went with it.
type FieldHistory struct {
	Kind, Version string
	// Path is the field with [] for the elements of lists and {} for the values of
	// mappings, such as spec.containers[].resourcesPolicy.
	Path string
	Span
	// Kept: the schema of the releases without the field takes it all the same, and
	// Kruise's webhook drops it without a word. Otherwise an API server that is asked to
	// be strict refuses it, and any other drops it.
	Kept bool
	// Changes are what became of its type, its values or its default, by release, such as
	// "v1.9.0: type integer→-"; mostly empty.
	Changes string
	// Value, where it is given, is the one value that is meant.
	Value string
}

// FieldHistories are the fields that differ between releases, by kind and version.
var FieldHistories = sync.OnceValue(func() []FieldHistory {
	var out []FieldHistory
	for _, name := range []string{"fields.tsv", "seen.tsv"} {
		for _, row := range rowsOf(name, 7) {
			path, value, _ := strings.Cut(row[2], "=")
			out = append(out, FieldHistory{
				Kind: row[0], Version: row[1], Path: path, Value: value,
				Span: Span{First: releaseOf(row[3]), Last: releaseOf(row[4])}, Kept: row[5] == "kept", Changes: row[6],
			})
		}
	}
	return out
})

// TypeField is a field of one of Kruise's Go types that differs between releases, some of
// them below what schemas describe.
type TypeField struct {
	// Package is the last two parts of the import path, such as apps/v1alpha1.
	Package, Type, Field string
	Span
	// Changes are how the type of the field changed, by release; mostly empty.
	Changes string
}

// TypeFields are the fields of Go types that differ between releases.
var TypeFields = sync.OnceValue(func() []TypeField {
	var out []TypeField
	for _, row := range rowsOf("structs.tsv", 6) {
		out = append(out, TypeField{Package: row[0], Type: row[1], Field: row[2], Span: Span{First: releaseOf(row[3]), Last: releaseOf(row[4])}, Changes: row[5]})
	}
	return out
})

// Gate is a feature gate of Kruise's manager.
type Gate struct {
	Name string
	Span
	defaults []gateDefault
}

// gateDefault is what holds from a release on.
type gateDefault struct {
	from  Release
	on    bool
	stage string
}

// Gates are the feature gates of all releases, in alphabetical order.
var Gates = sync.OnceValue(func() []Gate {
	var out []Gate
	for _, row := range rowsOf("gates.tsv", 4) {
		g := Gate{Name: row[0], Span: Span{First: releaseOf(row[1]), Last: releaseOf(row[2])}}
		for part := range strings.SplitSeq(row[3], "; ") {
			from, rest, _ := strings.Cut(part, ": ")
			on, stage, _ := strings.Cut(rest, " ")
			g.defaults = append(g.defaults, gateDefault{releaseOf(from), on == "true", strings.Trim(stage, "()")})
		}
		out = append(out, g)
	}
	return out
})

// Default is whether the gate is on by default in a release and its stage, such as Beta;
// there is false where the release does not have it.
func (g Gate) Default(r Release) (on bool, stage string, there bool) {
	if !g.Has(r) {
		return false, "", false
	}
	for _, d := range g.defaults {
		if !r.Before(d.from) {
			on, stage, there = d.on, d.stage, true
		}
	}
	return on, stage, there
}

// GateOn reports whether a gate is on in a release by default; false for one
// that the release does not have.
func (r Release) GateOn(name string) bool {
	for _, g := range Gates() {
		if g.Name == name {
			on, _, _ := g.Default(r)
			return on
		}
	}
	return false
}

// GateIn reports in which releases a gate is there; ok is false for one of no release, such as
// those of Kubernetes.
func GateIn(name string) (in Span, ok bool) {
	for _, g := range Gates() {
		if g.Name == name {
			return g.Span, true
		}
	}
	return Span{}, false
}

// HasGate reports whether a release has a gate.
func (r Release) HasGate(name string) bool {
	return slices.ContainsFunc(Gates(), func(g Gate) bool { return g.Name == name && g.Has(r) })
}
