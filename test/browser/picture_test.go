package browser

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	pixels "image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

// misplaced lists the letters of a picture that a browser draws away from their columns, which are 8.4 wide, and the texts
// that it does not show. A font for symbols moves a letter by less than half a column.
const misplaced = `(() => {
  const out = [], texts = [...document.querySelectorAll('svg text')];
  for (const e of texts) {
    const left = +e.getAttribute('x'), letters = [...e.textContent];
    if (getComputedStyle(e).visibility !== 'visible') out.push('hidden: ' + e.textContent);
    if (e.getNumberOfChars() !== letters.length) out.push(e.getNumberOfChars() + ' letters: ' + e.textContent);
    for (let i = 0; i < letters.length; i++) {
      const by = e.getStartPositionOfChar(i).x - (left + 8.4 * i);
      if (Math.abs(by) > 4.2) { out.push(by.toFixed(1) + ' at ' + letters[i] + ' of ' + e.textContent); break; }
    }
  }
  return texts.length < 10 ? ['only ' + texts.length + ' texts'] : out;
})()`

// TestPictures_StandInTheirColumns: each letter of a drawn terminal is where the terminal has it, when the drawing is part of a page;
// and as an image, as Markdown shows it, the browser draws the same.
func TestPictures_StandInTheirColumns(t *testing.T) {
	paths, err := filepath.Glob(checkout.Path("docs", "pictures", "*.svg"))
	if err != nil || len(paths) < 6 {
		t.Fatal(len(paths), err)
	}
	x := open(t)
	x.screen(1600, "dark", true)
	for _, path := range paths {
		drawing, err := os.ReadFile(path)
		x.must(err)
		still := string(drawing)
		if begin, end := strings.Index(still, "<style>"), strings.Index(still, "</style>"); begin > 0 {
			still = still[:begin] + still[end+len("</style>"):]
		}
		for _, markup := range []string{string(drawing), still} {
			x.calm()
			x.show(file(t, document(markup)))
			if list := eval[[]string](x, misplaced); len(list) > 0 {
				t.Errorf("%s: %q", filepath.Base(path), list)
			}
		}
		inline := x.pixels()
		alone := filepath.Join(t.TempDir(), "still.svg")
		x.must(os.WriteFile(alone, []byte(still), 0o600))
		x.must(navigate(x, file(t, document(fmt.Sprintf(`<img src="file://%s">`, alone)))))
		if n := different(inline, x.pixels()); n > 0.002 {
			t.Errorf("%s: %.1f %% of the pixels differ as an image", filepath.Base(path), 100*n)
		}
	}
}

func document(markup string) []byte {
	return []byte(`<!doctype html><meta charset="utf-8"><style>body{margin:0}svg,img{display:block}</style>` + markup)
}

// calm asks for less motion.
func (x *tab) calm() {
	x.t.Helper()
	_, err := chromedp.Call(x.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	x.must(err)
}

func (x *tab) pixels() pixels.Image {
	x.t.Helper()
	shot, err := chromedp.Run(x.ctx, chromedp.FullScreenshot(100))
	x.must(err)
	m, err := png.Decode(bytes.NewReader(shot))
	x.must(err)
	return m
}

// different is the share of pixels that differ visibly.
func different(a, b pixels.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	n, r := 0, a.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			_, p, _, _ := a.At(x, y).RGBA()
			_, q, _, _ := b.At(x, y).RGBA()
			if max(p, q)-min(p, q) > 0x4000 {
				n++
			}
		}
	}
	return float64(n) / float64(r.Dx()*r.Dy())
}

// build is the version that a report names: another build of the same program writes the same report.
var build = regexp.MustCompile(`kubectl-kruise [^\s"<]+`)

// TestPicture_OfTheDocsIsOfTodaysReport: what docs/reports.md shows is a picture of the report that the program writes now.
// `make pictures` takes it again. Fonts differ from machine to machine, so its pixels are not compared: a digest of
// the report is beside the picture.
func TestPicture_OfTheDocsIsOfTodaysReport(t *testing.T) {
	path := checkout.Path("docs", "pictures", "report.png")
	page := written(t, []int{0}, shop(t, "plan", "--pause-after", "1", "--pause", "5m", "-o", "html")...)
	want := fmt.Sprintf("%x\n", sha256.Sum256(build.ReplaceAll(page, []byte("kubectl-kruise"))))
	if os.Getenv("UPDATE") != "" {
		x := open(t)
		x.screen(1120, "light", true)
		x.show(file(t, page))
		shot, err := chromedp.Run(x.ctx, chromedp.CaptureScreenshot())
		x.must(err)
		x.must(os.WriteFile(path, shot, 0o600))
		x.must(os.WriteFile(path+".sha256", []byte(want), 0o600))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width != 1120 || c.Height != 900 {
		t.Errorf("%d x %d, %v", c.Width, c.Height, err)
	}
	if of, err := os.ReadFile(path + ".sha256"); err != nil || string(of) != want {
		t.Errorf("docs/pictures/report.png is of another report, run make pictures: %v", err)
	}
}
