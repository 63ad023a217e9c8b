package ui

import (
	"bufio"
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/inspect"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// mapping is how the cluster serves a kind.
func (l *liveSource) mapping(ref cluster.Ref) (*meta.RESTMapping, error) {
	mapper, err := kubectl.Getter(l.factory).ToRESTMapper()
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
}

// Manifest is [world.Source].
func (l *liveSource) Manifest(ctx context.Context, ref cluster.Ref) (string, error) {
	ref = l.served(ref)
	m, err := l.mapping(ref)
	if err != nil {
		return "", err
	}
	client, err := l.factory.Dynamic()
	if err != nil {
		return "", err
	}
	u, err := client.Resource(m.Resource).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	text, err := yaml.Marshal(inspect.HideSecrets(u.Object))
	return string(text), err
}

// Describe is [world.Source].
func (l *liveSource) Describe(ctx context.Context, ref cluster.Ref) (string, error) {
	ref = l.served(ref)
	m, err := l.mapping(ref)
	if err != nil {
		return "", err
	}
	return inspect.DescribeObject(ctx, l.factory, m, ref.Namespace, ref.Name)
}

// Logs is [world.Source].
func (l *liveSource) Logs(ctx context.Context, q world.LogQuery) (world.Log, error) {
	o := &corev1.PodLogOptions{Container: q.Container, Previous: q.Previous, Follow: q.Follow}
	if q.Tail > 0 {
		o.TailLines = new(int64(q.Tail))
	}
	stream, err := l.core.CoreV1().Pods(q.Namespace).GetLogs(q.Pod, o).Stream(ctx)
	if err != nil {
		return nil, err
	}
	return follow(ctx, stream), nil
}

// log hands lines over as they come, all that are there at once.
type log struct {
	lines chan string
	// err is why there are no more, once lines is closed.
	err error
}

// Bounds of what is read ahead, and of a line.
const (
	linesAhead  = 1000
	longestLine = 1 << 20
)

// follow reads a stream until it or the context ends.
func follow(ctx context.Context, stream io.ReadCloser) *log {
	l := &log{lines: make(chan string, linesAhead), err: io.EOF}
	context.AfterFunc(ctx, func() { _ = stream.Close() })
	go func() {
		defer close(l.lines)
		defer func() { _ = stream.Close() }()
		in := bufio.NewScanner(stream)
		in.Buffer(nil, longestLine)
		for in.Scan() {
			select {
			case l.lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
		if err := in.Err(); err != nil && ctx.Err() == nil {
			l.err = err
		}
	}()
	return l
}

// Next is [world.Log].
func (l *log) Next() ([]string, error) {
	line, ok := <-l.lines
	if !ok {
		return nil, l.err
	}
	lines := []string{line}
	for {
		select {
		case line, ok := <-l.lines:
			if !ok {
				return lines, nil
			}
			lines = append(lines, line)
		default:
			return lines, nil
		}
	}
}
