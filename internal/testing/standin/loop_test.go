package standin

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
)

// TestWatch_SeesAPodOfTheSameName: a pod that goes, and another of its name that comes while the
// watch is cut off, are both seen, though the cache tells of one change only.
func TestWatch_SeesAPodOfTheSameName(t *testing.T) {
	t.Parallel()
	pod := func(uid types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "web-2", UID: uid}}
	}
	from := source.NewFakeControllerSource()
	defer from.Shutdown()
	from.Add(pod("old"))
	informer := cache.NewSharedIndexInformer(from, &corev1.Pod{}, 0, nil)
	seen := make(chan [2]types.UID, 3)
	err := new(standIns).newLoop(nil).wake(informer, func(before, after metav1.Object) []types.NamespacedName {
		var uids [2]types.UID
		for i, o := range []metav1.Object{before, after} {
			if o != nil {
				uids[i] = o.GetUID()
			}
		}
		seen <- uids
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	go informer.RunWithContext(t.Context())
	if got := <-seen; got != [2]types.UID{"", "old"} {
		t.Errorf("at first %q", got)
	}
	from.DeleteDropWatch(pod("old"))
	from.AddDropWatch(pod("new"))
	from.ResetWatch()
	for _, want := range [][2]types.UID{{"old", ""}, {"", "new"}} {
		if got := <-seen; got != want {
			t.Errorf("then %q, want %q", got, want)
		}
	}
}

// TestPace_IsFromTheChangeToTheEndOfTheTurn: a change in the middle of a turn has to wait for
// the next one.
func TestPace_IsFromTheChangeToTheEndOfTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s := &standIns{pace: new(Pace)}
		l := s.newLoop(func(context.Context, types.NamespacedName) (time.Duration, error) {
			time.Sleep(2 * time.Second)
			return 0, nil
		})
		l.start(ctx)
		web := types.NamespacedName{Namespace: "a", Name: "web"}
		l.add(web)
		time.Sleep(1500 * time.Millisecond)
		l.add(web)
		time.Sleep(time.Second)
		if late := s.pace.Restart(); late != 2*time.Second {
			t.Errorf("the first turn ends %v late, want 2s", late)
		}
		time.Sleep(time.Minute)
		if late := s.pace.Restart(); late != 2500*time.Millisecond {
			t.Errorf("the second turn ends %v late, want 2.5s", late)
		}
		time.Sleep(time.Minute)
		if late := s.pace.Restart(); late != 0 {
			t.Errorf("without a turn it is %v late", late)
		}
	})
}
