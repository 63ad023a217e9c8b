package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// switching are the functions that tell several kinds apart by a switch, each with
// why: a kind differs in its descriptor (pkg/kruise/kinds.go) and in the files of its
// own (kind_*.go), which the compiler asks for, and not in switches, which it does not.
// A further row needs a reason why neither fits.
var switching = map[string]string{
	"pkg/kruise DefaultStored": "Kubernetes' own types can have no methods of this package",
	"pkg/plan/cluster By":      "it is where the kinds are told apart for all others",

	// Asked by name, of objects that are not read as workloads.
	"pkg/plan strategyPath":                             "the path depends on group, kind and version, which users of a manifest have without an object",
	"pkg/plan/simulate apiServer.write":                 "objects around workloads: each is written into another part of the world",
	"pkg/apply/kube/rbac list.workload":                 "rights are listed for a kind before any object of it is read",
	"internal/cli/inspect isUnexpectedPod":              "pods of all kinds of Kruise that have some, not of workloads alone",
	"internal/cli/inspect revisionsOf":                  "revisions of all kinds of Kruise that have some, not of workloads alone",
	"internal/cli/create podTemplateOf":                 "where kinds of Kruise have pod templates, in the text of a manifest",
	"internal/cli/clusterread workloadReader.revisions": "where the API server has revisions, which only those who read there ask",
	"pkg/apply/kube surroundingsOf":                     "where the objects are that belong to a workload: queries, which no rule of the kind needs",
	"pkg/apply/set rolloutFieldsOf":                     "the fields that a rollout owns, of kinds that may be no workload",
	"internal/cli/planning Options.setReplicas":         "in the text of a manifest, before it is read",
	"internal/cli/resourcearg PodsOf":                   "objects of any kind that stand for pods",
	"internal/cli/render workloadRollout.assume":        "in the text of a manifest, before it is read",

	// What one stage of the pipeline makes of several kinds.
	"pkg/render/convert counterpartFault":            "advice, one sentence for each pair of kinds that has a misfit",
	"pkg/render/fn newJob":                           "kinds of function configs",
	"pkg/render/kustomize configuration.selector":    "which selectors kustomize may write labels into, by how each kind treats its own",
	"pkg/render/kustomize configuration.otherImages": "images outside of containers",
	"pkg/render/lint partitionUpdatesNothing":        "advice for three kinds, each by its own limits",

	// Tools of the tests and of the documentation.
	"internal/testing/changes Change.describe":       "fields that people combine, in the text of a manifest",
	"internal/testing/changes Change.editStrategy":   "fields that people combine, in the text of a manifest",
	"internal/testing/changes Change.editPause":      "fields that people combine, in the text of a manifest",
	"internal/testing/conformance podOf":             "kinds of the recorded cases",
	"internal/testing/standin claimTemplates":        "where kinds that are not models have claims, as objects of the API",
	"internal/testing/standin hand.revision":         "how each kind labels its revisions",
	"internal/testing/standin standIns.wakeWorkload": "what each kind's controller watches",
	"internal/generate title":                        "headlines of a page",
}

// TestKindSwitches_AreOnlyThoseListed: no function branches over kinds but those that are listed.
func TestKindSwitches_AreOnlyThoseListed(t *testing.T) {
	constants := kindConstants(t)
	found := map[string]bool{}
	eachFile(t, func(dir, path string, f *ast.File) {
		for _, d := range f.Decls {
			n := branching(d, constants[dir])
			if n < 2 {
				continue
			}
			name := dir + " " + declared(d)
			found[name] = true
			if switching[name] == "" {
				t.Errorf("%s: %s switches over %d kinds: put what differs into the descriptor or the files of the kinds (docs/architecture.md#add-a-kind)", path, declared(d), n)
			}
		}
	})
	for name := range switching {
		if !found[name] {
			t.Errorf("%s has no switch over kinds: remove its row", name)
		}
	}
}

// TestKindLiterals_AreConstants: kinds are named by the constants of pkg/kruise/names.go.
func TestKindLiterals_AreConstants(t *testing.T) {
	eachFile(t, func(_, path string, f *ast.File) {
		if path == "pkg/kruise/names.go" {
			return
		}
		for _, kind := range literals(f) {
			t.Errorf("%s: write kruise.Kind%s instead of %q", path, kind, kind)
		}
	})
}

// literals are the names of kinds that stand in a file as text.
func literals(f *ast.File) []string {
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && kindNames()[text] {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// TestKindLiterals_AreFound: a name is seen however it is quoted; a text that only mentions a kind is
// none.
func TestKindLiterals_AreFound(t *testing.T) {
	const source = "package x\nvar a, b, c, d = \"CloneSet\", `Deployment`, \"a CloneSet\", \"clonesets\""
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(literals(f), " "); got != "CloneSet Deployment" {
		t.Errorf("literals are %q", got)
	}
}

// kindNames are the names of all kinds of Kruise and of Kubernetes' workloads.
var kindNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{kruise.KindDeployment: true, kruise.KindReplicaSet: true}
	for _, k := range kruise.Kinds() {
		names[k.Kind] = true
	}
	return names
})

// kindConstants are, by folder, the constants that hold the name of a kind.
func kindConstants(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	eachFile(t, func(dir, _ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, v := range spec.Values {
				if kind := kindOf(v, nil); kind != "" && i < len(spec.Names) {
					if out[dir] == nil {
						out[dir] = map[string]string{}
					}
					out[dir][spec.Names[i].Name] = kind
				}
			}
			return true
		})
	})
	return out
}

// kindOf is the kind that an expression names: as text, as a constant of pkg/kruise or
// of the folder; "" for any other.
func kindOf(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING && kindNames()[text[strings.LastIndexByte(text, '/')+1:]] {
			return text
		}
	case *ast.BinaryExpr: // group + "/" + kind
		if e.Op == token.ADD {
			return kindOf(e.Y, constants)
		}
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "kruise" {
			return ofConstant(e.Sel.Name)
		}
	case *ast.Ident:
		if kind := constants[e.Name]; kind != "" {
			return kind
		}
		return ofConstant(e.Name)
	}
	return ""
}

// ofConstant is the kind that a constant of pkg/kruise is named after.
func ofConstant(name string) string {
	if kind, ok := strings.CutPrefix(name, "Kind"); ok && kindNames()[kind] {
		return kind
	}
	return ""
}

// typeOf is the kind whose Go type an expression is, or whose spec; "" for any other.
func typeOf(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	name, group := "", "kruise"
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && (x.Name == "kruise" || x.Name == "appsv1") {
			name, group = e.Sel.Name, x.Name
		}
	case *ast.Ident:
		name = e.Name
	}
	if name = strings.TrimSuffix(name, "Spec"); !kindNames()[name] {
		return ""
	}
	return group + "." + name
}

// branching is how many kinds one switch inside a declaration tells apart, the most of
// its switches.
func branching(d ast.Decl, constants map[string]string) int {
	most := 0
	ast.Inspect(d, func(n ast.Node) bool {
		var body *ast.BlockStmt
		kind := func(e ast.Expr) string { return kindOf(e, constants) }
		switch n := n.(type) {
		case *ast.TypeSwitchStmt:
			body, kind = n.Body, typeOf
		case *ast.SwitchStmt:
			body = n.Body
			if n.Tag == nil {
				kind = func(e ast.Expr) string { return compared(e, constants) }
			}
		default:
			return true
		}
		kinds := map[string]bool{}
		for _, c := range body.List {
			for _, e := range c.(*ast.CaseClause).List {
				if k := kind(e); k != "" {
					kinds[k] = true
				}
			}
		}
		most = max(most, len(kinds))
		return true
	})
	return most
}

// compared is a kind that a condition compares something with.
func compared(e ast.Expr, constants map[string]string) string {
	var found []string
	ast.Inspect(e, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
			found = append(found, kindOf(b.X, constants)+kindOf(b.Y, constants))
		}
		return true
	})
	return strings.Join(slices.DeleteFunc(found, func(s string) bool { return s == "" }), " ")
}

// declared names a declaration: a function, a method with its receiver's type, or the
// first name of a list of values.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		recv := d.Recv.List[0].Type
		if star, ok := recv.(*ast.StarExpr); ok {
			recv = star.X
		}
		if index, ok := recv.(*ast.IndexExpr); ok {
			recv = index.X
		}
		if name, ok := recv.(*ast.Ident); ok {
			return name.Name + "." + d.Name.Name
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return "?"
}

// TestKindSwitches_AreFound: every way to write a switch over kinds is seen, and a decision about
// one kind, or about other things, is none.
func TestKindSwitches_AreFound(t *testing.T) {
	constants := map[string]string{"united": "UnitedDeployment"}
	for text, want := range map[string]int{
		"switch o := w.Object.(type) { case *kruise.CloneSet: case *appsv1.Deployment, *appsv1.StatefulSet: }": 3,
		"switch s.(type) { case *kruise.CloneSetSpec: case *kruise.DaemonSetSpec: }":                           2,
		"switch o.(type) { case *CloneSet: case *SidecarSet: }":                                                2,
		"switch o.(type) { case *kruise.StatefulSet: case *appsv1.StatefulSet: }":                              2,
		`switch kind { case "CloneSet", "DaemonSet": case "Pod": }`:                                            2,
		`switch kind { case kruise.KindCloneSet: case united: }`:                                               2,
		`switch id { case "apps/Deployment": case kruise.Group + "/CloneSet": }`:                               2,
		`switch { case w.Kind == "CloneSet" && old: case w.Kind != kruise.KindDaemonSet: }`:                    2,
		`switch kind { case "CloneSet": default: }`:                                                            1,
		"switch v := v.(type) { case map[string]any: case []any: case *kruise.Lifecycle: }":                    0,
		`switch strategy { case "OnDelete": case "RollingUpdate": }`:                                           0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() { "+text+" }", 0)
		if err != nil {
			t.Fatal(text, err)
		}
		if got := branching(f.Decls[0], constants); got != want {
			t.Errorf("%s: %d kinds, want %d", text, got, want)
		}
	}
}
