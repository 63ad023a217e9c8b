package browser

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

const (
	image  = "registry.example.com/web/storefront:4.8.0"
	narrow = 320
)

// written is what a command prints; the exit code is one of codes.
func written(t *testing.T, codes []int, args ...string) []byte {
	t.Helper()
	binary, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	top, err := checkout.Top()
	if err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(top, "examples", "shop"), &out, &said
	_ = cmd.Run() // its exit code is below
	if !slices.Contains(codes, cmd.ProcessState.ExitCode()) {
		t.Fatalf("%q: exit %d\n%s", args, cmd.ProcessState.ExitCode(), &said)
	}
	return out.Bytes()
}

// file keeps a page on disk.
func file(t *testing.T, page []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, page, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rendered is the shop, in a file.
func rendered(t *testing.T, change ...string) string {
	t.Helper()
	text := written(t, []int{0}, "render", "-k", "overlays/prod", "--target", "kruise", "-q")
	path := filepath.Join(t.TempDir(), "prod.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(change...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shop are the arguments by which a new image of the shop's web is planned.
func shop(t *testing.T, verb string, more ...string) []string {
	t.Helper()
	return append([]string{verb, "cloneset/storefront", "--against", rendered(t), "--image", "app=" + image, "--steps", "1,50%,100%"}, more...)
}

// rollout is a page of a rollout that waited for an approval, and failed later.
func rollout(t *testing.T) []byte {
	t.Helper()
	p, err := planfile.Read(written(t, []int{0}, shop(t, "plan", "--pause-after", "1", "-o", "yaml")...))
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	rec := plan.Record{Plan: p, Begun: noon, By: "ann@laptop", Times: map[string]time.Time{}}
	for i, s := range p.Steps {
		rec.Times[s.Name] = noon.Add(time.Duration(i*i) * time.Minute)
	}
	last := len(p.Steps) - 1
	rec.Progress = plan.Progress{Step: last, Started: rec.Times[p.Steps[last].Name], Failed: "deadline: step step-100% is not done after 20m"}
	rec.Entries = []plan.AuditEntry{
		{At: noon, By: "ci@runner", Program: "kubectl-kruise v1.2.0", What: string(plan.TransitionBegin), Detail: "5 steps"},
		{At: noon.Add(9 * time.Minute), By: "ann@laptop", Program: "kubectl-kruise v1.2.0", What: string(plan.TransitionPromote), Detail: "pause-1"},
		{At: noon.Add(40 * time.Minute), By: "ci@runner", Program: "kubectl-kruise v1.2.0", What: plan.AuditHalt, Detail: "deadline"},
	}
	var b bytes.Buffer
	if err := html.Record(&b, view.NewRecordPage(rec, "sha256:0123456789abcdef"), html.About{Version: "v1.2.0", At: noon}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func reports(t *testing.T) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"plan":       written(t, []int{0}, shop(t, "plan", "--pause-after", "1", "-o", "html")...),
		"plans":      written(t, []int{0}, "plan", "-f", rendered(t, "storefront:4.7.1", "storefront:4.8.0", "value: cart", "value: carts"), "--against", rendered(t), "-o", "html"),
		"simulation": written(t, []int{3}, shop(t, "simulate", "--fail-pod", "3", "-o", "html")...),
		"diff":       written(t, []int{1}, "diff", "overlays/staging", "overlays/prod", "-o", "html"),
		"rollout":    rollout(t),
	}
}

// faint lists texts that are hard to read, and overflow says whether the page is wider than
// its window.
const (
	faint = `(() => {
  const rgb = s => { const m = s.match(/[\d.]+/g); return m ? m.map(Number) : [0, 0, 0, 0]; };
  const lum = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const over = (top, under) => { const a = top.length > 3 ? top[3] : 1; return [0, 1, 2].map(i => top[i] * a + under[i] * (1 - a)); };
  const ground = e => {
    if (!e) return [255, 255, 255];
    const c = rgb(getComputedStyle(e).backgroundColor);
    return c.length > 3 && c[3] < 1 ? over(c, ground(e.parentElement)) : c;
  };
  const out = [];
  let looked = 0;
  for (const e of document.body.querySelectorAll('*')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest('svg, script, .quiet, .skip')) continue;
    looked++;
    const s = getComputedStyle(e), a = lum(over(rgb(s.color), ground(e))), b = lum(ground(e)), size = parseFloat(s.fontSize);
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < (size >= 24 || size >= 18.66 && s.fontWeight >= 700 ? 3 : 4.5)) out.push(ratio.toFixed(2) + ' ' + e.textContent.trim().slice(0, 40));
  }
  return looked < 20 ? ['only ' + looked + ' texts'] : out;
})()`
	overflow = `document.documentElement.scrollWidth > document.documentElement.clientWidth`
)

// TestReports_AreReadableAtEveryWidth: each page at three widths, in both themes, with and without script. Nothing but
// the file is asked for, nothing is cut off, every text can be read, and every control has a
// name. Pictures are kept with go test -artifacts.
func TestReports_AreReadableAtEveryWidth(t *testing.T) {
	x := open(t)
	for name, page := range reports(t) {
		path := file(t, page)
		for _, scripts := range []bool{true, false} {
			for _, theme := range []string{"light", "dark"} {
				for _, width := range []int64{narrow, 768, 1440} {
					at := fmt.Sprintf("%s %d %s scripts=%v", name, width, theme, scripts)
					x.screen(width, theme, scripts)
					x.show(path)
					if eval[bool](x, overflow) {
						t.Errorf("%s: the page is wider than the window", at)
					}
					if list := eval[[]string](x, faint); len(list) > 0 {
						t.Errorf("%s: hard to read: %q", at, list)
					}
					tools := eval[int](x, `[...document.querySelectorAll('.tools, .player')].filter(e => e.checkVisibility()).length`)
					if scripts == (tools == 0) {
						t.Errorf("%s: %d sets of controls", at, tools)
					}
					if scripts {
						x.picture(fmt.Sprintf("%s %d %s", name, width, theme))
					}
				}
			}
		}
		x.screen(1440, "light", true)
		x.show(path)
		checkNames(t, name, x.accessible())
		x.paper()
		if n := x.unprinted(); n > 0 {
			t.Errorf("%s: %d parts of closed details are not printed", name, n)
		}
	}
}

// unprinted counts what is in closed details and not on paper. A browser shows it with its next
// frame, for which a busy machine takes its time.
func (x *tab) unprinted() (n int) {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		n = eval[int](x, `[...document.querySelectorAll('details:not([open]) :is(td, dd, li, pre)')].filter(e => !e.checkVisibility({contentVisibilityAuto: true})).length`)
		if n == 0 || time.Now().After(end) {
			return n
		}
		x.must(chromedp.Do(x.ctx, chromedp.Sleep(100*time.Millisecond)))
	}
}

// checkNames looks at a page as a screen reader does.
func checkNames(t *testing.T, page string, list []named) {
	t.Helper()
	count := map[string]int{}
	for _, n := range list {
		count[n.role]++
		if n.name == "" && slices.Contains([]string{"button", "searchbox", "slider", "link", "region", "navigation", "heading", "columnheader", "rowheader", "img"}, n.role) {
			t.Errorf("%s: a %s without a name", page, n.role)
		}
	}
	for _, role := range []string{"banner", "main", "contentinfo", "heading", "table", "columnheader"} {
		if count[role] == 0 {
			t.Errorf("%s: no %s among %v", page, role, count)
		}
	}
}

// TestSimulatedTime_StepsByKeyboard steps through a run, with the keyboard too, and finds and folds pods.
func TestSimulatedTime_StepsByKeyboard(t *testing.T) {
	x := open(t)
	x.screen(1440, "light", true)
	path := file(t, written(t, []int{0}, shop(t, "plan", "-o", "html")...))
	x.show(path)
	now := `document.querySelector('.now').textContent`
	first := eval[string](x, now)
	for range 4 {
		eval[any](x, `document.querySelector('.next').click()`)
	}
	later, cursor := eval[string](x, now), `document.querySelector('.cursor').getAttribute('x1')`
	at := eval[string](x, cursor)
	if first == later || eval[int](x, `document.querySelectorAll('.map .d, .map .n').length`) == 0 {
		t.Errorf("%q, then %q: no pod changes", first, later)
	}
	eval[any](x, `document.querySelector('input[type=range]').focus()`)
	x.must(chromedp.Do(x.ctx, chromedp.KeyEvent(kb.ArrowRight)))
	if pressed := eval[string](x, now); pressed == later {
		t.Errorf("the arrow key leaves the time at %q", pressed)
	}
	eval[any](x, `(() => { const i = document.querySelector('input[type=range]'); i.value = i.max; i.dispatchEvent(new Event('input')); })()`)
	if last := eval[string](x, now); last == later || eval[string](x, cursor) == at {
		t.Errorf("%q is the end", last)
	}
	if old := eval[int](x, `document.querySelectorAll('.map .o:not([hidden])').length`); old != 0 {
		t.Errorf("%d pods are old at the end", old)
	}
	pods := eval[int](x, `document.querySelectorAll('.node tbody tr').length`)
	eval[any](x, `(() => { const i = document.querySelector('.pods .filter'); i.value = document.querySelector('.node tbody th').textContent.replace('~', ''); i.dispatchEvent(new Event('input')); })()`)
	if found := eval[int](x, `[...document.querySelectorAll('.node tbody tr')].filter(e => e.checkVisibility()).length`); found != 1 || pods < 20 {
		t.Errorf("%d of %d pods found by the name of one", found, pods)
	}
	eval[any](x, `document.querySelector('.fold').click()`)
	if open := eval[int](x, `document.querySelectorAll('.node[open]').length`); open != 0 && open != eval[int](x, `document.querySelectorAll('.node').length`) {
		t.Errorf("%d nodes are open", open)
	}
	x.settled(path)
}

// TestHostileNames_DoNothing: names that are markup, script or a link do nothing in a browser.
func TestHostileNames_DoNothing(t *testing.T) {
	manifest := func(value string) string {
		path := filepath.Join(t.TempDir(), "web.yaml")
		text := fmt.Sprintf(`apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {note: %q}
    spec:
      containers:
      - name: app
        image: web:1
        env: [{name: NOTE, value: %q}]
`, value, value)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hostile := `</script><script>window.hacked=1</script><img src=//example.com/x onerror="window.hacked=1"><svg onload=window.hacked=1><a href="javascript:window.hacked=1">`
	before, after := manifest("old"), manifest(hostile)
	x := open(t)
	x.screen(1440, "light", true)
	for name, page := range map[string][]byte{
		"plan": written(t, []int{0}, "plan", "-f", after, "--against", before, "-o", "html"),
		"diff": written(t, []int{1}, "diff", before, after, "-o", "html"),
	} {
		path := file(t, page)
		x.show(path)
		if !bytes.Contains(page, []byte("hacked")) {
			t.Errorf("%s: the text is not on the page", name)
		}
		eval[any](x, `document.querySelectorAll('details').forEach(d => d.open = true)`)
		if eval[bool](x, `!!window.hacked || !!document.querySelector('img, a[href^="javascript"], [onload]')`) {
			t.Errorf("%s: text from a manifest acts", name)
		}
		x.settled(path)
	}
}

// TestPolicy_BlocksForeignContent: what is not part of the page does not run or load, even when it gets into it.
func TestPolicy_BlocksForeignContent(t *testing.T) {
	page := written(t, []int{1}, "diff", "overlays/staging", "overlays/prod", "-o", "html")
	page = bytes.Replace(page, []byte("<footer>"), []byte(`<script>window.hacked=1</script><img src="data:image/png;base64,AA" onerror="window.hacked=1"><footer style="display:none">`), 1)
	x := open(t)
	x.screen(1440, "light", true)
	x.must(navigate(x, file(t, page)))
	if eval[bool](x, `!!window.hacked || !document.querySelector('footer').checkVisibility()`) {
		t.Error("the policy lets a foreign script or style act")
	}
}

// TestLargePlan_StaysSmall: 2,000 pods are less than 1 MB and 20,000 elements, which a browser shows at once. How
// long it took is logged: it depends on what else the machine does.
func TestLargePlan_StaysSmall(t *testing.T) {
	page := written(t, []int{0}, shop(t, "plan", "--pods", "2000", "-o", "html")...)
	if len(page) > 1_000_000 {
		t.Errorf("the report has %d bytes", len(page))
	}
	x := open(t)
	x.screen(1440, "light", true)
	x.show(file(t, page))
	elements := eval[float64](x, `document.querySelectorAll('*').length`)
	took := eval[float64](x, `(() => { const n = performance.getEntriesByType('navigation')[0]; document.body.offsetHeight; return n.loadEventEnd - n.startTime; })()`)
	t.Logf("%d bytes, %.0f elements, open after %.0f ms", len(page), elements, took)
	if elements > 20_000 {
		t.Errorf("the report has %.0f elements", elements)
	}
	if eval[bool](x, overflow) {
		t.Error("the page is wider than the window")
	}
}
