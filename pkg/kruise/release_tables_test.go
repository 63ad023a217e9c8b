package kruise_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// table is the text of one of the project's tables.
func table(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(checkout.Path("pkg", "kruise", "releases", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReleaseTables_AreComplete: the project's tables are those beside it, where there are any, with
// the fields below one that came and went with it left out. UPDATE=1 in the environment
// writes them.
func TestReleaseTables_AreComplete(t *testing.T) {
	for _, name := range []string{"kinds.tsv", "fields.tsv", "structs.tsv", "gates.tsv"} {
		source, err := os.ReadFile(checkout.Path("..", "shared", "versions", name))
		if os.IsNotExist(err) {
			t.Skip("no tables beside the project: the project's own are tested alone")
		}
		if err != nil {
			t.Fatal(err)
		}
		want := string(source)
		if name == "fields.tsv" {
			want = compact(t, want)
		}
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(checkout.Path("pkg", "kruise", "releases", name), []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if table(t, name) != want {
			t.Errorf("%s differs from the one beside the project: UPDATE=1 writes it", name)
		}
	}
}

// compact leaves out fields that came and went with the one above them, and says of each
// whether schemas without it take it.
func compact(t *testing.T, source string) string {
	t.Helper()
	open := openPlaces(t)
	out := "# kind\tversion\tfield of the schema\tfirst release with it\tlast release with it, if it went\tkept by schemas without it\tchanges of type, enum, default, bounds or required\n"
	spans := map[string]string{}
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimRight(line, "\n"), "\t")
		of, span := row[0]+"\t"+row[1]+"\t", row[3]+"\t"+row[4]
		spans[of+row[2]] = span
		if row[5] == "" && spans[of+above(row[2])] == span {
			continue
		}
		kept := ""
		if slices.ContainsFunc(open[row[0]+" "+row[1]], func(place string) bool { return strings.HasPrefix(row[2], place+".") }) {
			kept = "kept"
		}
		out += of + row[2] + "\t" + span + "\t" + kept + "\t" + row[5] + "\n"
	}
	return out
}

// above is the field that a field is in, or the list or mapping.
func above(path string) string {
	if up, ok := strings.CutSuffix(path, "[]"); ok {
		return up
	}
	if up, ok := strings.CutSuffix(path, "{}"); ok {
		return up
	}
	return path[:max(0, strings.LastIndexByte(path, '.'))]
}

// openPlaces are the places, by KIND VERSION, at which all definitions of releases keep
// unknown fields.
func openPlaces(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, c := range definitions(t, "1.8") {
		for _, v := range c.Spec.Versions {
			eachOpen(v.Schema.OpenAPIV3Schema, "", func(path string) {
				out[c.Spec.Names.Kind+" "+v.Name] = append(out[c.Spec.Names.Kind+" "+v.Name], path)
			})
		}
	}
	return out
}

func eachOpen(s *schema, path string, f func(path string)) {
	if s == nil {
		return
	}
	if s.Open {
		f(path)
	}
	for name, p := range s.Properties {
		eachOpen(p, strings.TrimPrefix(path+"."+name, "."), f)
	}
	eachOpen(s.Items, path+"[]", f)
	eachOpen(s.AdditionalProperties, path+"{}", f)
}

// TestReleaseTables_AgreeWithDefinitions: each version and field is in the definitions of a
// release exactly when the tables say so.
func TestReleaseTables_AgreeWithDefinitions(t *testing.T) {
	for _, name := range conformance.DefinedReleases {
		r, err := kruise.ParseRelease(name)
		if err != nil {
			t.Fatal(err)
		}
		served, fields := map[string]bool{}, map[string]bool{}
		for _, c := range definitions(t, name) {
			for _, v := range c.Spec.Versions {
				of := c.Spec.Names.Kind + " " + v.Name
				served[of] = v.Served
				eachField(v.Schema.OpenAPIV3Schema, "", func(path string) { fields[of+" "+path] = true })
			}
		}
		for _, k := range kruise.Kinds() {
			for _, v := range k.Versions {
				if got := r.Serves(k.Group, k.Kind, v); got != served[k.Kind+" "+v] {
					t.Errorf("%s %s in %s: %t, its definition says %t", k.Kind, v, r, got, !got)
				}
			}
		}
		for _, h := range kruise.FieldHistories() {
			of := h.Kind + " " + h.Version
			if got := h.Has(r); h.Value == "" && served[of] && got != fields[of+" "+h.Path] {
				t.Errorf("%s %s in %s: %t, its definition says %t", of, h.Path, r, got, !got)
			}
		}
	}
}

func eachField(s *schema, path string, f func(path string)) {
	if s == nil {
		return
	}
	f(path)
	for name, p := range s.Properties {
		eachField(p, strings.TrimPrefix(path+"."+name, "."), f)
	}
	eachField(s.Items, path+"[]", f)
	eachField(s.AdditionalProperties, path+"{}", f)
}

// TestReleaseTables_AgreeWithTypes: what the tables say the main branch has is in the types,
// and every row can be read.
func TestReleaseTables_AgreeWithTypes(t *testing.T) {
	for _, name := range []string{"kinds.tsv", "fields.tsv", "structs.tsv", "gates.tsv", "seen.tsv"} {
		for line := range strings.Lines(table(t, name)) {
			for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n:", r) }) {
				if !strings.HasPrefix(word, "v1.") || strings.HasPrefix(line, "#") {
					continue
				}
				if _, err := kruise.ParseRelease(word); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	for _, h := range kruise.FieldHistories() {
		k, ok := kruise.Lookup(groupOf(h.Kind), h.Kind)
		if !ok || !slices.Contains(k.Versions, h.Version) || h.First.IsZero() {
			t.Errorf("%+v is of no kind, or came with no release", h)
		}
		if ok && h.Version == k.Newest() && h.Has(kruise.Next) && !hasField(k.Type, h.Path) {
			t.Errorf("%s %s: %s has no such field", h.Kind, h.Path, k.Type)
		}
	}
	for _, f := range kruise.TypeFields() {
		if f.Type == "" || f.Field == "" || f.First.IsZero() {
			t.Errorf("%+v", f)
		}
	}
}

func groupOf(kind string) string {
	if kind == kruise.KindPodUnavailableBudget {
		return kruise.PolicyGroup
	}
	return kruise.Group
}

// hasField reports whether a path of the tables leads to a field of a type.
func hasField(t reflect.Type, path string) bool {
	for step := range strings.SplitSeq(path, ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		key := strings.TrimRight(step, "[]{}")
		if t.Kind() != reflect.Struct {
			return false
		}
		f, ok := fieldsOf(t)[key]
		if !ok {
			return false
		}
		t = f.Type
		for range (len(step) - len(key)) / 2 {
			for t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			t = t.Elem()
		}
	}
	return true
}

// TestGates_DefaultsFollowTheRelease: defaults follow the release.
func TestGates_DefaultsFollowTheRelease(t *testing.T) {
	for _, c := range []struct {
		gate, release, want string
	}{
		{"ResourcesDeletionProtection", "1.3", "false Alpha true"},
		{"ResourcesDeletionProtection", "1.4", "true Alpha true"},
		{"ResourcesDeletionProtection", "1.7.1", "true Alpha true"},
		{"ResourcesDeletionProtection", "1.8.0", "false Beta true"},
		{"ResourcesDeletionProtection", "next", "false Beta true"},
		{"InPlacePodVerticalScaling", "1.8", "false  false"},
		{"InPlacePodVerticalScaling", "1.9", "false Alpha true"},
		{"PodWebhook", "1.0", "true Beta true"},
	} {
		r, err := kruise.ParseRelease(c.release)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range kruise.Gates() {
			if g.Name != c.gate {
				continue
			}
			on, stage, there := g.Default(r)
			if got := fmt.Sprint(on, " ", stage, " ", there); got != c.want {
				t.Errorf("%s in %s: %s, want %s", c.gate, c.release, got, c.want)
			}
			if r.GateOn(c.gate) != on {
				t.Errorf("%s in %s: GateOn %t", c.gate, c.release, !on)
			}
		}
	}
}
