package kube

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// TestConnectionWatch_SilentServerIsALostConnection: a server that takes a question and does not answer is a connection that
// is lost, until it does.
func TestConnectionWatch_SilentServerIsALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, answer := &connectionWatch{changes: newChangeSignal()}, make(chan struct{})
		s := l.monitor(source{client: &cache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			<-answer
			return &corev1.PodList{}, nil
		}}})
		go func() { _, _ = s.client.ListWithContext(t.Context(), metav1.ListOptions{}) }()
		time.Sleep(silenceLimit / 2)
		if now := l.status(); now.Lost != "" {
			t.Errorf("lost too soon: %s", now.Lost)
		}
		time.Sleep(silenceLimit)
		if l.status().Lost == "" {
			t.Error("a missing answer is not reported")
		}
		close(answer)
		synctest.Wait()
		if now := l.status(); now.Lost != "" {
			t.Errorf("lost still: %s", now.Lost)
		}
	})
}

// TestConnectionWatch_SilentWatchIsNoticedSoon: a watch that is begun again and is not answered has been without changes since
// before it was asked for.
func TestConnectionWatch_SilentWatchIsNoticedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, asked := &connectionWatch{changes: newChangeSignal()}, time.Now()
		s := l.monitor(source{client: &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}})
		go func() { _, _ = s.client.WatchWithContext(t.Context(), metav1.ListOptions{}) }()
		time.Sleep(watchSilence + time.Second)
		if now := l.status(); now.Lost == "" || !now.Since.Equal(asked.Add(-unnoticed)) {
			t.Errorf("%q since %s before the question", now.Lost, asked.Sub(now.Since))
		}
	})
}

// TestConnectionWatch_RefusedCredentials: the user reads what to do, and not what Go says.
func TestConnectionWatch_RefusedCredentials(t *testing.T) {
	l := &connectionWatch{changes: newChangeSignal()}
	l.note(t.Context(), apierrors.NewUnauthorized("Unauthorized"))
	if got := l.status().Lost; got != "the server refuses the credentials: log in again" {
		t.Error(got)
	}
	l.note(t.Context(), fmt.Errorf("no answer: %w", context.DeadlineExceeded))
	if got := l.status().Lost; got != "no answer" {
		t.Error(got)
	}
}
