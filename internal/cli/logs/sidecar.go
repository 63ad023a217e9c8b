package logs

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

// requests are the logs to read, by the containers that they are of.
type requests = map[corev1.ObjectReference]rest.ResponseWrapper

type forObject func(g genericclioptions.RESTClientGetter, object, options runtime.Object, limit time.Duration, allContainers bool) (requests, error)

// ofSidecar has each pod asked for the container that works in it.
func (o *options) ofSidecar() {
	o.LogsForObject = o.workingOf(forObject(o.LogsForObject))
	o.AllPodLogsForObject = o.workingOf(forObject(o.AllPodLogsForObject))
}

func (o *options) workingOf(next forObject) func(genericclioptions.RESTClientGetter, runtime.Object, runtime.Object, time.Duration, bool) (requests, error) {
	return func(g genericclioptions.RESTClientGetter, object, given runtime.Object, limit time.Duration, all bool) (requests, error) {
		out := requests{}
		for _, pod := range podsIn(object) {
			options, _ := given.DeepCopyObject().(*corev1.PodLogOptions)
			container, hot := resourcearg.WorkingContainer(pod, o.sidecar)
			if options.Container = container; hot {
				if _, err := fmt.Fprintf(o.ErrOut, "Working container of %s in pod/%s: %s\n", o.sidecar, pod.Name, container); err != nil {
					return nil, err
				}
			}
			of, err := next(g, pod, options, limit, all)
			if err != nil {
				return nil, err
			}
			maps.Copy(out, of)
		}
		return out, nil
	}
}

// podsIn are the pods that were found: those of anything else were looked for before.
func podsIn(object runtime.Object) []*corev1.Pod {
	switch o := object.(type) {
	case *corev1.Pod:
		return []*corev1.Pod{o}
	case *corev1.PodList:
		out := make([]*corev1.Pod, len(o.Items))
		for i := range o.Items {
			out[i] = &o.Items[i]
		}
		return out
	}
	return nil
}
