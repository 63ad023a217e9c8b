package main

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

func TestMain(m *testing.M) { hermetic.Main(m) }

func TestReach_FollowsImportsOfCodeAndTests(t *testing.T) {
	own := func(path, dir string, imports ...string) pkg {
		p := pkg{path: path, dir: dir, imports: map[string]bool{path: true}}
		for _, i := range imports {
			p.imports[i] = true
		}
		return p
	}
	all := []pkg{
		own("m/leaf", "pkg/leaf"), own("m/leaf/deep", "pkg/leaf/deep"),
		own("m/user", "pkg/user", "m/leaf"), own("m/other", "pkg/other"),
	}
	for name, c := range map[string]struct {
		files             []string
		changed, affected string
	}{
		"code":                      {[]string{"pkg/leaf/a.go"}, "./pkg/leaf", "./pkg/leaf ./pkg/user"},
		"data below a package":      {[]string{"pkg/leaf/testdata/x/a.yaml"}, "./pkg/leaf", "./pkg/leaf ./pkg/user"},
		"the deepest package":       {[]string{"pkg/leaf/deep/a.go"}, "./pkg/leaf/deep", "./pkg/leaf/deep"},
		"a page":                    {[]string{"docs/a.md"}, "", "./pkg/leaf ./pkg/leaf/deep ./pkg/user ./pkg/other"},
		"a suite of another module": {[]string{"test/e2e/a_test.go"}, "", ""},
		"nothing":                   {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := reach(all, c.files)
			if g := strings.Join(got.changed, " "); g != c.changed {
				t.Errorf("changed: %q, want %q", g, c.changed)
			}
			if g := strings.Join(got.affected, " "); g != c.affected {
				t.Errorf("affected: %q, want %q", g, c.affected)
			}
		})
	}
}

// TestPackages_KnowsImportsOfTests: nothing but its tests makes internal/testing/checkout depend on
// package hermetic.
func TestPackages_KnowsImportsOfTests(t *testing.T) {
	all, err := packages(t.Context(), checkout.Path())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p pkg) bool { return p.path == module+"internal/testing/checkout" })
	if i < 0 || !all[i].imports[module+"internal/testing/hermetic"] {
		t.Errorf("internal/testing/checkout is package %d of %d, without internal/testing/hermetic among its imports", i, len(all))
	}
}

func TestOrder_StartsTheSlowestFirst(t *testing.T) {
	p := part{first: []string{"./c", "./b"}, without: []string{"./x"}}
	if got := p.order([]string{"./a", "./b", "./c", "./d", "./x"}); !slices.Equal(got, []string{"./c", "./b", "./a", "./d"}) {
		t.Errorf("%q", got)
	}
}

// TestParts_NamePackagesThatExist: a package that was moved would start late, or run though
// it is left out.
func TestParts_NamePackagesThatExist(t *testing.T) {
	for _, p := range parts(1) {
		if p.name == "argocd" || p.name == "flux" {
			continue
		}
		all, err := (part{dir: p.dir}).packages(t.Context(), checkout.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(p.first, p.without) {
			if !slices.Contains(all, name) {
				t.Errorf("part %s names %s, which is no package", p.name, name)
			}
		}
	}
}

func TestRead_TakesTheEndOfEachPackage(t *testing.T) {
	got, err := read(strings.NewReader(`{"Action":"start","Package":"a"}
{"Action":"pass","Package":"a","Test":"TestX","Elapsed":9}
{"Action":"output","Package":"a","Output":"processor time: 7.25s\n"}
{"Action":"pass","Package":"a","Elapsed":1.5}
{"Action":"output","Package":"b","Output":"processor time: 40ms\n"}
{"Action":"output","Package":"b","Output":"ok  \tb\t(cached)\n"}
{"Action":"pass","Package":"b","Elapsed":0}
{"Action":"skip","Package":"c","Elapsed":0}
{"Action":"build-output","ImportPath":"d","Output":"broken\n"}
{"Action":"fail","Package":"e","Elapsed":2}
`))
	want := []took{{"a", 7.25, 1.5, "pass"}, {"b", 0.04, 0, "pass, cached"}, {"e", 0, 2, "fail"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestLines_StayWhole: events of parts that run side by side do not run into one another.
func TestLines_StayWhole(t *testing.T) {
	var b strings.Builder
	out := &lines{to: &b}
	long := strings.Repeat("x", 100_000)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := out.copy(strings.NewReader(strings.Repeat(long+"\n", 20) + "end")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSuffix(line, "\n"); line != long && line != "end" {
			t.Fatalf("a line of %d characters", len(line))
		}
	}
}
