package proxy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// server has one pod, and sends it to watchers until the client goes.
func server(t *testing.T) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		media := runtime.ContentTypeJSON
		if r.Header.Get("Accept") != "application/json" {
			media = runtime.ContentTypeProtobuf
		}
		info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
		pod, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
		if err != nil {
			t.Error(err)
		}
		if r.URL.Query().Get("watch") == "" {
			w.Header().Set("Content-Type", media)
			_, _ = w.Write(pod)
			return
		}
		w.Header().Set("Content-Type", media+";stream=watch")
		frames := info.StreamSerializer.NewFrameWriter(w)
		for range 3 {
			event, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, corev1.SchemeGroupVersion),
				&metav1.WatchEvent{Type: string(watch.Added), Object: runtime.RawExtension{Raw: pod}})
			if err != nil {
				t.Error(err)
			}
			_, _ = frames.Write(event)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(s.CloseClientConnections)
	return &rest.Config{Host: s.URL}
}

// through is a client that has the proxy before it, in either encoding.
func through(t *testing.T, p *proxy.Proxy, media string) kubernetes.Interface {
	t.Helper()
	cfg := p.Config()
	cfg.ContentType, cfg.AcceptContentTypes = media, media
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func start(t *testing.T, w proxy.Weather, seed uint64) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(server(t), &proxy.Log{}, w, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// TestFair_PassesAndCounts passes everything on, and counts it.
func TestFair_PassesAndCounts(t *testing.T) {
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		p := start(t, proxy.Weather{}, 1)
		client := through(t, p, media).CoreV1().Pods("shop")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if got, err := client.Get(ctx, "web", metav1.GetOptions{}); err != nil || got.Name != "web" {
			t.Fatal(got, err)
		}
		w, err := client.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if e := <-w.ResultChan(); e.Type != watch.Added {
				t.Fatalf("%s: %+v", media, e)
			}
		}
		w.Stop()
		if n := p.Log.Count()["get pods"]; n != 1 {
			t.Errorf("%s: %v", media, p.Log.Count())
		}
	}
}

// TestStorm_HasEveryFault: everything that can go wrong does, sooner or later.
func TestStorm_HasEveryFault(t *testing.T) {
	p := start(t, proxy.Weather{Requests: 1, Watches: 1, Slow: time.Millisecond}, 1)
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		client := through(t, p, media).CoreV1().Pods("shop")
		expired := false
		for range 25 {
			_, _ = client.Get(t.Context(), "web", metav1.GetOptions{})
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if w, err := client.Watch(ctx, metav1.ListOptions{}); err == nil {
				for e := range w.ResultChan() {
					expired = expired || e.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(e.Object))
				}
			}
			cancel()
		}
		if !expired {
			t.Errorf("%s: no watch has expired", media)
		}
	}
	seen := map[string]bool{}
	p.Log.Each(func(r *proxy.Request) { seen[r.Fault] = true })
	for _, want := range []string{"429", "500", "503", "timeout after", "reset before", "reset after", "slow answer", "watch closes", "watch 410"} {
		if !seen[want] {
			t.Errorf("never: %s", want)
		}
	}
}

// TestEndWatches_NextWatchContinues: a watch ends without an error, and the next one continues.
func TestEndWatches_NextWatchContinues(t *testing.T) {
	p := start(t, proxy.Weather{}, 1)
	client := through(t, p, runtime.ContentTypeJSON).CoreV1().Pods("shop")
	for range 2 {
		w, err := client.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if e := <-w.ResultChan(); e.Type != watch.Added {
				t.Fatalf("%+v", e)
			}
		}
		p.EndWatches()
		if e, more := <-w.ResultChan(); more {
			t.Errorf("the watch continues, or ends with an error: %+v", e)
		}
	}
}
