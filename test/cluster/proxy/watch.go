package proxy

import (
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// stream is what happens to one watch.
type stream struct {
	name string
	// lag is how far its events are behind.
	lag time.Duration
	// ends is after how many events it ends, and expired whether it says that its
	// version is too old.
	ends    int
	expired bool
}

// storm draws what happens to a watch.
func (p *Proxy) storm() stream {
	lag := p.upTo(p.weather.Slow)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chance.Float64() >= p.weather.Watches {
		return stream{ends: -1}
	}
	switch p.chance.IntN(4) {
	case 0:
		return stream{name: "lags", lag: lag, ends: -1}
	case 1:
		return stream{name: "closes", ends: p.chance.IntN(30)}
	case 2:
		return stream{name: "lags and closes", lag: lag, ends: p.chance.IntN(30)}
	}
	return stream{name: "410", ends: p.chance.IntN(30), expired: true}
}

// watch passes events on. It is noted as soon as it has begun.
func (p *Proxy) watch(w http.ResponseWriter, r *http.Request, req *Request) {
	s := p.storm()
	resp, err := p.begin(w, r, req, s)
	p.Log.add(req)
	if err != nil {
		reset(w)
	}
	if resp == nil {
		return
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is left to be said
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(w, resp.Body)
		return
	}
	if err := s.relay(w, resp, r, p.cutting()); err != nil {
		reset(w)
	}
}

// begin asks the server for a watch; there is no answer where the client has one.
func (p *Proxy) begin(w http.ResponseWriter, r *http.Request, req *Request, s stream) (*http.Response, error) {
	if s.name != "" {
		req.Fault = "watch " + s.name
	}
	if fault := p.fault(req); fault.before != nil {
		req.Fault = fault.name
		if fault.before(p, w, r) {
			return nil, nil //nolint:nilnil // it has been answered
		}
	}
	resp, err := p.send(r, req)
	if err == nil {
		req.Code = resp.StatusCode
	}
	return resp, err
}

// EndWatches ends every watch that is open now in the way of a server that has served
// it for long enough: with no error. Watches that begin later go on.
func (p *Proxy) EndWatches() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.cut)
	p.cut = make(chan struct{})
}

// cutting is closed by the next [Proxy.EndWatches].
func (p *Proxy) cutting() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

// relay passes events on, one frame after the other, until the watch is cut.
func (s stream) relay(w http.ResponseWriter, resp *http.Response, r *http.Request, cut <-chan struct{}) error {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
	if !ok || info.StreamSerializer == nil {
		return errors.New("unknown stream " + media)
	}
	in := arrivals(info.StreamSerializer.NewFrameReader(resp.Body))
	out := info.StreamSerializer.NewFrameWriter(w)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for n := 0; n != s.ends; n++ {
		e, ok := arrival{}, false
		select {
		case e, ok = <-in:
		case <-cut:
		}
		if !ok {
			return nil
		}
		pause(r.Context(), time.Until(e.at.Add(s.lag)))
		if _, err := out.Write(e.frame); err != nil {
			return err
		}
		_ = flush.Flush()
	}
	if !s.expired {
		return nil
	}
	text, err := expired(info)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// arrival is one frame, and when it came.
type arrival struct {
	at    time.Time
	frame []byte
}

// arrivals reads frames until there are no more.
func arrivals(from io.Reader) <-chan arrival {
	in := make(chan arrival, 10000)
	go func() {
		defer close(in)
		for {
			frame, err := next(from)
			if err != nil {
				return
			}
			in <- arrival{time.Now(), frame}
		}
	}()
	return in
}

// next reads one whole frame.
func next(from io.Reader) ([]byte, error) {
	buf := make([]byte, 64<<10)
	var frame []byte
	for {
		n, err := from.Read(buf)
		frame = append(frame, buf[:n]...)
		if !errors.Is(err, io.ErrShortBuffer) {
			return frame, err
		}
	}
}

// expired is the event by which a server says that it cannot go on from a version.
func expired(info runtime.SerializerInfo) ([]byte, error) {
	text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), status(http.StatusGone, metav1.StatusReasonExpired))
	if err != nil {
		return nil, err
	}
	return runtime.Encode(scheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, corev1.SchemeGroupVersion),
		&metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: text}})
}
