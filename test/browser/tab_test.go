// Package browser opens the HTML reports in a real browser without a window: Chromium, driven
// by its own protocol. Its tests are skipped where there is none.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// programs are the paths where distributions put Chromium and its kin.
var programs = []string{
	"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
}

// tab is a tab of a browser, and what the browser says of it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	// said are faults on the console, violations of the policy among them, and dialogs.
	said []string
}

// open starts a browser that ends with the test.
func open(t *testing.T) *tab {
	t.Helper()
	path := ""
	for _, p := range programs {
		if found, err := exec.LookPath(p); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium on this machine: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.DisableGPU)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root with one
	}
	allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, leave := chromedp.NewContext(allocated)
	t.Cleanup(leave)
	x := &tab{t: t, ctx: ctx}
	x.must(chromedp.Do(ctx))
	x.must(chromedp.Listen(ctx, x.hear))
	return x
}

func (x *tab) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *tab) hear(event any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		x.requests = append(x.requests, e.Request.URL)
	case *log.EventEntryAdded:
		x.said = append(x.said, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		x.said = append(x.said, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		x.said = append(x.said, "console: "+string(e.Type))
	case *page.EventJavascriptDialogOpening:
		x.said = append(x.said, "dialog: "+e.Message)
	}
}

// show loads a page, and fails the test where the browser asks for anything else, or where a
// script or the policy complains.
func (x *tab) show(file string) {
	x.t.Helper()
	x.mu.Lock()
	x.requests, x.said = nil, nil
	x.mu.Unlock()
	x.must(navigate(x, file))
	x.settled(file)
}

func navigate(x *tab, file string) error {
	return chromedp.Do(x.ctx, chromedp.Navigate("file://"+file))
}

// settled waits until what the page has begun is done, and looks at what it was.
func (x *tab) settled(file string) {
	x.t.Helper()
	x.must(chromedp.Do(x.ctx, chromedp.Sleep(50*time.Millisecond)))
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.requests) != 1 || x.requests[0] != "file://"+file {
		x.t.Errorf("the page asks for %q", x.requests)
	}
	if len(x.said) > 0 {
		x.t.Errorf("the browser says %q", x.said)
	}
}

// screen sets the width, the theme, and whether scripts run.
func (x *tab) screen(width int64, theme string, scripts bool) {
	x.t.Helper()
	x.must(chromedp.Do(x.ctx, chromedp.EmulateViewport(width, 900)))
	_, err := chromedp.Call(x.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
	})
	x.must(err)
	_, err = chromedp.Call(x.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	x.must(err)
}

// paper shows the page as it is printed.
func (x *tab) paper() {
	x.t.Helper()
	_, err := chromedp.Call(x.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	x.must(err)
}

// eval is the value of an expression in the page.
func eval[T any](x *tab, expression string) T {
	x.t.Helper()
	v, err := chromedp.Run(x.ctx, chromedp.Evaluate[T](expression))
	x.must(err)
	return v
}

// picture keeps what the page looks like, where artifacts are kept.
func (x *tab) picture(name string) {
	x.t.Helper()
	if flag.Lookup("test.artifacts").Value.String() != "true" {
		return
	}
	png, err := chromedp.Run(x.ctx, chromedp.FullScreenshot(100))
	x.must(err)
	x.must(os.WriteFile(filepath.Join(x.t.ArtifactDir(), strings.ReplaceAll(name, " ", "-")+".png"), png, 0o600))
}

// named is one element as assistive technology finds it.
type named struct{ role, name string }

func (x *tab) accessible() []named {
	x.t.Helper()
	tree, err := chromedp.Call(x.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	x.must(err)
	text := func(v *accessibility.Value) string {
		var s string
		if v != nil {
			_ = json.Unmarshal([]byte(v.Value), &s) // a role or name is a string, or none
		}
		return s
	}
	var list []named
	for _, n := range tree.Nodes {
		if !n.Ignored {
			list = append(list, named{text(n.Role), text(n.Name)})
		}
	}
	return list
}
