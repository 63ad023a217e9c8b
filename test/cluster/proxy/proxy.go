// Package proxy is between a client and the API server of a test cluster: it
// notes every request, and spoils some of them as networks and servers do. What it
// spoils, a seed decides.
package proxy

import (
	"bytes"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// Proxy is one client's way to the API server. Killed, it takes the client's
// requests with it, as a kill of the client's process does.
type Proxy struct {
	// Log is what came through.
	Log *Log

	weather  Weather
	upstream *url.URL
	through  http.RoundTripper
	server   *http.Server
	host     string

	away atomic.Bool

	mu     sync.Mutex
	chance *rand.Rand
	// count is how many requests came; what happens with one of them is by its number.
	count int
	then  map[int][]func()
	// older are former answers to lists, by what was asked.
	older map[string]answer
	// cut is closed where the watches that are open now are to end.
	cut chan struct{}
}

// answer is a whole answer of the server.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// New is a proxy before the server that cfg gives access to; who comes through
// it has that access. Requests are noted in a log, which proxies may share.
func New(cfg *rest.Config, to *Log, w Weather, seed uint64) (*Proxy, error) {
	through, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, err
	}
	upstream, err := url.Parse(cfg.Host)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		Log: to, weather: w, upstream: upstream, through: through,
		chance: rand.New(rand.NewPCG(seed, 11)), older: map[string]answer{}, then: map[int][]func(){}, //nolint:gosec // faults, not secrets
		cut: make(chan struct{}),
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.host = "http://" + l.Addr().String()
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go p.server.Serve(l) //nolint:errcheck // it ends with Kill
	return p, nil
}

// Config is access through the proxy.
func (p *Proxy) Config() *rest.Config { return &rest.Config{Host: p.host, QPS: -1} }

// Kill cuts the client off at once: no request of it gets through any more.
func (p *Proxy) Kill() {
	_ = p.server.Close() // it is gone either way
}

var paths = request.RequestInfoFactory{
	APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
}

// ServeHTTP handles one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.away.Load() {
		reset(w)
		return
	}
	p.counts()
	info, err := paths.NewRequestInfo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		reset(w)
		return
	}
	req := &Request{RequestInfo: info, Query: r.URL.Query(), Body: body, At: time.Now()}
	if info.Verb == "watch" {
		p.watch(w, r, req)
		return
	}
	defer p.Log.add(req)
	p.plain(w, r, req)
}

// plain handles a request that has one answer.
func (p *Proxy) plain(w http.ResponseWriter, r *http.Request, req *Request) {
	fault := p.fault(req)
	req.Fault = fault.name
	if fault.before != nil && fault.before(p, w, r) {
		return
	}
	key := r.URL.RequestURI()
	if fault.stale {
		if a, ok := p.former(key); ok {
			a.write(w)
			return
		}
	}
	a, err := p.forward(r, req)
	if err != nil {
		reset(w)
		return
	}
	if req.Verb == "list" && a.code == http.StatusOK {
		p.keep(key, a)
	}
	if fault.after != nil && fault.after(p, w, r) {
		return
	}
	a.write(w)
}

// forward asks the server, whatever becomes of the client meanwhile.
func (p *Proxy) forward(r *http.Request, req *Request) (answer, error) {
	resp, err := p.send(r, req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(resp.Body)
	req.Code = resp.StatusCode
	return answer{resp.StatusCode, resp.Header, body}, err
}

func (p *Proxy) send(r *http.Request, req *Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	if req.Verb != "watch" {
		out = r.Clone(p.detached(r))
	}
	out.Header.Set("Accept-Encoding", "identity") // the events of a watch are read here
	out.RequestURI, out.Body = "", io.NopCloser(bytes.NewReader(req.Body))
	out.URL.Scheme, out.URL.Host, out.Host = p.upstream.Scheme, p.upstream.Host, p.upstream.Host
	return p.through.RoundTrip(out)
}

func (a answer) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.code)
	_, _ = w.Write(a.body) // the client may have gone
}

func (p *Proxy) keep(key string, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.older[key]; !ok {
		p.older[key] = a
	}
}

func (p *Proxy) former(key string) (answer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.older[key]
	return a, ok
}

// reset ends a connection as a network that breaks does.
func reset(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	c, _, err := h.Hijack()
	if err != nil {
		return
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // no farewell
	}
	_ = c.Close()
}

// Away has the server answer nothing, until it is back.
func (p *Proxy) Away(away bool) { p.away.Store(away) }

// At has something happen when the n-th request comes, while that is in progress. All that
// is asked for happens.
func (p *Proxy) At(n int, then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.then[n] = append(p.then[n], then)
}

func (p *Proxy) counts() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	for _, then := range p.then[p.count] {
		go then()
	}
	delete(p.then, p.count)
}
