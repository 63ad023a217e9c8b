package scale

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// meter is a way to the API server that counts what passes, as it is on the wire.
type meter struct {
	url string

	mu sync.Mutex
	// asked is how often what was asked for, without its query.
	asked map[string]int
	// requests are all, watches among them; bytes are those of all answers.
	requests, bytes int
	// waiting are requests whose answers have not ended, and watches that have not told
	// yet of all there is; streams are watches that begin with that.
	waiting, streams int
	changed          chan struct{}
	// pid is the process that is measured, and peak the most memory that it had, in KiB.
	pid, peak int
}

func newMeter(t *testing.T, c *cluster.Cluster) *meter {
	t.Helper()
	through, err := rest.TransportFor(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(c.URL(cluster.APIServer))
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{changed: make(chan struct{}, 1), asked: map[string]int{}}
	onward := &httputil.ReverseProxy{Transport: through, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := &counted{ResponseWriter: w, meter: m, stream: strings.Contains(r.URL.RawQuery, "sendInitialEvents=true")}
		plain := !strings.Contains(r.URL.RawQuery, "watch=true")
		m.begin(r, to.stream, plain)
		onward.ServeHTTP(to, r)
		if to.end(); plain {
			m.done()
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	m.url = s.URL
	return m
}

func (m *meter) begin(r *http.Request, stream, plain bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[r.Method+" "+r.URL.Path]++
	m.requests++
	if stream {
		m.streams++
	}
	if stream || plain {
		m.waiting++
	}
}

// done is the end of an answer, or of what a watch begins with.
func (m *meter) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting--
	m.tell()
}

func (m *meter) tell() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// reset begins again.
func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests, m.bytes, m.asked, m.streams, m.waiting, m.pid, m.peak = 0, 0, map[string]int{}, 0, 0, 0, 0
}

// watch looks at the process time and again until it ends, also when it asks for nothing
// any more: lint works all out after the last answer.
func (m *meter) watch(ended <-chan struct{}) {
	often := time.NewTicker(2 * time.Millisecond)
	defer often.Stop()
	for {
		select {
		case <-ended:
			return
		case <-often.C:
			m.lookAgain()
		}
	}
}

// look notes how much memory the process has had. What wait tells of it is of no use: it
// begins with that of its parent.
func (m *meter) look() {
	if m.pid == 0 {
		return
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.pid)) // it may have ended
	if found := high.FindSubmatch(text); found != nil {
		m.peak, _ = strconv.Atoi(string(found[1]))
	}
}

var high = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// loaded reports whether everything has been asked for and only news are waited for.
func (m *meter) loaded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting <= 0 && m.streams > 0
}

// counted is an answer whose bytes count.
type counted struct {
	http.ResponseWriter
	meter *meter
	// stream is a watch that begins with all there is; text is what it says, which is
	// compressed.
	stream bool
	text   *io.PipeWriter
}

func (c *counted) Write(b []byte) (int, error) {
	if c.stream && c.text == nil {
		from, to := io.Pipe()
		c.text = to
		go c.meter.follow(from, c.Header().Get("Content-Encoding") == "gzip")
	}
	if c.text != nil {
		_, _ = c.text.Write(b) // its reader has ended
	}
	n, err := c.ResponseWriter.Write(b)
	c.meter.mu.Lock()
	defer c.meter.mu.Unlock()
	c.meter.bytes += n
	c.meter.look()
	c.meter.tell()
	return n, err
}

// end ends a stream.
func (c *counted) end() {
	switch {
	case c.text != nil:
		_ = c.text.Close()
	case c.stream:
		c.meter.done()
	}
}

// follow reads a stream up to the bookmark behind all there is.
func (m *meter) follow(from *io.PipeReader, compressed bool) {
	defer m.done()
	defer from.Close()
	text := io.Reader(from)
	if compressed {
		z, err := gzip.NewReader(from)
		if err != nil {
			return
		}
		text = z
	}
	_ = read(text, "k8s.io/initial-events-end")
}

// Flush is for watches.
func (c *counted) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

// Hijack is for connections that change their protocol.
func (c *counted) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return c.ResponseWriter.(http.Hijacker).Hijack()
}
