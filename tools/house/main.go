// Command house measures the source tree: files, packages, exported names, methods of a
// type, names of kinds as text, copied lines, and how often a reader of a function has to
// change the file. The figures say where to look; they are no goal of their own.
//
//	go run -C tools/house . [-top N] [FOLDER]
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// testTools matches the files of what only tests use, where it is now and where it was: they
// do not count as product.
var testTools = regexp.MustCompile(`^internal/(testing|licenses)/`)

func main() {
	top := flag.Int("top", 5, "types to list")
	flag.Parse()
	dir := "../.."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	if err := run(os.Stdout, dir, *top); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// tree is the product's packages with their types.
type tree struct {
	// dir is the absolute path of the module.
	dir      string
	fset     *token.FileSet
	packages []*packages.Package
	// bodies are the declarations of the functions.
	bodies map[*types.Func]body
}

type body struct {
	decl *ast.FuncDecl
	in   *packages.Package
}

func run(out io.Writer, dir string, top int) error {
	t, err := load(dir)
	if err != nil {
		return err
	}
	t.files(out)
	t.names(out)
	t.methods(out, top)
	t.kinds(out)
	t.copies(out)
	t.walks(out)
	return nil
}

func load(dir string) (*tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule
	// The go command of the module's folder has no go.work of this tool.
	all, err := packages.Load(&packages.Config{Mode: mode, Dir: dir, Fset: fset}, "./cmd/...", "./internal/...", "./pkg/...")
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, fset: fset, bodies: map[*types.Func]body{}}
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		if len(p.GoFiles) == 0 || testTools.MatchString(t.room(p.GoFiles[0])) {
			continue
		}
		t.packages = append(t.packages, p)
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					if object, ok := p.TypesInfo.Defs[fn.Name].(*types.Func); ok {
						t.bodies[object] = body{fn, p}
					}
				}
			}
		}
	}
	return t, nil
}

// room is a file's path below the module.
func (t *tree) room(path string) string {
	rel, err := filepath.Rel(t.dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func (t *tree) at(p token.Pos) string { return t.room(t.fset.Position(p).Filename) }

func (t *tree) eachFile(do func(p *packages.Package, f *ast.File)) {
	for _, p := range t.packages {
		for _, f := range p.Syntax {
			do(p, f)
		}
	}
}

// files counts files, lines and the lengths of functions.
func (t *tree) files(out io.Writer) {
	var lines, lengths []int
	sum := 0
	t.eachFile(func(_ *packages.Package, f *ast.File) {
		n := t.fset.File(f.FileStart).LineCount()
		lines = append(lines, n)
		sum += n
	})
	for _, b := range t.bodies {
		lengths = append(lengths, t.fset.Position(b.decl.End()).Line-t.fset.Position(b.decl.Pos()).Line+1)
	}
	slices.Sort(lines)
	slices.Sort(lengths)
	cli := 0
	for _, p := range t.packages {
		if strings.HasPrefix(t.room(p.GoFiles[0]), "internal/cli/") {
			cli++
		}
	}
	fmt.Fprintf(out, "files                     %d (lines: median %d, longest %d)\n", len(lines), lines[len(lines)/2], lines[len(lines)-1])
	fmt.Fprintf(out, "lines                     %d\n", sum)
	fmt.Fprintf(out, "packages                  %d (internal/cli %d)\n", len(t.packages), cli)
	fmt.Fprintf(out, "functions                 %d (lines: median %d, longest %d)\n", len(lengths), lengths[len(lengths)/2], lengths[len(lengths)-1])
}

// names counts exported names and those which no other package uses.
func (t *tree) names(out io.Writer) {
	exported := map[string]bool{}
	for _, p := range t.packages {
		for _, name := range p.Types.Scope().Names() {
			if token.IsExported(name) {
				exported[p.PkgPath+"."+name] = true
			}
		}
	}
	all := len(exported)
	for _, p := range t.packages {
		for _, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && object.Pkg().Path() != p.PkgPath {
				delete(exported, object.Pkg().Path()+"."+object.Name())
			}
		}
	}
	fmt.Fprintf(out, "exported names            %d (used in their own package only: %d, tests not counted)\n", all, len(exported))
}

// methods lists the types with the most methods.
func (t *tree) methods(out io.Writer, top int) {
	count := map[string]int{}
	for f := range t.bodies {
		if recv := f.Signature().Recv(); recv != nil {
			of := recv.Type()
			if p, ok := of.(*types.Pointer); ok {
				of = p.Elem()
			}
			if named, ok := of.(*types.Named); ok {
				count[strings.TrimPrefix(f.Pkg().Path(), "github.com/kubectl-kruise/kubectl-kruise/")+"."+named.Obj().Name()]++
			}
		}
	}
	most := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	})
	above := 0
	for _, n := range count {
		if n > 40 {
			above++
		}
	}
	fmt.Fprintf(out, "types with over 40 methods %d\n", above)
	for _, name := range most[:min(top, len(most))] {
		fmt.Fprintf(out, "  %-40s %d methods\n", name, count[name])
	}
}

var kind = regexp.MustCompile(`^(CloneSet|SidecarSet|UnitedDeployment|BroadcastJob|AdvancedCronJob|WorkloadSpread|ImagePullJob|PodUnavailableBudget)$`)

// kinds counts names of kinds as text outside of the table of names.
func (t *tree) kinds(out io.Writer) {
	n := 0
	t.eachFile(func(_ *packages.Package, f *ast.File) {
		if strings.HasSuffix(t.at(f.Pos()), "pkg/kruise/names.go") {
			return
		}
		ast.Inspect(f, func(node ast.Node) bool {
			if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && kind.MatchString(text) {
					n++
				}
			}
			return true
		})
	})
	fmt.Fprintf(out, "names of kinds as text    %d\n", n)
}

// copies counts runs of six lines which stand in two places or more.
func (t *tree) copies(out io.Writer) {
	const run = 6
	seen := map[uint64]int{}
	t.eachFile(func(_ *packages.Package, f *ast.File) {
		var lines []string
		file, err := os.Open(t.fset.Position(f.Pos()).Filename)
		if err != nil {
			return
		}
		defer func() { _ = file.Close() }()
		for s := bufio.NewScanner(file); s.Scan(); {
			line := strings.TrimSpace(s.Text())
			if len(line) > 1 && line != "})" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, `"`) {
				lines = append(lines, line)
			}
		}
		for i := 0; i+run <= len(lines); i++ {
			h := fnv.New64a()
			for _, l := range lines[i : i+run] {
				_, _ = io.WriteString(h, l+"\n")
			}
			seen[h.Sum64()]++
		}
	})
	n := 0
	for _, times := range seen {
		if times > 1 {
			n++
		}
	}
	fmt.Fprintf(out, "copied runs of %d lines    %d\n", run, n)
}

// walks are the functions whose reading is measured.
var walks = []struct{ title, in, recv, name string }{
	{"plan.Build", "pkg/plan", "", "Build"},
	{"plan.Next", "pkg/plan", "", "Next"},
	{"apply.Run", "pkg/apply", "", "Run"},
	{"kube.Cluster.Do", "pkg/apply/kube", "Cluster", "Do"},
}

// walks reads a function as a person does who follows each call into its own package, once
// and in the order of the text: a stay is what is read in one file without leaving it, and a
// return is a stay in a file where one was before.
func (t *tree) walks(out io.Writer) {
	for _, w := range walks {
		start := t.find(w.in, w.recv, w.name)
		if start == nil {
			fmt.Fprintf(out, "%-25s not found\n", w.title)
			continue
		}
		rooms, stays, last := map[string]bool{}, 0, ""
		seen := map[*types.Func]bool{}
		enter := func(room string) {
			if room != last {
				stays++
			}
			rooms[room], last = true, room
		}
		var walk func(f *types.Func)
		walk = func(f *types.Func) {
			b := t.bodies[f]
			seen[f] = true
			enter(t.at(b.decl.Pos()))
			ast.Inspect(b.decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if to := callee(b.in.TypesInfo, call); to != nil && to.Pkg() == f.Pkg() && !seen[to] {
					if _, known := t.bodies[to]; known {
						walk(to)
						enter(t.at(b.decl.Pos()))
					}
				}
				return true
			})
		}
		walk(start)
		fmt.Fprintf(out, "%-25s %d functions, %d files, %d returns\n", w.title, len(seen), len(rooms), stays-len(rooms))
	}
}

func (t *tree) find(in, recv, name string) *types.Func {
	for f := range t.bodies {
		of := ""
		if r := f.Signature().Recv(); r != nil {
			of = r.Type().String()
			of = of[strings.LastIndexByte(of, '.')+1:]
		}
		if f.Name() == name && of == recv && strings.HasSuffix(f.Pkg().Path(), "/"+in) {
			return f
		}
	}
	return nil
}

// callee is the function that a call names, nil for calls of values and conversions.
func callee(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	switch e := fun.(type) {
	case *ast.Ident:
		f, _ := info.Uses[e].(*types.Func)
		return f
	case *ast.SelectorExpr:
		f, _ := info.Uses[e.Sel].(*types.Func)
		return f
	}
	return nil
}
