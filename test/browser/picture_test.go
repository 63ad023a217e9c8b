package browser

import (
	"bytes"
	"image/png"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

// TestPicture_OfTheDocsHasItsSize: what docs/reports.md shows is a picture of this size. UPDATE=1 takes it again;
// fonts differ from machine to machine, so its pixels are not compared.
func TestPicture_OfTheDocsHasItsSize(t *testing.T) {
	path := checkout.Path("docs", "pictures", "report.png")
	if os.Getenv("UPDATE") != "" {
		x := open(t)
		x.screen(1120, "light", true)
		x.show(file(t, written(t, []int{0}, shop(t, "plan", "--pause-after", "1", "--pause", "5m", "-o", "html")...)))
		shot, err := chromedp.Run(x.ctx, chromedp.CaptureScreenshot())
		x.must(err)
		x.must(os.WriteFile(path, shot, 0o600))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width != 1120 || c.Height != 900 {
		t.Errorf("%d x %d, %v", c.Width, c.Height, err)
	}
}
