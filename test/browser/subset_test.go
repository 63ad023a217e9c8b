package browser

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// spread is a page of a plan whose pods are in two subsets, but for the last, and a run of it
// in which one pod after the other becomes ready.
func spread(t *testing.T) []byte {
	t.Helper()
	p, err := planfile.Read(written(t, []int{0}, shop(t, "plan", "-o", "yaml")...))
	if err != nil {
		t.Fatal(err)
	}
	run := &simulate.Timeline{Summary: simulate.Summary{Outcome: simulate.Completed}}
	var pods []*cluster.Pod
	for i := range p.Steps {
		at := run.Summary.Duration
		for _, one := range p.Steps[i].Pods {
			pod := &cluster.Pod{Name: one.Name, Node: fmt.Sprintf("a-node-with-a-long-name-%d.example.com", len(pods)%7), Labels: map[string]string{}}
			if len(pods) < p.Limits.Replicas-1 {
				pod.Labels["apps.kruise.io/subset-name"] = []string{"on-demand-in-zone-a", "spot"}[len(pods)%2]
			}
			pods = append(pods, pod)
			run.Summary.Duration += 2 * time.Second
			run.Records = append(run.Records, simulate.Record{At: run.Summary.Duration, Op: simulate.OpReady, Pod: pod.Name})
			run.Samples = append(run.Samples, simulate.Sample{At: run.Summary.Duration, New: len(pods), Old: p.Limits.Replicas - len(pods), Wanted: p.Limits.Replicas})
		}
		run.Steps = append(run.Steps, simulate.StepMark{Index: i, Name: p.Steps[i].Name, Title: p.Steps[i].Title, Begin: at, End: run.Summary.Duration})
	}
	var b bytes.Buffer
	page := view.NewPlanPage(p, run).Place(pods)
	if err := html.Plans(&b, []html.Plan{{Page: page}}, html.About{Version: "v1.2.0"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSubsets_ShowEachPod: each pod has a square in its subset, which becomes new in the simulated time,
// and what is in a subset has room on a narrow screen.
func TestSubsets_ShowEachPod(t *testing.T) {
	x := open(t)
	x.screen(narrow, "light", true)
	x.show(file(t, spread(t)))
	squares := func(class string) int {
		return eval[int](x, `[...document.querySelectorAll('.subset .map i`+class+`')].length`)
	}
	pods := eval[int](x, `document.querySelectorAll('.node tbody tr').length`)
	if n := eval[int](x, `document.querySelectorAll('.subset').length`); n != 3 || pods < 20 || squares("") != pods || squares(".o") != pods {
		t.Errorf("%d subsets, %d squares for %d pods, %d of them old", n, squares(""), pods, squares(".o"))
	}
	eval[any](x, `(() => { const i = document.querySelector('input[type=range]'); i.value = i.max; i.dispatchEvent(new Event('input')); })()`)
	if squares(".n") != pods {
		t.Errorf("%d of %d pods are new at the end", squares(".n"), pods)
	}
	eval[any](x, `document.querySelectorAll('details').forEach(d => d.open = true)`)
	if eval[bool](x, overflow) || eval[int](x, `[...document.querySelectorAll('.subset, .subset *')].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').length`) > 0 {
		t.Error("subsets are wider than the window")
	}
}

// TestNarrow_ScrollsOnlyTheChart: at 320 pixels nothing has to be scrolled sideways but the chart, whose labels
// could not be read if it were as narrow, and what a table says has its label.
func TestNarrow_ScrollsOnlyTheChart(t *testing.T) {
	x := open(t)
	pages := reports(t)
	pages["subsets"] = spread(t)
	for name, page := range pages {
		x.screen(narrow, "light", true)
		x.show(file(t, page))
		eval[any](x, `document.querySelectorAll('details').forEach(d => d.open = true)`)
		for _, text := range eval[[]string](x, sideways) {
			if !strings.HasPrefix(text, "Chart of the pods over time") {
				t.Errorf("%s: %s", name, text)
			}
		}
		if unnamed := eval[int](x, `[...document.querySelectorAll('.stack td.n')].filter(e => e.checkVisibility() && !/\d[ms]|^not/.test(e.textContent) && getComputedStyle(e, '::before').content === 'none').length`); unnamed > 0 {
			t.Errorf("%s: %d numbers without a label", name, unnamed)
		}
		x.picture(name + " 320 open")
	}
}

// TestTimeline_SaysThatItScrolls: where the chart is wider than its box, a visible sentence says so, and nowhere else.
func TestTimeline_SaysThatItScrolls(t *testing.T) {
	x := open(t)
	page := file(t, reports(t)["plan"])
	for _, width := range []int64{320, 400, 700, 1120} {
		x.screen(width, "light", true)
		x.show(page)
		scrolls := eval[bool](x, `(() => { const e = document.querySelector('.chartbox'); return e.scrollWidth > e.clientWidth + 1; })()`)
		said := eval[bool](x, `document.querySelector('.sideways').checkVisibility()`)
		if scrolls != said || scrolls != (width < 720) {
			t.Errorf("at %d pixels: scrolls %v, says so %v", width, scrolls, said)
		}
	}
}

// sideways lists what scrolls sideways and may not.
const sideways = `[...document.querySelectorAll('*')].filter(e => {
  const s = getComputedStyle(e);
  return e.checkVisibility() && /auto|scroll/.test(s.overflowX) && e.scrollWidth > e.clientWidth + 1;
}).map(e => (e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.className) + ': ' + e.scrollWidth + ' of ' + e.clientWidth)`
