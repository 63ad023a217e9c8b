package kube

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestConnectionWatch_SilentServerIsALostConnection: a server that takes a question and does not answer is a connection that
// is lost, until it does.
func TestConnectionWatch_SilentServerIsALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, answer := &connectionWatch{changed: func() {}}, make(chan struct{})
		s := l.monitor(source{list: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			<-answer
			return &corev1.PodList{}, nil
		}})
		go func() { _, _ = s.list(t.Context(), metav1.ListOptions{}) }()
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
