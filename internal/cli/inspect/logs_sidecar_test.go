package inspect

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/kubectl/pkg/cmd/logs"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestWorkingOf: each pod is asked for the container that works in it, and the options
// of one do not reach the next.
func TestWorkingOf(t *testing.T) {
	hot := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{kruise.SidecarSetWorkingHotUpgradeAnnotation: `{"proxy":"proxy-2"}`}}}
	plain := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	var said bytes.Buffer
	o := &logsOptions{LogsOptions: &logs.LogsOptions{}, sidecar: "proxy"}
	o.ErrOut = &said
	given := &corev1.PodLogOptions{Follow: true}
	asked := map[string]string{}
	list := o.workingOf(func(_ genericclioptions.RESTClientGetter, object, options runtime.Object, _ time.Duration, _ bool) (logRequests, error) {
		pod, ok := object.(*corev1.Pod)
		with, fine := options.(*corev1.PodLogOptions)
		if !ok || !fine || !with.Follow {
			t.Errorf("%T %+v", object, options)
		}
		asked[pod.Name] = with.Container
		return logRequests{{Name: pod.Name}: nil}, nil
	})
	for _, object := range []runtime.Object{&corev1.PodList{Items: []corev1.Pod{hot, plain}}, &hot} {
		clear(asked)
		got, err := list(nil, object, given, time.Second, false)
		if err != nil || len(got) != len(asked) || asked["a"] != "proxy-2" {
			t.Errorf("%v %v, %v", got, asked, err)
		}
	}
	if diff := cmp.Diff("Working container of proxy in pod/a: proxy-2\nWorking container of proxy in pod/a: proxy-2\n", said.String()); diff != "" || given.Container != "" {
		t.Error(diff, given.Container)
	}
}
